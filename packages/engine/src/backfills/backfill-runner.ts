import type { DurationMs, Instant } from "@carillon/core";
import type { Applied } from "../jobs/transaction/job-unit-of-work.js";
import type { BackfillStore, DueBackfill } from "@carillon/store";
import { fenceOf } from "../cluster/coordinator.js";
import type { Membership } from "../context.js";
import type { OnEngineEvent } from "../events.js";
import type { StepReport, StepTaker } from "./take-step.js";

export interface BackfillRunnerOptions {
  readonly backfills: Pick<BackfillStore, "due" | "anyRunning">;
  readonly steps: Pick<StepTaker, "take">;
  readonly membership: () => Membership;
  /** The database's clock; paces only. */
  readonly now: () => Instant;
  readonly onStepped: (shard: number, settled: Applied) => void;
  readonly onEvent: OnEngineEvent;
}

/** Steps of one tick. */
const batch = 100;
/** How often it looks whether runs have ended elsewhere and made room for others; of those that end here it is told. */
const pollMs: DurationMs = 100;
/** A backfill whose hint was lost is found after at most this time. */
const lookMs: DurationMs = 5_000;
/** Jobs whose runs it waits for; of others it does not need to be told. */
const mostAwaited = 1_000;

/** Makes the runs of backfills, step by step, in the shards this node owns. One tick is one bounded pass. */
export class BackfillRunner {
  readonly #options: BackfillRunnerOptions;
  /** Jobs with a backfill under way, and when its next step comes. A cache: what is not in it is found by the poll. */
  readonly #awaited = new Map<string, Instant>();
  #idleMs: DurationMs = 0;

  constructor(options: BackfillRunnerOptions) {
    this.#options = options;
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    return this.#idleMs;
  }

  /** A run of this job ended here; answers whether that may let a backfill go on. */
  hint(jobId: string): boolean {
    const next = this.#awaited.get(jobId);
    return next !== undefined && next <= this.#options.now();
  }

  /** Answers how many backfills got on. A step that fails does not keep other backfills from theirs. */
  async tick(): Promise<number> {
    const { backfills, membership, now } = this.#options;
    const { shards } = membership();
    this.#idleMs = lookMs;
    if (shards.length === 0) return 0;
    const due = await backfills.due(shards, now(), batch);
    let next = Number.POSITIVE_INFINITY;
    let moved = 0;
    const failures: unknown[] = [];
    for (const one of due) {
      try {
        const report = await this.#take(one);
        if (report === null) continue;
        if (report.moved) moved += 1;
        next = Math.min(next, this.#await(report));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    const isOver = due.length === 0 && !(await backfills.anyRunning(shards));
    if (isOver) this.#awaited.clear();
    else this.#idleMs = this.#untilNext(next, now());
    return moved;
  }

  /** Answers when the next step comes. */
  #await({ jobId, step: { state, nextStepAt } }: StepReport): Instant {
    this.#awaited.delete(jobId);
    if (state !== "running") return Number.POSITIVE_INFINITY;
    if (this.#awaited.size >= mostAwaited) this.#awaited.clear();
    this.#awaited.set(jobId, nextStepAt);
    return nextStepAt;
  }

  /** Until the first step that is known of, and no longer than a poll. One that has come and was not taken waits for a run's end. */
  #untilNext(first: Instant, now: Instant): DurationMs {
    let next = Math.min(first, now + pollMs);
    for (const at of this.#awaited.values()) if (at > now) next = Math.min(next, at);
    return Math.max(0, next - now);
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
