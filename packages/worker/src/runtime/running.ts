import type { Assignment, DurationMs } from "@carillon/core";
import type { SignalledHandler } from "./ignored-signals.js";
import type { StopSignal } from "./stop-signal.js";

/** A run whose handler is at work. */
export interface Running extends SignalledHandler {
  readonly stop: StopSignal;
  readonly startedAt: DurationMs;
  done: Promise<void>;
  /** It was asked to stop: if its handler throws now, it was not a failure. */
  isStopping: boolean;
  /** The worker stops: unless it has succeeded it is given back. */
  isLeaving: boolean;
  /** The engine knows that it has begun. */
  isTold: boolean;
  /** It was asked to stop since the engine may soon take this worker for dead: nothing is to be spent for it. */
  isUnheard: boolean;
  isSettled: boolean;
}

export function newRunning(assignment: Assignment, stop: StopSignal, startedAt: DurationMs): Running {
  return {
    assignment,
    stop,
    startedAt,
    done: Promise.resolve(),
    isStopping: false,
    isLeaving: false,
    isTold: false,
    isUnheard: false,
    isSettled: false,
    onLateEnd: null,
  };
}

/** Begun, and not to be begun again by anybody. */
export function isSpent({ assignment }: Running): boolean {
  return assignment.atMostOnce;
}
