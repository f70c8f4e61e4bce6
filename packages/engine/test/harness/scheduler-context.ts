import type { PromotedRun, Queued } from "@carillon/store";
import type { EngineContext } from "../../src/context.js";
import type { SchedulerContext } from "../../src/scheduler/scheduler.js";

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

/** Reports the running runs that a fire stops. */
export function reportStopped<Outcome extends { readonly stopped: readonly string[] }, Args extends readonly unknown[]>(
  settle: (...args: Args) => Promise<Outcome>,
  onStopped: (runIds: readonly string[]) => void,
): (...args: Args) => Promise<Outcome> {
  return async (...args) => {
    const settled = await settle(...args);
    onStopped(settled.stopped);
    return settled;
  };
}
