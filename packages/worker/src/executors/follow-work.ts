import { checkOptions, option } from "@carillon/contract/check";
import type { DurationMs } from "@carillon/core";
import { RunStoppedError } from "../runtime/errors.js";
import { wait, type WorkerTimers } from "../runtime/timers.js";

/** Work that another system does for a run, such as a container or a Kubernetes job. */
export interface RemoteWork<End> {
  /** Starts the work, or adopts it if it was started before under the same name. */
  begin(signal: AbortSignal): Promise<void>;
  /** Polls the work: how it ended, or null while it goes on. */
  poll(signal: AbortSignal): Promise<End | null>;
  /** Ends the work early. */
  stop(signal: AbortSignal): Promise<void>;
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  readonly timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  readonly everyMs: DurationMs;
}

const { custom, number, object, required, signal: signalOption } = option;

const timersOption = custom<FollowOptions["timers"]>(
  (value) => typeof value === "object" && value !== null && "setTimeout" in value && "clearTimeout" in value,
  "an object with setTimeout and clearTimeout",
);

export const followOptions = object({
  signal: required(signalOption),
  timers: required(timersOption),
  everyMs: required(number(0)),
});

/** How many polls may fail in a row: the other system may be unavailable for a moment. */
const maxFailedPolls = 10;
const stopTimeoutMs: DurationMs = 30_000;

/**
 * Starts the work and polls it until it is over. When the run is stopped for good, the work is stopped too. When only this worker
 * loses the run, the work goes on, and the worker that gets the next attempt adopts it.
 */
export async function followWork<End>(work: RemoteWork<End>, options: FollowOptions): Promise<End> {
  checkOptions(followOptions, options, { name: "followWork" });
  const { signal, timers, everyMs } = options;
  try {
    await work.begin(signal);
    for (let failures = 0; ;) {
      signal.throwIfAborted();
      try {
        const end = await work.poll(signal);
        if (end !== null) return end;
        failures = 0;
      } catch (error) {
        if (signal.aborted || ++failures >= maxFailedPolls) throw error;
      }
      await wait(everyMs, signal, timers);
    }
  } catch (error) {
    if (signal.aborted && isFinal(signal.reason)) await stopWork(work, timers);
    throw error;
  }
}

/** Whether no worker gets the run again under the same attempt. */
function isFinal(reason: unknown): boolean {
  if (!(reason instanceof RunStoppedError)) return true;
  return !["drain", "session_lost", "claim_lost", "disconnected"].includes(reason.reason);
}

async function stopWork(work: RemoteWork<unknown>, timers: FollowOptions["timers"]): Promise<void> {
  const timeout = new AbortController();
  const timer = timers.setTimeout(() => timeout.abort(new Error("ending the work took too long")), stopTimeoutMs);
  try {
    await work.stop(timeout.signal);
  } catch {
    // The run is over in any case; the next attempt or an operator ends the work that is left.
  } finally {
    timers.clearTimeout(timer);
  }
}
