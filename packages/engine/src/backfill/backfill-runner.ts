import type { DurationMs, Instant } from "@carillon/core";
import type { Membership } from "../coordinator/port.js";
import type { OnEngineEvent } from "../events.js";
import { fenceOf } from "../scheduler/fence-of.js";
import type { Settled } from "../settlement/settler.js";
import type { BackfillStore, DueBackfill } from "../store/entities/backfills.js";
import type { StepReport, StepTaker } from "./take-step.js";

export interface BackfillRunnerOptions {
  readonly backfills: Pick<BackfillStore, "due" | "anyRunning">;
  readonly steps: Pick<StepTaker, "take">;
  readonly membership: () => Membership;
  /** The database's clock; paces only. */
  readonly now: () => Instant;
  readonly onStepped: (shard: number, settled: Settled) => void;
  readonly onEvent: OnEngineEvent;
}

/** Steps of one tick. */
const batch = 100;
/** How often it looks whether runs have ended and made room for others. */
const pollMs: DurationMs = 100;
/** A backfill whose hint was lost is found after at most this time. */
const lookMs: DurationMs = 5_000;

/** Makes the runs of backfills, step by step, in the shards this node owns. One tick is one bounded pass. */
export class BackfillRunner {
  readonly #options: BackfillRunnerOptions;
  #idleMs: DurationMs = 0;

  constructor(options: BackfillRunnerOptions) {
    this.#options = options;
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    return this.#idleMs;
  }

  /** Answers how many backfills got on. A step that fails does not keep other backfills from theirs. */
  async tick(): Promise<number> {
    const { backfills, membership, now } = this.#options;
    const shards = [...membership().epochs.keys()];
    this.#idleMs = lookMs;
    if (shards.length === 0) return 0;
    const due = await backfills.due(shards, now(), batch);
    let next = now() + pollMs;
    let moved = 0;
    const failures: unknown[] = [];
    for (const one of due) {
      try {
        const report = await this.#take(one);
        if (report === null) continue;
        if (report.moved) moved += 1;
        if (report.step.state === "running") next = Math.min(next, report.step.nextStepAt);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    if (due.length > 0 || (await backfills.anyRunning(shards))) this.#idleMs = Math.max(0, next - now());
    return moved;
  }

  async #take(due: DueBackfill): Promise<StepReport | null> {
    const { steps, membership, onStepped, onEvent } = this.#options;
    const report = await steps.take(fenceOf(membership(), [due]), due);
    if (report === null) return null;
    const { backfillId, jobId, shard, settled, moved } = report;
    const { made, passed, skipped, state, reason } = report.step;
    if (settled.made.size > 0) onStepped(shard, settled);
    if (moved) onEvent({ type: "backfill.stepped", backfillId, jobId, made, passed, skipped });
    if (state !== "running") onEvent({ type: "backfill.ended", backfillId, jobId, state, reason });
    return report;
  }
}
