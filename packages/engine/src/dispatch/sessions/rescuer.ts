import type { Clock, DurationMs } from "@carillon/core";
import { HeartbeatMonitor } from "../../cluster/detection/heartbeat-monitor.js";
import type { OnEngineEvent } from "../../events.js";
import { announceEnded } from "../../runs/announce-ended.js";
import { tellLateEnds } from "../../runs/sla-events.js";
import {
  type DeadSession,
  freedBy,
  type LostRun,
  type Queued,
  type RunStore,
  type SessionStore,
} from "@carillon/store";

export interface RescuerOptions {
  readonly sessions: SessionStore;
  readonly runs: Pick<RunStore, "lost" | "rescue" | "buryLost" | "endStopped">;
  readonly clock: Clock;
  /** A worker that is silent for so long is taken for dead. */
  readonly silenceMs: DurationMs;
  readonly mostLosses: number;
  readonly batch: number;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
}

/** A look for lost runs reads all live runs. Without a reason it is made so seldom, for whoever died between expiring and rescuing. */
const idleSweepMs = 60_000;
/** With one it is made until nothing was found so often: the first may have passed over what others had locked. */
const sweepsPerReason = 3;

/** Gives the runs of dead workers to others. Safe on every node at once: the session's row decides. */
export class Rescuer {
  readonly #options: RescuerOptions;
  readonly #watch: HeartbeatMonitor;
  #known: ReadonlySet<string> = new Set();
  /** Declared dead by this node and not told of yet: what each left is known after the next look. */
  #untold: DeadSession[] = [];
  #sweepsLeft = sweepsPerReason;
  #lastSweep = Number.NEGATIVE_INFINITY;

  constructor(options: RescuerOptions) {
    this.#options = options;
    this.#watch = new HeartbeatMonitor({ limitMs: options.silenceMs, maxGapMs: options.silenceMs / 2 });
  }

  /** One pass; answers how many runs dead workers had left. */
  async tick(): Promise<number> {
    const { clock } = this.#options;
    if (await this.#lookForGone()) this.#sweepsLeft = sweepsPerReason;
    const now = clock.monotonic();
    if (this.#sweepsLeft === 0 && now - this.#lastSweep < idleSweepMs) return 0;
    const { lost, rescued } = await this.#sweep();
    this.#lastSweep = now;
    // What is left may be locked by somebody who hangs: it is looked for until nothing is.
    if (lost > 0) this.#sweepsLeft = sweepsPerReason;
    else if (this.#sweepsLeft > 0) this.#sweepsLeft--;
    return rescued;
  }

  /** Declares silent sessions dead; says whether any went away since the last time, whoever did it. */
  async #lookForGone(): Promise<boolean> {
    const { sessions, clock, onEvent } = this.#options;
    const listed = await sessions.list();
    const silent = this.#watch.observe(listed, clock.monotonic());
    const expired = silent.length === 0 ? [] : await sessions.expire(silent);
    this.#untold.push(...expired);
    const orphaned = await sessions.closeOfDeadNodes();
    this.#untold.push(...orphaned);
    const ended = expired.length + orphaned.length;
    if (ended > 0) onEvent({ type: "session.expired", count: ended });
    const before = this.#known;
    this.#known = new Set(listed.map((session) => session.id));
    for (const id of before) if (!this.#known.has(id)) return true;
    return ended > 0;
  }

  async #sweep(): Promise<{ readonly lost: number; readonly rescued: number }> {
    const { runs, batch, mostLosses, onEvent, onQueued, onFreed } = this.#options;
    const found = await runs.lost(batch);
    this.#tellDead(found);
    const lost = found.map((run) => run.id);
    if (lost.length === 0) return { lost: 0, rescued: 0 };
    const buried = await runs.buryLost(lost, mostLosses);
    announceEnded(buried, "failed", onEvent);
    tellLateEnds(buried, onEvent);
    onFreed(freedBy(buried));
    const rescued = await runs.rescue(lost, mostLosses);
    const again = rescued.filter((run) => !run.isStopped);
    const others = new Set(again.map((run) => run.id));
    // Also those that a node gave back before it died: they were to stop, and nobody is to begin them.
    const ended = await runs.endStopped(lost.filter((id) => !others.has(id)));
    announceEnded(ended, "cancelled", onEvent);
    onFreed(freedBy(ended));
    if (again.length > 0) onEvent({ type: "run.rescued", count: again.length });
    onQueued(again);
    return { lost: lost.length, rescued: rescued.length };
  }

  /** Each once, with the runs that this look found: of more than one look's worth the others are not counted. */
  #tellDead(lost: readonly LostRun[]): void {
    if (this.#untold.length === 0) return;
    const left = new Map<string | null, number>();
    for (const { sessionId } of lost) left.set(sessionId, (left.get(sessionId) ?? 0) + 1);
    for (const { id: sessionId, namespaceId, name } of this.#untold.splice(0)) {
      const runs = left.get(sessionId) ?? 0;
      this.#options.onEvent({ type: "session.lost", namespaceId, sessionId, name, runs });
    }
  }
}
