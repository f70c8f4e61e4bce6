import { type ChangeContext, toPage } from "../requests.js";
import { shardOf } from "../catalog/shard-of.js";
import type { BulkCount, Operations, PurgeRequest } from "./operations.js";
import type { InNamespace } from "../context.js";
import type {
  BulkTarget,
  Database,
  NewOperation,
  OperationAction,
  OperationStore,
  QueueStore,
  StoredOperation,
} from "@carillon/store";
import type { BulkTargets } from "./bulk-targets.js";
import type { OperationRunner } from "./operation-runner.js";

export interface OperationsParts {
  readonly db: Pick<Database, "transaction">;
  readonly operations: OperationStore;
  readonly targets: BulkTargets;
  readonly runner: Pick<OperationRunner, "begin">;
  readonly queues: Pick<QueueStore, "find">;
  readonly within: InNamespace;
  readonly newId: () => string;
  readonly shards: number;
  readonly onStarted: () => void;
}

/** A count looks at so many pages of so many runs at most. */
const mostPages = 10;
const pageSize = 1_000;

/** Steps of a purge that its call waits for. */
const stepsAtOnce = 5;

/** Operations as callers see them: names of namespaces in, views out. */
export function operationsApi(parts: OperationsParts): Operations {
  const { db, operations, queues, runner, within, newId, shards, onStarted } = parts;
  function insert(
    asked: Pick<NewOperation, "namespaceId" | "action" | "target">,
    { actor, receipt, trace }: ChangeContext,
  ): Promise<StoredOperation> {
    const id = newId();
    return db.transaction(async (tx) => {
      await receipt?.keep(tx, { operation: id });
      return operations.insert(tx, { ...asked, id, shard: shardOf(id, shards), actor, trace });
    });
  }
  return {
    startBulk: (namespace, request, context) =>
      within(namespace, async (namespaceId) => {
        const made = await insert({ ...request, namespaceId }, context);
        onStarted();
        return made;
      }),
    countBulk: (namespace, request) => within(namespace, (id) => count(parts, id, request)),
    purgeQueue: (namespace, queue, asked, context) =>
      within(namespace, async (namespaceId) => {
        if ((await queues.find(namespaceId, queue)) === null) return null;
        const begun = await runner.begin(await insert({ namespaceId, ...purgeOf(queue, asked) }, context), stepsAtOnce);
        if (begun.state === "running") onStarted();
        return begun;
      }),
    countPurge: (namespace, queue, asked) =>
      within(namespace, async (namespaceId) => {
        if ((await queues.find(namespaceId, queue)) === null) return null;
        return count(parts, namespaceId, purgeOf(queue, asked));
      }),
    getOperation: (namespace, id) => within(namespace, (namespaceId) => operations.find(namespaceId, id)),
    listOperations: (namespace, { pageSize: limit, after }) =>
      within(namespace, async (id) =>
        toPage(await operations.list(id, after ?? null, limit + 1), limit, (row) => row.id),
      ),
    abortOperation: (namespace, id, { actor }) =>
      within(namespace, async (namespaceId) => {
        const reason = actor === null ? "asked" : `asked by ${actor}`;
        return (await operations.abort(namespaceId, id, reason)) ?? operations.find(namespaceId, id);
      }),
  };
}

interface Asked {
  readonly action: OperationAction;
  readonly target: BulkTarget;
}

function purgeOf(queue: string, { isOfDelayed }: PurgeRequest): Asked {
  const status = isOfDelayed ? {} : { status: ["queued", "blocked"] as const };
  return { action: "purge", target: { filter: { queue, ...status } } };
}

async function count({ targets }: OperationsParts, namespaceId: number, request: Asked): Promise<BulkCount> {
  let found = 0;
  let cursor: string | null = null;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await targets.page({ ...request, namespaceId, cursor, pageSize });
    found += page.runs.length;
    cursor = page.cursor;
    if (cursor === null) return { count: found, isLeast: false };
  }
  return { count: found, isLeast: true };
}
