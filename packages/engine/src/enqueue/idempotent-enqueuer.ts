import { CarillonError, type EnqueueSpec } from "@carillon/core";
import type { Effect, NewRun } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { Receipt } from "../requests.js";
import type { InsertWithReceipt, StoredWithReceipt } from "./idempotency/insert-with-receipt.js";
import {
  type Accepted,
  announceStored,
  dedupedOutcome,
  type EnqueuedRun,
  enqueueError,
  type Refused,
  type RunEnqueuer,
  toEnqueuedRun,
} from "./run-enqueuer.js";

type IdempotentEnqueuerContext = { readonly wakeups: Pick<EngineContext["wakeups"], "runsDue" | "runsQueued"> };

export interface IdempotentEnqueuerDeps {
  readonly enqueuer: Pick<RunEnqueuer, "prepare" | "plan">;
  readonly insertWithReceipt: InsertWithReceipt;
}

interface Planned {
  readonly spec: EnqueueSpec;
  readonly run: NewRun;
}

/** Stores the runs of a call in one transaction with the call's receipt: all that are not refused, or none. */
export class IdempotentEnqueuer {
  readonly #context: IdempotentEnqueuerContext;
  readonly #deps: IdempotentEnqueuerDeps;

  constructor(context: IdempotentEnqueuerContext, deps: IdempotentEnqueuerDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec, receipt: Receipt): Promise<Accepted> {
    const [one] = await this.#store(namespaceId, [spec], receipt);
    if (one === undefined) throw new Error("The insert of a run returned no outcome.");
    if ("error" in one) throw one.error;
    return one;
  }

  /** Returns the outcomes in the order of the specs. */
  async enqueueMany(namespaceId: number, specs: readonly EnqueueSpec[], receipt: Receipt): Promise<EnqueuedRun[]> {
    return (await this.#store(namespaceId, specs, receipt)).map(toEnqueuedRun);
  }

  async #store(namespaceId: number, specs: readonly EnqueueSpec[], receipt: Receipt): Promise<(Accepted | Refused)[]> {
    const { enqueuer, insertWithReceipt } = this.#deps;
    const laneIds = await enqueuer.prepare(namespaceId, specs);
    const planned = specs.map((spec, index): Planned | Refused => {
      try {
        return { spec, run: enqueuer.plan({ namespaceId, lane: laneIds[index] ?? 0 }, spec) };
      } catch (error) {
        if (error instanceof CarillonError) return { error };
        throw error;
      }
    });
    const accepted = planned.flatMap((one) => ("run" in one ? [one] : []));
    if (accepted.length === 0) return planned.flatMap((one) => ("error" in one ? [one] : []));
    const runs = accepted.flatMap(({ spec, run }) => (spec.dedupe === undefined ? [run] : []));
    const deduped = accepted.flatMap(({ spec: { dedupe }, run }) => (dedupe === undefined ? [] : [{ run, dedupe }]));
    try {
      const stored = await insertWithReceipt({ runs, deduped }, receipt, (rows) => effectOf(outcomesOf(planned, rows)));
      const outcomes = outcomesOf(planned, stored);
      const created = outcomes.flatMap((one) => ("created" in one && one.created !== null ? [one.created] : []));
      announceStored(this.#context.wakeups, created);
      return outcomes;
    } catch (error) {
      throw enqueueError(error);
    }
  }
}

function outcomesOf(
  planned: readonly (Planned | Refused)[],
  { runs, deduped }: StoredWithReceipt,
): (Accepted | Refused)[] {
  const [plain, keyed] = [runs.values(), deduped.values()];
  return planned.map((one): Accepted | Refused => {
    if ("error" in one) return one;
    const { spec, run } = one;
    const stored = spec.dedupe === undefined ? plain.next().value : undefined;
    if (stored !== undefined) return { id: run.id, isNew: true, created: { run, stored } };
    const result = keyed.next().value;
    if (result === undefined) throw new Error("The insert of a run returned no outcome.");
    return dedupedOutcome(spec, run, result);
  });
}

/** null if no run is new: then a repeat of the call cannot do anything twice. */
function effectOf(outcomes: readonly (Accepted | Refused)[]): Effect | null {
  const runs = outcomes.map((one) => ("error" in one ? null : { id: one.id, isNew: one.isNew }));
  return runs.some((one) => one?.isNew === true) ? { runs } : null;
}
