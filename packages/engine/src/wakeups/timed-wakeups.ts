import { type DurationMs, type Instant, type Timers, TimingWheel } from "@carillon/core";
import type { Queued } from "@carillon/store";

/** Where runs become claimable, and when. */
export interface TimedHint extends Omit<Queued, "id"> {
  readonly at: Instant;
}

export interface TimedHintsOptions {
  readonly timers: Timers;
  /** The database's clock, as this node knows it. */
  readonly now: () => Instant;
  /** The time of these has come. */
  readonly onDue: (hints: readonly TimedHint[]) => void;
}

/** Our clock may be ahead of the database's, which decides: so much later the lanes are looked at once more, all of that time together. */
const againMs: DurationMs = 20;

/** Keeps hints of runs that were queued ahead of their time until it comes. One that is lost is made up for by the gateway's full look, within a second. */
export class TimedHints {
  readonly #options: TimedHintsOptions;
  readonly #wheel: TimingWheel<TimedHint>;
  #told: TimedHint[] = [];
  #againAt: Instant = Number.POSITIVE_INFINITY;
  #timer: unknown = null;
  #timerAt: Instant = Number.POSITIVE_INFINITY;
  #isStopped = false;

  constructor(options: TimedHintsOptions) {
    this.#options = options;
    this.#wheel = new TimingWheel({ startMs: options.now() });
  }

  add(hints: readonly TimedHint[]): void {
    for (const hint of hints) this.#wheel.insert(hint.at, hint);
    this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  #look(): void {
    const { now, onDue } = this.#options;
    const at = now();
    const isAgain = at >= this.#againAt;
    const again = isAgain ? this.#told : [];
    const due = this.#wheel.advance(at);
    this.#told = isAgain ? due : this.#told.concat(due);
    if (isAgain) this.#againAt = Number.POSITIVE_INFINITY;
    if (due.length > 0) this.#againAt = Math.min(this.#againAt, at + againMs);
    if (due.length + again.length > 0) onDue(again.concat(due));
    this.#wait(at);
  }

  #wait(now: Instant): void {
    const { timers } = this.#options;
    const next = this.#wheel.nextDue();
    const at = Math.min(next === -1 ? Number.POSITIVE_INFINITY : next, this.#againAt);
    if (at === this.#timerAt || this.#isStopped) return;
    timers.clearTimeout(this.#timer);
    this.#timerAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#timer = timers.setTimeout(
      () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        this.#look();
      },
      Math.max(1, at - now),
    );
  }
}
