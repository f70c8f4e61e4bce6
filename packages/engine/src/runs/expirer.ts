import { type Clock, deadlineError, type DurationMs } from "@carillon/core";
import type { OnEngineEvent, FailedRun } from "../events.js";
import { SteadyCost } from "../loops/steady-cost.js";
import { announceEnded } from "./announce-ended.js";
import { tellLateEnds } from "./sla-events.js";
import { freedBy, type RunStore } from "@carillon/store";

export interface ExpirerOptions {
  readonly runs: Pick<RunStore, "expire">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly batch: number;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onFailed: (run: FailedRun) => void;
  readonly onEvent: OnEngineEvent;
}

const everyMs: DurationMs = 1_000;
/** A look takes at most a twentieth of the time. */
const share = 20;

/** Ends runs that wait beyond their deadline. Safe on every node at once: each takes what nobody else holds. */
export class Expirer {
  readonly #options: ExpirerOptions;
  readonly #cost = new SteadyCost();

  constructor(options: ExpirerOptions) {
    this.#options = options;
  }

  /** One bounded pass; answers after how long the next is due. */
  async tick(): Promise<DurationMs> {
    const { runs, clock, batch, onFreed, onFailed, onEvent } = this.#options;
    const startedAt = clock.monotonic();
    const ended = await runs.expire(batch);
    announceEnded(ended, "failed", onEvent);
    tellLateEnds(ended, onEvent);
    for (const { id: runId, namespaceId, task } of ended) {
      onFailed({ namespaceId, runId, task, error: deadlineError });
    }
    onFreed(freedBy(ended));
    if (ended.length >= batch) return 0;
    return Math.max(everyMs, this.#cost.after(clock.monotonic() - startedAt) * share);
  }
}
