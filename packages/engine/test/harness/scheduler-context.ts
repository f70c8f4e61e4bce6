import type { PromotedRun, Queued } from "@carillon/store";
import type { EngineContext } from "../../src/context.js";
import type { SchedulerContext } from "../../src/scheduler/scheduler.js";
import type { FireStore } from "../../src/schedules/fire-store.js";

export interface SchedulerContextOptions
  extends Pick<EngineContext, "membership" | "now">, Partial<Pick<EngineContext, "emit">> {
  readonly onQueued?: (runs: readonly Queued[]) => void;
  /** Delayed and retrying runs, some of them ahead of their time. */
  readonly onPromoted?: (runs: readonly PromotedRun[]) => void;
}

/** The context of a scheduler whose loop is not started: the test ticks it. */
export function schedulerContext(options: SchedulerContextOptions): SchedulerContext {
  const ignore = (): void => undefined;
  const { membership, now, emit = ignore, onQueued = ignore, onPromoted = onQueued } = options;
  return {
    emit,
    membership,
    now,
    loops: { register: ignore, wake: ignore },
    wakeups: { broadcast: ignore, on: ignore, runsPromoted: onPromoted, runsQueued: onQueued },
  };
}

/** Reports the running runs that fires stop. */
export function reportStopped(store: FireStore, onStopped: (runIds: readonly string[]) => void): FireStore {
  return {
    ...store,
    async settle(terms, rows) {
      const outcome = await store.settle(terms, rows);
      onStopped(outcome.stopped);
      return outcome;
    },
  };
}
