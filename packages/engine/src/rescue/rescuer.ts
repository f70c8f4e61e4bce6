import type { DurationMs } from "@carillon/core";
import { SilenceWatch } from "../coordinator/silence.js";
import type { OnEngineEvent } from "../events.js";
import type { HostClock } from "../store/db/ports.js";
import type { Queued, RunStore } from "../store/entities/runs.js";
import type { SessionStore } from "../store/entities/sessions.js";

export interface RescuerOptions {
  readonly sessions: SessionStore;
  readonly runs: Pick<RunStore, "rescue" | "buryLost">;
  readonly clock: HostClock;
  /** A worker that is silent for so long is taken for dead. */
  readonly silenceMs: DurationMs;
  readonly mostLosses: number;
  readonly batch: number;
  readonly onQueued: (queued: readonly Queued[]) => void;
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

  /** One pass; answers how many runs were queued again. */
  async tick(): Promise<number> {
    const { sessions, runs, clock, batch, mostLosses, onEvent, onQueued } = this.#options;
    const silent = this.#watch.observe(await sessions.list(), clock.monotonic());
    const expired = silent.length === 0 ? [] : await sessions.expire(silent);
    const orphaned = await sessions.closeOfDeadNodes();
    if (expired.length + orphaned > 0) onEvent({ type: "session.expired", count: expired.length + orphaned });
    await runs.buryLost(batch, mostLosses);
    const rescued = await runs.rescue(batch, mostLosses);
    if (rescued.length > 0) onEvent({ type: "run.rescued", count: rescued.length });
    onQueued(rescued);
    return rescued.length;
  }
}
