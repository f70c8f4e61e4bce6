import type { DueRun, Queued, Store } from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import type { InNamespace } from "../context.js";
import { defaultFiringPolicy, type EnqueueSpec, type Instant } from "@carillon/core";
import { enqueueInTransaction } from "./enqueue-in-transaction.js";
import { IdempotentEnqueuer } from "./idempotent-enqueuer.js";
import { newRunView } from "./new-run-view.js";
import { declareSearchPaths } from "./search-paths.js";
import { RunEnqueuer } from "./run-enqueuer.js";
import { RunReader } from "../runs/run-reader.js";
import type { Enqueueing } from "./enqueue.js";
import type { Inserts } from "./coalesced-inserts.js";
import type { InsertWithReceipt } from "./idempotency/insert-with-receipt.js";
import type { Receipt } from "../requests.js";

export interface EnqueueingOptions {
  readonly store: Pick<Store, "lanes" | "reads" | "searchPaths">;
  readonly catalog: Catalog;
  readonly within: InNamespace;
  readonly inserts: Inserts;
  readonly insertWithReceipt: InsertWithReceipt;
  /** Runs of one batch that are stored at a time. */
  readonly chunk: number;
  readonly newId: () => string;
  readonly now: () => Instant;
  readonly shards: number;
  /** Calls the database's own function. */
  readonly callText: string;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

export function makeEnqueueing(options: EnqueueingOptions): Enqueueing {
  const { store, catalog, inserts, within, ...rest } = options;
  const planner = { ...rest, rank: catalog.rank, catchupWindowMs: defaultFiringPolicy.catchupWindowMs };
  const enqueuer = new RunEnqueuer({
    ...planner,
    lanes: store.lanes,
    queues: catalog.queues,
    insertNow: inserts.runsNow,
    insertRun: inserts.runs,
    insertDeduped: inserts.deduped,
  });
  const kept = new IdempotentEnqueuer({ ...planner, enqueuer });
  const runs = new RunReader(store.reads);
  const { searchPaths } = store;
  const enqueue = (namespaceId: number, spec: EnqueueSpec, receipt?: Receipt) =>
    receipt === undefined ? enqueuer.enqueue(namespaceId, spec) : kept.enqueue(namespaceId, spec, receipt);
  return {
    enqueue: (namespace, spec) =>
      within(namespace, async (id) => {
        if (spec.policy.searchable !== undefined) await declareSearchPaths(searchPaths, id, [spec]);
        const { id: runId, isNew } = await enqueue(id, spec);
        return { id: runId, isNew };
      }),
    enqueueShown: (namespace, spec, receipt) =>
      within(namespace, async (id) => {
        if (spec.policy.searchable !== undefined) await declareSearchPaths(searchPaths, id, [spec]);
        const { id: runId, isNew, made } = await enqueue(id, spec, receipt);
        const run = made === null ? await runs.find(id, runId) : newRunView(made.run, made.stored);
        if (run === null) throw new Error(`run ${runId} was stored and cannot be found`);
        return { run, isNew };
      }),
    enqueueIn: (tx, namespace, spec, notify) =>
      within(namespace, async (id) => {
        await declareSearchPaths(searchPaths, id, [spec]);
        // Not in that transaction: others who need the same new queue or lane would wait for its end.
        await enqueuer.prepare(id, [spec]);
        return enqueueInTransaction(tx, options.callText, { namespace, spec, notify });
      }),
    enqueueMany: (namespace, specs, receipt) =>
      within(namespace, async (id) => {
        await declareSearchPaths(searchPaths, id, specs);
        return receipt === undefined ? enqueuer.enqueueMany(id, specs) : kept.enqueueMany(id, specs, receipt);
      }),
  };
}
