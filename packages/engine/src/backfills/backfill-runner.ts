import type { DurationMs, Instant } from "@carillon/core";
import type { BackfillStore, DueBackfill } from "@carillon/store";
import { fenceOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import { wakeForApplied } from "../jobs/transaction/job-unit-of-work.js";
import { announceEnded } from "../runs/run-events.js";
import type { BackfillStepper, StepReport } from "./backfill-stepper.js";

type Context = Pick<EngineContext, "now" | "membership" | "emit" | "wakeups"> & {
  readonly store: { readonly backfills: Pick<BackfillStore, "due" | "anyRunning"> };
};

/** Steps of one tick. */
const maxSteps = 100;
/** How often the runner checks whether runs ended on other nodes; it is notified of those that end on this node. */
const pollMs: DurationMs = 100;
/** A backfill whose wakeup was lost is found after at most this time. */
const scanIntervalMs: DurationMs = 5_000;
/** Jobs whose runs the runner awaits. */
const maxAwaited = 1_000;

/** Takes the steps of the backfills in this node's shards. One tick is one bounded pass. */
export class BackfillRunner {
  /** now: the database's clock. It paces; no safety rests on it. */
  readonly #context: Context;
  readonly #stepper: Pick<BackfillStepper, "take">;
  /** Jobs with a running backfill, and when its next step is due. A cache: the poll finds the others. */
  readonly #awaited = new Map<string, Instant>();
  #idleMs: DurationMs = 0;

  constructor(context: Context, stepper: Pick<BackfillStepper, "take">) {
    this.#context = context;
    this.#stepper = stepper;
  }

  /** How long the next tick can wait. */
  get idleMs(): DurationMs {
    return this.#idleMs;
  }

  /** A run of this job ended on this node; returns whether a backfill can take its next step. */
  runEnded(jobId: string): boolean {
    const next = this.#awaited.get(jobId);
    return next !== undefined && next <= this.#context.now();
  }

  /** Returns how many backfills progressed. A step that fails does not delay other backfills. */
  async tick(): Promise<number> {
    const { store, membership, now } = this.#context;
    const { shards } = membership();
    this.#idleMs = scanIntervalMs;
    if (shards.length === 0) return 0;
    const due = await store.backfills.due(shards, now(), maxSteps);
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
    const isOver = due.length === 0 && !(await store.backfills.anyRunning(shards));
    if (isOver) this.#awaited.clear();
    else this.#idleMs = this.#untilNext(next, now());
    return moved;
  }

  /** Returns when the next step is due. */
  #await({ jobId, step: { state, nextStepAt } }: StepReport): Instant {
    this.#awaited.delete(jobId);
    if (state !== "running") return Number.POSITIVE_INFINITY;
    if (this.#awaited.size >= maxAwaited) this.#awaited.clear();
    this.#awaited.set(jobId, nextStepAt);
    return nextStepAt;
  }

  /** Until the next step that this node knows of, at most one poll. A due step that was not taken waits for the end of a run. */
  #untilNext(first: Instant, now: Instant): DurationMs {
    let next = Math.min(first, now + pollMs);
    for (const at of this.#awaited.values()) if (at > now) next = Math.min(next, at);
    return Math.max(0, next - now);
  }

  async #take(due: DueBackfill): Promise<StepReport | null> {
    const { membership, emit, wakeups } = this.#context;
    const report = await this.#stepper.take(fenceOf(membership(), [due]), due);
    if (report === null) return null;
    const { backfillId, jobId, shard, applied, moved } = report;
    const { made, passed, skipped, state, reason } = report.step;
    if (applied.made.size > 0) {
      announceEnded(applied.ended, "cancelled", emit);
      wakeForApplied(wakeups, [shard], applied);
    }
    if (moved) emit({ type: "backfill.advanced", backfillId, jobId, made, passed, skipped });
    if (state !== "running") emit({ type: "backfill.ended", backfillId, jobId, state, reason });
    return report;
  }
}
