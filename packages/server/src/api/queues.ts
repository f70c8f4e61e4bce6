import {
  limits,
  type Queue,
  type QueueStats as QueueStatsJson,
  readQueuePatch,
  readQueuePause,
  readQueuePurge,
} from "@carillon/contract";
import { boundOf, formatDuration } from "@carillon/core";
import type { QueuePause, QueueStats, QueueView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiEngine, type ApiOptions, type ApiResponse, contextOf, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { toOwnLimitsJson } from "./limits.js";
import { startedOperation } from "./operations.js";
import { readAnyName } from "./references.js";
import { timestamp } from "./timestamp.js";

/** Bodies are validated before the queue is read: a wrong one is refused even if the queue does not exist. */
export function queueHandlers({ engine, now }: ApiOptions) {
  return handlers({
    async listQueues({ query, namespace }) {
      const list = ["queues", namespace];
      const page = pageRequest(query, list, readAnyName);
      const isCounted = query.include === "stats";
      const pageSize = isCounted ? Math.min(page.pageSize, limits.countedQueues) : page.pageSize;
      const found = await engine.queues.list(namespace, { ...page, pageSize });
      const names = isCounted ? found.rows.map(({ name }) => name) : [];
      const stats = names.length === 0 ? null : await engine.queues.statsOfMany(namespace, names);
      const queues = found.rows.map((queue) => toQueueJson(queue, stats?.get(queue.name)));
      return { status: 200, body: { queues, next_page_token: nextPageToken(found, list) } };
    },
    async getQueue({ params, namespace }) {
      const queue = await engine.queues.get(namespace, nameOf(params.name));
      if (queue === null) throw unknown(params.name);
      return shown(queue);
    },
    async getQueueStats({ params, namespace }) {
      const stats = await engine.queues.stats(namespace, nameOf(params.name));
      if (stats === null) throw unknown(params.name);
      return { status: 200, body: toQueueStatsJson(stats) };
    },
    async updateQueue(call) {
      const change = readQueuePatch(call.body);
      await refuseNewReserved(engine, call.namespace, call.params.name);
      return shown(await engine.queues.change(call.namespace, nameOf(call.params.name), change, contextOf(call)));
    },
    async pauseQueue(call) {
      const pause = readQueuePause(call.body, now());
      await refuseNewReserved(engine, call.namespace, call.params.name);
      return shown(await engine.queues.pause(call.namespace, nameOf(call.params.name), pause, contextOf(call)));
    },
    async purgeQueue(call) {
      const { params, namespace } = call;
      const { dryRun, ...purge } = readQueuePurge(call.body);
      const name = nameOf(params.name);
      if (dryRun) {
        const counted = await engine.operations.countPurge(namespace, name, purge);
        if (counted === null) throw unknown(params.name);
        return { status: 200, body: { count: counted.count, more: counted.isLowerBound, dry_run: true } };
      }
      const operation = await engine.operations.purgeQueue(namespace, name, purge, contextOf(call));
      if (operation === null) throw unknown(params.name);
      if (operation.state === "running") return startedOperation(operation);
      return { status: 200, body: { count: operation.done, more: false, dry_run: false } };
    },
    async resumeQueue(call) {
      await refuseNewReserved(engine, call.namespace, call.params.name);
      return shown(await engine.queues.resume(call.namespace, nameOf(call.params.name), contextOf(call)));
    },
  });
}

const unknown = (name: string): Error => notFound(`There is no queue ${JSON.stringify(name)}.`);

/** Queues with the prefix carillon: can be changed like others, but only the server creates them. */
async function refuseNewReserved(engine: Pick<ApiEngine, "queues">, namespace: string, name: string): Promise<void> {
  if (name.startsWith("carillon:") && (await engine.queues.get(namespace, nameOf(name))) === null) throw unknown(name);
}

function nameOf(text: string): string {
  const name = readAnyName(text);
  if (name === null) throw unknown(text);
  return name;
}

function shown(queue: QueueView): ApiResponse {
  return { status: 200, body: toQueueJson(queue), headers: { ETag: `"v${queue.version}"` } };
}

function toQueueJson(queue: QueueView, stats?: QueueStats): Queue {
  const { name, order, pause, version, createdAt, updatedAt } = queue;
  const boundMs = boundOf(order);
  return {
    name,
    order: order.kind,
    bound: boundMs === null ? null : formatDuration(boundMs),
    ...toOwnLimitsJson(queue.limits),
    paused: pause !== null,
    pause: pause === null ? null : toPauseJson(pause),
    version,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
    ...(stats !== undefined && { stats: toQueueStatsJson(stats) }),
  };
}

function toQueueStatsJson(stats: QueueStats): QueueStatsJson {
  const { queued, running, oldestDueAt, waitMs, workers, slots, isExact } = stats;
  const oldest = oldestDueAt === null ? null : timestamp(oldestDueAt);
  return {
    queued,
    running,
    oldest_due_at: oldest,
    wait_ms: waitMs,
    workers,
    slots,
    exact: isExact,
    lag_ms: waitMs,
    desired_workers: desiredWorkers(stats),
  };
}

function toPauseJson({ reason, actor, at, until = null }: QueuePause): Queue["pause"] {
  return { reason, actor, at: timestamp(at), until: until === null ? null : timestamp(until) };
}

/** Assumed while the queue has no worker. */
const defaultSlotsPerWorker = 10;

/** The number of workers, of the size of the present ones, with which no run would wait. */
export function desiredWorkers({
  queued,
  running,
  workers,
  slots,
}: Pick<QueueStats, "queued" | "running" | "workers" | "slots">): number {
  const slotsPerWorker = workers > 0 ? slots / workers : defaultSlotsPerWorker;
  return Math.ceil((queued + running) / slotsPerWorker);
}
