import {
  limits,
  type Queue,
  type QueueStats as QueueStatsJson,
  readQueuePatch,
  readQueuePause,
  readQueuePurge,
} from "@carillon/contract";
import { boundOf, formatDuration } from "@carillon/core";
import type { OperationView, QueuePause, QueueStats, QueueView } from "@carillon/engine";
import { found } from "./http/errors.js";
import {
  type ApiEngine,
  type ApiOptions,
  type ApiResponse,
  contextOf,
  contextWithReceipt,
  handlers,
  ok,
  okWithVersion,
  type Replays,
  timestamp,
  timestampOrNull,
} from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { toOwnLimitsJson } from "./limits.js";
import { startedOperation } from "./operations.js";
import { readAnyName } from "./http/request.js";

/** Bodies are validated before the queue is read: a wrong one is refused even if the queue does not exist. */
export function queueHandlers({ engine, now }: ApiOptions) {
  return handlers({
    async listQueues({ query, namespace }) {
      const list = ["queues", namespace];
      const page = pageRequest(query, list, readAnyName);
      const isCounted = query.include === "stats";
      const pageSize = isCounted ? Math.min(page.pageSize, limits.countedQueues) : page.pageSize;
      const listed = await engine.queues.list(namespace, { ...page, pageSize });
      const names = isCounted ? listed.rows.map(({ name }) => name) : [];
      const stats = names.length === 0 ? null : await engine.queues.statsOfMany(namespace, names);
      const queues = listed.rows.map((queue) => toQueueJson(queue, stats?.get(queue.name)));
      return ok({ queues, next_page_token: nextPageToken(listed, list) });
    },
    async getQueue({ params: { name }, namespace }) {
      return shown(found(await engine.queues.get(namespace, nameOf(name)), unknown(name)));
    },
    async getQueueStats({ params: { name }, namespace }) {
      return ok(toQueueStatsJson(found(await engine.queues.stats(namespace, nameOf(name)), unknown(name))));
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
        const counted = found(await engine.operations.countPurge(namespace, name, purge), unknown(name));
        return ok({ count: counted.count, more: counted.isLowerBound, dry_run: true });
      }
      const purged = await engine.operations.purgeQueue(namespace, name, purge, contextWithReceipt(call));
      return purgedResponse(found(purged, unknown(name)));
    },
    async resumeQueue(call) {
      await refuseNewReserved(engine, call.namespace, call.params.name);
      return shown(await engine.queues.resume(call.namespace, nameOf(call.params.name), contextOf(call)));
    },
  });
}

/** The response to a repeated call whose first response was not stored. */
export function queueReplays({ engine }: ApiOptions): Replays {
  return {
    async purgeQueue({ operation = "" }, { namespace }) {
      return purgedResponse(
        found(await engine.operations.get(namespace, operation), "The operation no longer exists."),
      );
    },
  };
}

/** A small queue is empty already. */
function purgedResponse(operation: OperationView): ApiResponse {
  if (operation.state === "running") return startedOperation(operation);
  return ok({ count: operation.done, more: false, dry_run: false });
}

const unknown = (name: string): string => `There is no queue ${JSON.stringify(name)}.`;

const nameOf = (text: string): string => found(readAnyName(text), unknown(text));

/** Queues with the prefix carillon: can be changed like others, but only the server creates them. */
async function refuseNewReserved(engine: Pick<ApiEngine, "queues">, namespace: string, name: string): Promise<void> {
  if (name.startsWith("carillon:")) found(await engine.queues.get(namespace, nameOf(name)), unknown(name));
}

function shown(queue: QueueView): ApiResponse {
  return okWithVersion(toQueueJson(queue));
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
  return {
    queued,
    running,
    oldest_due_at: timestampOrNull(oldestDueAt),
    wait_ms: waitMs,
    workers,
    slots,
    exact: isExact,
    lag_ms: waitMs,
    desired_workers: desiredWorkers(stats),
  };
}

function toPauseJson({ reason, actor, at, until = null }: QueuePause): Queue["pause"] {
  return { reason, actor, at: timestamp(at), until: timestampOrNull(until) };
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
