import { isDeepStrictEqual } from "node:util";
import { CarillonError, type EnqueueSpec } from "@carillon/core";
import {
  classifyPgError,
  type Database,
  type NewRun,
  runStore,
  type Statements,
  type StoredRun,
} from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { RunView } from "../runs/run-reader.js";
import {
  type Accepted,
  acceptedNow,
  announceStored,
  type EnqueuedRun,
  maxCallerSkewMs,
  type RunEnqueuer,
  type RunEnqueuerDeps,
  startsAtOnce,
} from "./run-enqueuer.js";

type IdentifiedEnqueuerContext = Pick<EngineContext, "db" | "now"> & {
  readonly limits: Pick<EngineContext["limits"], "insertBatch">;
  readonly wakeups: Pick<EngineContext["wakeups"], "runsDue" | "runsQueued">;
};

export interface IdentifiedEnqueuerDeps {
  readonly enqueuer: Pick<RunEnqueuer, "prepare" | "plan">;
  readonly runsNow: RunEnqueuerDeps["inserts"]["runsNow"];
  readonly statements: Statements;
  /** The runs of a namespace with these ids, live or ended. */
  readonly find: (namespaceId: number, ids: readonly string[]) => Promise<ReadonlyMap<string, RunView>>;
}

/** A run under the id that its caller chose. `isRepeat`: an earlier call stored it. */
export interface Identified {
  readonly accepted: Accepted;
  readonly isRepeat: boolean;
}

interface Item {
  readonly spec: EnqueueSpec;
  readonly id: string;
}

/**
 * Stores runs under ids that follow from the caller's key. A repeated call finds its runs by their ids, so it needs no receipt: the primary
 * key of live runs and `refuse_ended` for ended ones make a second run impossible, also if the first call is stored after the second one.
 */
export class IdentifiedEnqueuer {
  readonly #context: IdentifiedEnqueuerContext;
  readonly #deps: IdentifiedEnqueuerDeps;

  constructor(context: IdentifiedEnqueuerContext, deps: IdentifiedEnqueuerDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec, id: string): Promise<Identified> {
    const [lane = 0] = await this.#deps.enqueuer.prepare(namespaceId, [spec]);
    const run = this.#deps.enqueuer.plan({ namespaceId, lane }, spec, id);
    try {
      return { accepted: await this.#insert(run, spec), isRepeat: false };
    } catch (error) {
      if (classifyPgError(error) !== "unique") throw error;
      const found = await this.#deps.find(namespaceId, [id]);
      return { accepted: repeated(spec, found.get(id)), isRepeat: true };
    }
  }

  /** As enqueue for each spec, in their order. `ids` has the id of each. */
  async enqueueMany(
    namespaceId: number,
    specs: readonly EnqueueSpec[],
    ids: readonly string[],
  ): Promise<EnqueuedRun[]> {
    const items = specs.map((spec, index) => ({ spec, id: ids[index] ?? "" }));
    const stored = await this.#storedBefore(namespaceId, ids);
    const fresh = items.filter(({ id, spec }) => !stored.has(id) && startsAtOnce(spec));
    const outcomes = await this.#insertMany(namespaceId, fresh);
    const repeats = [...outcomes].flatMap(([id, outcome]) => (isTaken(outcome) ? [id] : []));
    const found = new Map([...stored, ...(await this.#deps.find(namespaceId, repeats))]);
    const outcomeOf = async ({ spec, id }: Item): Promise<EnqueuedRun> => {
      const outcome = outcomes.get(id);
      if (outcome !== undefined && !isTaken(outcome)) return outcome;
      try {
        if (found.has(id) || outcome !== undefined) return repeated(spec, found.get(id));
        return (await this.enqueue(namespaceId, spec, id)).accepted;
      } catch (error) {
        return { error };
      }
    };
    return Promise.all(items.map(outcomeOf));
  }

  /** The outcomes by id. */
  async #insertMany(namespaceId: number, items: readonly Item[]): Promise<Map<string, EnqueuedRun>> {
    const { enqueuer, runsNow } = this.#deps;
    const outcomes = new Map<string, EnqueuedRun>();
    const lanes = await enqueuer.prepare(
      namespaceId,
      items.map(({ spec }) => spec),
    );
    const runs = items.flatMap(({ spec, id }, index) => {
      try {
        return [enqueuer.plan({ namespaceId, lane: lanes[index] ?? 0 }, spec, id)];
      } catch (error) {
        if (!(error instanceof CarillonError)) throw error;
        outcomes.set(id, { error });
        return [];
      }
    });
    const results = runs.length === 0 ? [] : await runsNow.addAll(runs);
    for (const [index, { id }] of runs.entries()) {
      const result = results[index];
      outcomes.set(id, result?.status === "fulfilled" ? { id, isNew: true } : { error: result?.reason });
    }
    return outcomes;
  }

  /**
   * A statement stores all of its runs or none, so the first run of each shows whether this call was made before. Without this read a
   * repeated batch would be halved until each of its runs is refused alone.
   */
  async #storedBefore(namespaceId: number, ids: readonly string[]): Promise<ReadonlyMap<string, RunView>> {
    const { insertBatch } = this.#context.limits;
    const firsts = ids.filter((_, index) => index % insertBatch === 0);
    const found = await this.#deps.find(namespaceId, firsts);
    return found.size === 0 ? found : this.#deps.find(namespaceId, ids);
  }

  async #insert(run: NewRun, spec: EnqueueSpec): Promise<Accepted> {
    if (spec.dedupe !== undefined) throw new Error("A run with a dedupe key cannot be identified by its caller's key.");
    if (startsAtOnce(spec)) return acceptedNow(run, await this.#deps.runsNow.add(run));
    const stored = await insertChecked(this.#context.db, this.#deps.statements, run);
    announceStored(this.#context.wakeups, [{ run, stored }]);
    return { id: run.id, isNew: true, created: { run, stored } };
  }
}

const isTaken = (outcome: EnqueuedRun): boolean => "error" in outcome && classifyPgError(outcome.error) === "unique";

/** For the few runs that the hot insert does not take, such as one with a deadline that its task sets. */
function insertChecked(db: Pick<Database, "transaction">, statements: Statements, run: NewRun): Promise<StoredRun> {
  return db.transaction(async (tx) => {
    const runs = runStore(tx, statements);
    const [stored] = await runs.insert([run]);
    await runs.refuseEnded([run.id], run.callerIdSince ?? 0);
    if (stored === undefined) throw new RunExists(`A run with the id ${run.id} exists.`);
    return stored;
  });
}

class RunExists extends Error {
  readonly code = "23505";
}

/**
 * Throws idempotency_key_reused for the run of another request, which only a caller that makes its own keys can cause. The queue may be a
 * default of the task that changed between the two calls, so it is not compared.
 */
function repeated({ task, payload }: EnqueueSpec, run: RunView | undefined): Accepted {
  // As it is stored: JSON has no -0.
  if (run?.task === task && isDeepStrictEqual(run.payload, JSON.parse(JSON.stringify(payload))))
    return { id: run.id, isNew: true, created: null };
  const detail = "This Idempotency-Key was used for another request; use a new key for each request.";
  throw new CarillonError("idempotency_key_reused", detail);
}

/** Whether the time in a caller's id is close enough to the database's clock. */
export function isRecentId(idTimeMs: number, nowMs: number): boolean {
  return Math.abs(idTimeMs - nowMs) <= maxCallerSkewMs;
}
