import { type DurationMs, type Instant, type Timers, TimingWheel } from "@carillon/core";
import type { TimedLaneNotice } from "./lane-notices.js";

export interface TimedWakeupsOptions {
  readonly timers: Timers;
  /** The database's clock, as this node estimates it. */
  readonly now: () => Instant;
  /** Called with notices at their time. */
  readonly onDue: (notices: readonly TimedLaneNotice[]) => void;
}

/** This node's clock may be ahead of the database's, which decides. So all lanes of this interval are notified once more after it. */
const repeatMs: DurationMs = 20;

/** Keeps the notices of runs that were queued ahead of their time, until that time. The gateway's full scan finds the runs of a lost notice within a second. */
export class TimedWakeups {
  readonly #options: TimedWakeupsOptions;
  readonly #wheel: TimingWheel<TimedLaneNotice>;
  #delivered: TimedLaneNotice[] = [];
  #repeatAt: Instant = Number.POSITIVE_INFINITY;
  #timer: unknown = null;
  #timerAt: Instant = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: TimedWakeupsOptions) {
    this.#options = options;
    this.#wheel = new TimingWheel({ startMs: options.now() });
  }

  add(notices: readonly TimedLaneNotice[]): void {
    for (const notice of notices) this.#wheel.insert(notice.at, notice);
    this.#deliver();
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  #deliver(): void {
    const { now, onDue } = this.#options;
    const at = now();
    const isRepeat = at >= this.#repeatAt;
    const repeated = isRepeat ? this.#delivered : [];
    const due = this.#wheel.advance(at);
    this.#delivered = isRepeat ? due : this.#delivered.concat(due);
    if (isRepeat) this.#repeatAt = Number.POSITIVE_INFINITY;
    if (due.length > 0) this.#repeatAt = Math.min(this.#repeatAt, at + repeatMs);
    if (due.length + repeated.length > 0) onDue(repeated.concat(due));
    this.#schedule(at);
  }

  #schedule(now: Instant): void {
    const { timers } = this.#options;
    const next = this.#wheel.nextDue();
    const at = Math.min(next === -1 ? Number.POSITIVE_INFINITY : next, this.#repeatAt);
    if (at === this.#timerAt || this.#isStopped) return;
    timers.clearTimeout(this.#timer);
    this.#timerAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = timers.setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.#deliver();
      },
      Math.max(1, at - now),
    );
  }
}
