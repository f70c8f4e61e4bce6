import type { DurationMs } from "@carillon/core";
import { SilenceWatch } from "../coordinator/silence.js";
import type { OnEngineEvent } from "../events.js";
import type { HostClock } from "../store/db/ports.js";
import { freedJobs } from "../store/entities/ended-runs.js";
import type { Queued, RunStore } from "../store/entities/runs.js";
import type { SessionStore } from "../store/entities/sessions.js";

export interface RescuerOptions {
  readonly sessions: SessionStore;
  readonly runs: Pick<RunStore, "rescue" | "buryLost" | "endStopped">;
  readonly clock: HostClock;
  /** A worker that is silent for so long is taken for dead. */
  readonly silenceMs: DurationMs;
  readonly mostLosses: number;
  readonly batch: number;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
}

/** Gives the runs of dead workers to others. Safe on every node at once: the session's row decides. */
export class Rescuer {
  readonly #options: RescuerOptions;
  readonly #watch: SilenceWatch;

  constructor(options: RescuerOptions) {
    this.#options = options;
    this.#watch = new SilenceWatch({ limitMs: options.silenceMs, longestGapMs: options.silenceMs / 2 });
  }

  /** One pass; answers how many runs dead workers had left. */
  async tick(): Promise<number> {
    const { sessions, runs, clock, batch, mostLosses, onEvent, onQueued, onFreed } = this.#options;
    const silent = this.#watch.observe(await sessions.list(), clock.monotonic());
    const expired = silent.length === 0 ? [] : await sessions.expire(silent);
    const orphaned = await sessions.closeOfDeadNodes();
    if (expired.length + orphaned > 0) onEvent({ type: "session.expired", count: expired.length + orphaned });
    onFreed(freedJobs(await runs.buryLost(batch, mostLosses)));
    const rescued = await runs.rescue(batch, mostLosses);
    const stopped = rescued.filter((run) => run.isStopped).map((run) => run.id);
    onFreed(freedJobs(await runs.endStopped(stopped)));
    const again = rescued.filter((run) => !run.isStopped);
    if (again.length > 0) onEvent({ type: "run.rescued", count: again.length });
    onQueued(again);
    return rescued.length;
  }
}
