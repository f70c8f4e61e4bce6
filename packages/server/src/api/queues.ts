import { anyNamePattern, limits, readQueuePatch, readQueuePause, readQueuePurge } from "@carillon/contract";
import type { Queues, QueueView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireQueue, wireQueueStats } from "./wire/queue.js";
import { contextOf } from "./job-changes.js";
import { notFound } from "./references.js";
import { startedOperation } from "./operations.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type QueueHandlers = Pick<
  Handlers,
  "listQueues" | "getQueue" | "getQueueStats" | "updateQueue" | "pauseQueue" | "resumeQueue" | "purgeQueue"
>;

const pattern = new RegExp(anyNamePattern);

/** Bodies are read before anything is looked up: a wrong one is refused whatever it is about. */
export function queueHandlers({ engine, now }: ApiOptions): QueueHandlers {
  return {
    async listQueues({ query, namespace }) {
      const list = ["queues", namespace];
      const asked = pageRequest(query, list, readQueueName);
      const isCounted = query.include === "stats";
      const pageSize = isCounted ? Math.min(asked.pageSize, limits.countedQueues) : asked.pageSize;
      const page = await engine.listQueues(namespace, { ...asked, pageSize });
      const names = isCounted ? page.rows.map(({ name }) => name) : [];
      const stats = names.length === 0 ? null : await engine.manyQueueStats(namespace, names);
      const queues = page.rows.map((queue) => wireQueue(queue, stats?.get(queue.name)));
      return { status: 200, body: { queues, next_page_token: nextPageToken(page, list) } };
    },
    async getQueue({ params, namespace }) {
      const queue = await engine.getQueue(namespace, nameOf(params.name));
      if (queue === null) throw unknown(params.name);
      return shown(queue);
    },
    async getQueueStats({ params, namespace }) {
      const stats = await engine.queueStats(namespace, nameOf(params.name));
      if (stats === null) throw unknown(params.name);
      return { status: 200, body: wireQueueStats(stats) };
    },
    async updateQueue(call) {
      const change = readQueuePatch(call.body);
      await refuseNewOwn(engine, call.namespace, call.params.name);
      return shown(await engine.changeQueue(call.namespace, nameOf(call.params.name), change, contextOf(call)));
    },
    async pauseQueue(call) {
      const asked = readQueuePause(call.body, now());
      await refuseNewOwn(engine, call.namespace, call.params.name);
      return shown(await engine.pauseQueue(call.namespace, nameOf(call.params.name), asked, contextOf(call)));
    },
    async purgeQueue(call) {
      const { params, namespace } = call;
      const { dryRun, ...asked } = readQueuePurge(call.body);
      const name = nameOf(params.name);
      if (dryRun) {
        const counted = await engine.countPurge(namespace, name, asked);
        if (counted === null) throw unknown(params.name);
        return { status: 200, body: { count: counted.count, more: counted.isLeast, dry_run: true } };
      }
      const operation = await engine.purgeQueue(namespace, name, asked, contextOf(call));
      if (operation === null) throw unknown(params.name);
      if (operation.state === "running") return startedOperation(operation);
      return { status: 200, body: { count: operation.done, more: false, dry_run: false } };
    },
    async resumeQueue(call) {
      await refuseNewOwn(engine, call.namespace, call.params.name);
      return shown(await engine.resumeQueue(call.namespace, nameOf(call.params.name), contextOf(call)));
    },
  };
}

const unknown = (name: string): Error => notFound(`There is no queue ${JSON.stringify(name)}.`);

/** Queues of the product can be paused and changed like others, and nobody else makes one. */
async function refuseNewOwn(engine: Pick<Queues, "getQueue">, namespace: string, name: string): Promise<void> {
  if (name.startsWith("carillon:") && (await engine.getQueue(namespace, nameOf(name))) === null) throw unknown(name);
}

function readQueueName(text: string): string | null {
  return text.length <= limits.nameLength && pattern.test(text) ? text : null;
}

/** What cannot be a name names nothing. */
function nameOf(text: string): string {
  const name = readQueueName(text);
  if (name === null) throw unknown(text);
  return name;
}

function shown(queue: QueueView): CallAnswer {
  return { status: 200, body: wireQueue(queue), headers: { ETag: `"v${queue.version}"` } };
}
