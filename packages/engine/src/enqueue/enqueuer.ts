import { CarillonError, canonicalUuid, type EnqueueSpec, storedLabels, timeOfUuid } from "@carillon/core";
import { jsonOrNull, jsonParam, type SearchPaths, type Statements, timestampParam } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { Catalog } from "../catalog/catalog.js";
import { refuseUnusable } from "../catalog/lanes.js";
import type { EngineContext, InNamespace } from "../context.js";
import type { Receipt } from "../requests.js";
import { newRunView, RunReader, type RunView } from "../runs/run-reader.js";
import type { CoalescedInserts } from "./coalesced-inserts.js";
import type { InsertWithReceipt } from "./idempotency/insert-with-receipt.js";
import { IdentifiedEnqueuer, isRecentId } from "./identified-enqueuer.js";
import { IdempotentEnqueuer } from "./idempotent-enqueuer.js";
import { duplicateOf, type EnqueuedRun, RunEnqueuer } from "./run-enqueuer.js";

type EnqueueContext = Pick<
  EngineContext,
  "db" | "store" | "inNamespace" | "newId" | "now" | "shardCount" | "limits"
> & {
  readonly wakeups: Pick<EngineContext["wakeups"], "runsQueued" | "runsDue">;
};

export interface EnqueuerDeps {
  readonly catalog: Catalog;
  readonly inserts: Pick<CoalescedInserts, "runs" | "runsNow" | "deduped">;
  readonly insertWithReceipt: InsertWithReceipt;
  /** The statement that calls the SQL function carillon.enqueue. */
  readonly callText: string;
  readonly statements: Statements;
}

/** Enqueues runs. A run is durable when a call returns; throws CarillonError run_duplicate, dedupe_busy, schedule_in_past … */
export class Enqueuer {
  readonly #inNamespace: InNamespace;
  readonly #callText: string;
  readonly #enqueuer: RunEnqueuer;
  readonly #idempotent: IdempotentEnqueuer;
  readonly #identified: IdentifiedEnqueuer;
  readonly #now: EngineContext["now"];
  readonly #runs: RunReader;
  readonly #searchPaths: Pick<SearchPaths, "declare">;

  constructor(context: EnqueueContext, { catalog, inserts, insertWithReceipt, callText, statements }: EnqueuerDeps) {
    const { store, inNamespace } = context;
    this.#inNamespace = inNamespace;
    this.#callText = callText;
    this.#enqueuer = new RunEnqueuer(context, { catalog, inserts });
    this.#idempotent = new IdempotentEnqueuer(context, { enqueuer: this.#enqueuer, insertWithReceipt });
    const runs = new RunReader(store.reads);
    this.#runs = runs;
    this.#identified = new IdentifiedEnqueuer(context, {
      enqueuer: this.#enqueuer,
      runsNow: inserts.runsNow,
      statements,
      find: (id, ids) => runs.findMany(id, ids),
    });
    this.#now = context.now;
    this.#searchPaths = store.searchPaths;
  }

  enqueue(namespace: string, spec: EnqueueSpec): Promise<{ readonly id: string; readonly isNew: boolean }> {
    return this.#inNamespace(namespace, async (id) => {
      if (spec.policy.searchable !== undefined) await this.#searchPaths.declare(id, [spec]);
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
      if (spec.policy.searchable !== undefined) await this.#searchPaths.declare(id, [spec]);
      const accepted = await (receipt === undefined
        ? this.#enqueuer.enqueue(id, spec)
        : this.#idempotent.enqueue(id, spec, receipt));
      const { id: runId, isNew, created } = accepted;
      const run =
        created === null
          ? await afterCommit(() => this.#runs.find(id, runId))
          : newRunView(created.run, created.stored);
      if (run === null) throw new Error(`Run ${runId} was stored and cannot be found.`);
      return { run, isNew };
    });
  }

  /**
   * As enqueueAndRead, under an id that the caller chose for this call: a repeated call gets the run of the first one. The id must be a
   * UUIDv7 of the present time. Throws idempotency_key_stale, idempotency_key_reused.
   */
  enqueueOnce(
    namespace: string,
    spec: EnqueueSpec,
    id: string,
  ): Promise<{ readonly run: RunView; readonly isRepeat: boolean }> {
    this.#refuseStale(id);
    return this.#inNamespace(namespace, async (namespaceId) => {
      if (spec.policy.searchable !== undefined) await this.#searchPaths.declare(namespaceId, [spec]);
      const { accepted, isRepeat } = await this.#identified.enqueue(namespaceId, spec, id);
      const { created } = accepted;
      const run =
        created === null
          ? await afterCommit(() => this.#runs.find(namespaceId, id))
          : newRunView(created.run, created.stored);
      if (run === null) throw new Error(`Run ${id} was stored and cannot be found.`);
      return { run, isRepeat };
    });
  }

  /** The same for many; `ids` has the id of each spec. */
  enqueueManyOnce(namespace: string, specs: readonly EnqueueSpec[], ids: readonly string[]): Promise<EnqueuedRun[]> {
    for (const id of ids.slice(0, 1)) this.#refuseStale(id);
    return this.#inNamespace(namespace, async (namespaceId) => {
      await this.#searchPaths.declare(namespaceId, specs);
      return this.#identified.enqueueMany(namespaceId, specs, ids);
    });
  }

  /** A finished run is found by the time in its id, and lists are ordered by it. */
  #refuseStale(id: string): void {
    if (isRecentId(timeOfUuid(id), this.#now())) return;
    const detail = "The time in the Idempotency-Key is more than ten minutes from the server's clock. Make a new key.";
    throw new CarillonError("idempotency_key_stale", detail);
  }

  /** Enqueues in the caller's transaction: the run exists if that commits. */
  enqueueIn(
    tx: TransactionQuery,
    namespace: string,
    spec: EnqueueSpec,
    notify: boolean,
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    return this.#inNamespace(namespace, async (id) => {
      await this.#searchPaths.declare(id, [spec]);
      // Outside the caller's transaction: inside it, other callers that need the same new queue or lane would wait for its end.
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
      await this.#searchPaths.declare(id, specs);
      return receipt === undefined
        ? this.#enqueuer.enqueueMany(id, specs)
        : this.#idempotent.enqueueMany(id, specs, receipt);
    });
  }
}

/** A caller's open transaction: an object that sends one statement with its values over it. */
export interface TransactionQuery {
  query(text: string, values: unknown[]): Promise<unknown>;
}

export interface TransactionRequest {
  readonly namespace: string;
  readonly spec: EnqueueSpec;
  /** Whether the commit notifies gateways and schedulers. */
  readonly notify: boolean;
}

/**
 * Calls the SQL function carillon.enqueue over the caller's connection. All values are texts, numbers, booleans or null, which every driver
 * sends in the same way.
 */
async function enqueueInTransaction(
  tx: TransactionQuery,
  text: string,
  request: TransactionRequest,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { spec } = request;
  refuseUnusable(spec, null);
  const row = rowOf(await tx.query(text, valuesOf(request)));
  if (!row.isNew && spec.dedupe?.on === "reject") throw duplicateOf(spec, row.id);
  return row;
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
    // An error of the function would abort the caller's transaction, so "reject" is decided here, by the returned row.
    dedupe === undefined || dedupe.on === "reject" ? null : dedupe.on,
    dedupe === undefined || dedupe.windowMs === null ? null : dedupe.windowMs / 1_000,
    notify,
    namespace,
  ];
}

/** Drivers return the rows, or an object that has them as `rows`. */
function rowOf(result: unknown): { readonly id: string; readonly isNew: boolean } {
  const rows: unknown = Array.isArray(result) ? result : (result as { rows?: unknown } | null)?.rows;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row === "object" && row !== null && "run_id" in row && "is_new" in row) {
    const id = canonicalUuid(String(row.run_id));
    if (id !== null) return { id, isNew: row.is_new === true };
  }
  throw new TypeError("tx.query must return the rows, or an object that has them as `rows`.");
}
