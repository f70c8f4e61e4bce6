import type { DurationMs } from "@carillon/core";
import { RunStoppedError } from "./errors.js";
import type { WorkerTimers } from "./timers.js";
import { wait } from "./wait.js";

/** Work that another system does: begun or adopted, looked at until it is over. */
export interface RemoteWork<End> {
  /** Begins it, unless it was begun before under the same name. */
  begin(signal: AbortSignal): Promise<void>;
  /** How it ended; null while it goes on. */
  look(signal: AbortSignal): Promise<End | null>;
  /** Ends it early. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  readonly everyMs: DurationMs;
}

/** So many looks may fail one after the other: the other system may be away for a moment. */
const mostFailedLooks = 10;
/** How long an early end may take. */
const stopWithinMs: DurationMs = 30_000;

/**
 * Follows work until it is over. When the run is to end for good, the work is ended; when only this worker is to let go of it,
 * it goes on, and whoever has the run next adopts it.
 */
export async function followWork<End>(work: RemoteWork<End>, options: FollowOptions): Promise<End> {
  const { signal, timers, everyMs } = options;
  try {
    await work.begin(signal);
    for (let failures = 0; ;) {
      signal.throwIfAborted();
      try {
        const end = await work.look(signal);
        if (end !== null) return end;
        failures = 0;
      } catch (error) {
        if (signal.aborted || ++failures >= mostFailedLooks) throw error;
      }
      await wait(everyMs, signal, timers);
    }
  } catch (error) {
    if (signal.aborted && isForGood(signal.reason)) await stopWithin(work, timers);
    throw error;
  }
}

/** Nobody gets the run again under the same attempt. */
function isForGood(reason: unknown): boolean {
  if (!(reason instanceof RunStoppedError)) return true;
  return !["drain", "session_lost", "claim_lost", "unheard"].includes(reason.reason);
}

async function stopWithin(work: RemoteWork<unknown>, timers: FollowOptions["timers"]): Promise<void> {
  const late = new AbortController();
  const timer = timers.setTimeout(() => late.abort(new Error("ending the work took too long")), stopWithinMs);
  try {
    await work.stop(late.signal);
  } catch {
    // The run is over in any case; what is left elsewhere is ended by the next attempt, or by hand.
  } finally {
    timers.clearTimeout(timer);
  }
}
