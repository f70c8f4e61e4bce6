import { CarillonError, type EnqueueSpec } from "@carillon/core";
import type { InsertWithReceipt, KeptAnswers } from "./idempotency/insert-with-receipt.js";
import type { EnqueuedRun } from "./enqueue.js";
import type { DueRun, Effect, NewRun, Queued } from "@carillon/store";
import { type Answered, duplicateOf, enqueueError, type RunEnqueuer } from "./run-enqueuer.js";
import type { Receipt } from "../requests.js";

export interface KeptEnqueuerOptions {
  readonly enqueuer: Pick<RunEnqueuer, "prepare" | "plan">;
  readonly insertKept: InsertWithReceipt;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

interface Planned {
  readonly spec: EnqueueSpec;
  readonly run: NewRun;
}

type Refused = { readonly error: unknown };

/** Stores runs in one transaction with the receipt of the call that asks for them: all that are sound, or none. */
export class IdempotentEnqueuer {
  readonly #options: KeptEnqueuerOptions;

  constructor(options: KeptEnqueuerOptions) {
    this.#options = options;
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec, receipt: Receipt): Promise<Answered> {
    const [one] = await this.#store(namespaceId, [spec], receipt);
    if (one === undefined) throw new Error("a run was to be stored and no answer came");
    if ("error" in one) throw one.error;
    return one;
  }

  /** Answers in the order of the specs. */
  async enqueueMany(namespaceId: number, specs: readonly EnqueueSpec[], receipt: Receipt): Promise<EnqueuedRun[]> {
    const answers = await this.#store(namespaceId, specs, receipt);
    return answers.map((one) => ("error" in one ? one : { id: one.id, isNew: one.isNew }));
  }

  async #store(namespaceId: number, specs: readonly EnqueueSpec[], receipt: Receipt): Promise<(Answered | Refused)[]> {
    const { enqueuer } = this.#options;
    const laneIds = await enqueuer.prepare(namespaceId, specs);
    const planned = specs.map((spec, index): Planned | Refused => {
      try {
        return { spec, run: enqueuer.plan({ namespaceId, lane: laneIds[index] ?? 0 }, spec) };
      } catch (error) {
        if (error instanceof CarillonError) return { error };
        throw error;
      }
    });
    const sound = planned.flatMap((one) => ("run" in one ? [one] : []));
    if (sound.length === 0) return planned.flatMap((one) => ("error" in one ? [one] : []));
    const runs = sound.flatMap(({ spec, run }) => (spec.dedupe === undefined ? [run] : []));
    const deduped = sound.flatMap(({ spec: { dedupe }, run }) => (dedupe === undefined ? [] : [{ run, dedupe }]));
    try {
      const kept = await this.#options.insertKept({ runs, deduped }, receipt, (stored) =>
        effectOf(answersOf(planned, stored)),
      );
      const answers = answersOf(planned, kept);
      this.#tell(answers);
      return answers;
    } catch (error) {
      throw enqueueError(error);
    }
  }

  #tell(answers: readonly (Answered | Refused)[]): void {
    const queued: Queued[] = [];
    const due: DueRun[] = [];
    for (const one of answers) {
      if ("error" in one || one.made === null) continue;
      const { run, stored } = one.made;
      if (stored.state === "queued") queued.push(run);
      else if (stored.state === "scheduled") due.push({ id: run.id, shard: run.shard, runAt: run.runAt });
    }
    if (queued.length > 0) this.#options.onQueued(queued);
    if (due.length > 0) this.#options.onDueRuns(due);
  }
}

function answersOf(planned: readonly (Planned | Refused)[], { runs, deduped }: KeptAnswers): (Answered | Refused)[] {
  const [plain, keyed] = [runs.values(), deduped.values()];
  return planned.map((one): Answered | Refused => {
    if ("error" in one) return one;
    const { spec, run } = one;
    const stored = spec.dedupe === undefined ? plain.next().value : undefined;
    if (stored !== undefined) return { id: run.id, isNew: true, made: { run, stored } };
    const outcome = keyed.next().value;
    if (outcome === undefined) throw new Error("a run was sent to be stored and has no answer");
    if (outcome.kind === "stored")
      return { id: run.id, isNew: true, made: outcome.stored && { run, stored: outcome.stored } };
    const { runId: id } = outcome;
    return spec.dedupe?.on === "reject" ? { error: duplicateOf(spec, id) } : { id, isNew: false, made: null };
  });
}

/** Null where nothing is new: then there is nothing that a repeat could do twice. */
function effectOf(answers: readonly (Answered | Refused)[]): Effect | null {
  const runs = answers.map((one) => ("error" in one ? null : { id: one.id, isNew: one.isNew }));
  return runs.some((one) => one?.isNew === true) ? { runs } : null;
}
