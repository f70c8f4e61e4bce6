import { toPage } from "../jobs/run-reader.js";
import { shardOf } from "../jobs/shard-of.js";
import type { BulkCount, BulkRequest, Operations } from "../model/operations.js";
import type { WithinNamespace } from "../node/engine-api.js";
import type { Database } from "../store/db/database.js";
import type { OperationStore } from "../store/entities/operations.js";
import type { BulkTargets } from "./bulk-targets.js";

export interface OperationsParts {
  readonly db: Pick<Database, "transaction">;
  readonly operations: OperationStore;
  readonly targets: BulkTargets;
  readonly within: WithinNamespace;
  readonly newId: () => string;
  readonly shards: number;
  readonly onStarted: () => void;
}

/** A count looks at so many pages of so many runs at most. */
const mostPages = 10;
const pageSize = 1_000;

/** Operations as callers see them: names of namespaces in, views out. */
export function operationsApi(parts: OperationsParts): Operations {
  const { db, operations, within, newId, shards, onStarted } = parts;
  return {
    startBulk: (namespace, request, { actor, receipt }) =>
      within(namespace, async (namespaceId) => {
        const id = newId();
        const made = await db.transaction(async (tx) => {
          await receipt?.keep(tx, { operation: id });
          return operations.insert(tx, { ...request, id, namespaceId, shard: shardOf(id, shards), actor });
        });
        onStarted();
        return made;
      }),
    countBulk: (namespace, request) => within(namespace, (id) => count(parts, id, request)),
    getOperation: (namespace, id) => within(namespace, (namespaceId) => operations.find(namespaceId, id)),
    listOperations: (namespace, { pageSize: limit, after }) =>
      within(namespace, async (id) => toPage(await operations.list(id, after ?? null, limit + 1), limit)),
    abortOperation: (namespace, id, { actor }) =>
      within(namespace, async (namespaceId) => {
        const reason = actor === null ? "asked" : `asked by ${actor}`;
        return (await operations.abort(namespaceId, id, reason)) ?? operations.find(namespaceId, id);
      }),
  };
}

async function count({ targets }: OperationsParts, namespaceId: number, request: BulkRequest): Promise<BulkCount> {
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
