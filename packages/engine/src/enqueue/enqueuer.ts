import { type EnqueueSpec, canonicalUuid, defaultFiringPolicy, storedLabels } from "@carillon/core";
import { type DueRun, type Queued, type SearchPaths, jsonOrNull, jsonParam, timestampParam } from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import { refuseUnusable } from "../catalog/lane-name.js";
import type { EngineContext, InNamespace } from "../context.js";
import type { Receipt } from "../requests.js";
import { RunReader } from "../runs/run-reader.js";
import { type RunView, newRunView } from "../runs/run-view.js";
import type { Inserts } from "./coalesced-inserts.js";
import type { EnqueuedRun, TransactionQuery } from "./enqueue.js";
import type { InsertWithReceipt } from "./idempotency/insert-with-receipt.js";
import { IdempotentEnqueuer } from "./idempotent-enqueuer.js";
import { RunEnqueuer, duplicateOf } from "./run-enqueuer.js";
import { declareSearchPaths } from "./search-paths.js";

/** The part of the context that enqueueing uses. */
type EnqueueContext = Pick<EngineContext, "store" | "inNamespace" | "newId" | "now" | "shardCount" | "limits"> & {
  readonly wakeups: Pick<EngineContext["wakeups"], "runsQueued" | "runsDue">;
};

export interface EnqueuerDeps {
  readonly catalog: Catalog;
  readonly inserts: Inserts;
  readonly insertWithReceipt: InsertWithReceipt;
  /** Calls the database's own function. */
  readonly callText: string;
}

/** Enqueues runs. A run is durable when a call returns; throws CarillonError run_duplicate, dedupe_busy, schedule_in_past … */
export class Enqueuer {
  readonly #inNamespace: InNamespace;
  readonly #callText: string;
  readonly #enqueuer: RunEnqueuer;
  readonly #idempotent: IdempotentEnqueuer;
  readonly #runs: RunReader;
  readonly #searchPaths: Pick<SearchPaths, "declare">;

  constructor(context: EnqueueContext, { catalog, inserts, insertWithReceipt, callText }: EnqueuerDeps) {
    const { store, inNamespace, newId, now, shardCount: shards, limits, wakeups } = context;
    this.#inNamespace = inNamespace;
    this.#callText = callText;
    const planner = {
      newId,
      now,
      shards,
      rank: catalog.rank,
      catchupWindowMs: defaultFiringPolicy.catchupWindowMs,
      onQueued: (queued: readonly Queued[]) => wakeups.runsQueued(queued),
      onDueRuns: (runs: readonly DueRun[]) => wakeups.runsDue(runs),
    };
    this.#enqueuer = new RunEnqueuer({
      ...planner,
      chunk: limits.insertBatch,
      lanes: store.lanes,
      queues: catalog.queues,
      insertNow: inserts.runsNow,
      insertRun: inserts.runs,
      insertDeduped: inserts.deduped,
    });
    this.#idempotent = new IdempotentEnqueuer({ ...planner, insertWithReceipt, enqueuer: this.#enqueuer });
    this.#runs = new RunReader(store.reads);
    this.#searchPaths = store.searchPaths;
  }

  enqueue(namespace: string, spec: EnqueueSpec): Promise<{ readonly id: string; readonly isNew: boolean }> {
    return this.#inNamespace(namespace, async (id) => {
      if (spec.policy.searchable !== undefined) await declareSearchPaths(this.#searchPaths, id, [spec]);
      const { id: runId, isNew } = await this.#enqueuer.enqueue(id, spec);
      return { id: runId, isNew };
    });
  }

  /** Returns the run as it was stored, too. */
  enqueueAndRead(
    namespace: string,
    spec: EnqueueSpec,
    receipt?: Receipt,
  ): Promise<{ readonly run: RunView; readonly isNew: boolean }> {
    return this.#inNamespace(namespace, async (id) => {
      if (spec.policy.searchable !== undefined) await declareSearchPaths(this.#searchPaths, id, [spec]);
      const {
        id: runId,
        isNew,
        made,
      } = await (receipt === undefined
        ? this.#enqueuer.enqueue(id, spec)
        : this.#idempotent.enqueue(id, spec, receipt));
      const run = made === null ? await this.#runs.find(id, runId) : newRunView(made.run, made.stored);
      if (run === null) throw new Error(`Run ${runId} was stored and cannot be found.`);
      return { run, isNew };
    });
  }

  /** In the caller's transaction: the run exists if that commits. */
  enqueueIn(
    tx: TransactionQuery,
    namespace: string,
    spec: EnqueueSpec,
    notify: boolean,
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    return this.#inNamespace(namespace, async (id) => {
      await declareSearchPaths(this.#searchPaths, id, [spec]);
      // Outside that transaction: other callers that need the same new queue or lane would wait for its end.
      await this.#enqueuer.prepare(id, [spec]);
      return enqueueInTransaction(tx, this.#callText, { namespace, spec, notify });
    });
  }

  /**
   * As enqueue for each spec, in their order, but faster; a refused spec does not keep the others from being stored. With a receipt
   * those that are not refused are stored together or not at all.
   */
  enqueueMany(namespace: string, specs: readonly EnqueueSpec[], receipt?: Receipt): Promise<EnqueuedRun[]> {
    return this.#inNamespace(namespace, async (id) => {
      await declareSearchPaths(this.#searchPaths, id, specs);
      return receipt === undefined
        ? this.#enqueuer.enqueueMany(id, specs)
        : this.#idempotent.enqueueMany(id, specs, receipt);
    });
  }
}

export interface TransactionRequest {
  readonly namespace: string;
  readonly spec: EnqueueSpec;
  /** Whether the commit tells whoever waits. */
  readonly notify: boolean;
}

/**
 * Asks for a run over somebody's own connection, by the database's function. All values are texts, numbers, booleans or null, which every
 * driver sends alike.
 */
async function enqueueInTransaction(
  tx: TransactionQuery,
  text: string,
  request: TransactionRequest,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { spec } = request;
  refuseUnusable(spec, null);
  const answer = rowOf(await tx.query(text, valuesOf(request)));
  if (!answer.isNew && spec.dedupe?.on === "reject") throw duplicateOf(spec, answer.id);
  return answer;
}

function valuesOf({ namespace, spec, notify }: TransactionRequest): unknown[] {
  const { dedupe, runAt } = spec;
  return [
    spec.task,
    jsonParam(spec.payload),
    spec.queue,
    spec.priority,
    runAt === null ? null : timestampParam(runAt),
    jsonOrNull(spec.policy),
    jsonOrNull(storedLabels(spec)),
    spec.owner ?? null,
    dedupe?.key ?? null,
    // A refusal by the function would end the caller's transaction; the caller is told without that.
    dedupe === undefined || dedupe.on === "reject" ? null : dedupe.on,
    dedupe === undefined || dedupe.windowMs === null ? null : dedupe.windowMs / 1_000,
    notify,
    namespace,
  ];
}

/** Drivers answer with the rows, or with an object that has them. */
function rowOf(answer: unknown): { readonly id: string; readonly isNew: boolean } {
  const rows: unknown = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null)?.rows;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row === "object" && row !== null && "run_id" in row && "is_new" in row) {
    const id = canonicalUuid(String(row.run_id));
    if (id !== null) return { id, isNew: row.is_new === true };
  }
  throw new TypeError("tx.query must answer with the rows, or with an object that has them as rows");
}
