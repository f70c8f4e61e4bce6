import { TimingWheel } from "../wheel/timing-wheel.js";
import type { Clock, Timers } from "./clock.js";
import type { DurationMs, Instant } from "./instant.js";

/** Lets the work of a fired timer proceed before the next one fires. */
type Settle = () => Promise<void>;

/** A clock that stands still until a test moves it. Timers fire, in order, when it moves past them. */
export class ManualClock implements Clock, Timers {
  #now: Instant;
  #monotonic: DurationMs = 0;
  readonly #wheel = new TimingWheel<() => void>({ startMs: 0 });

  constructor(now: Instant = 0) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now;
  }

  monotonic(): DurationMs {
    return this.#monotonic;
  }

  /** The number of set timers. */
  get pending(): number {
    return this.#wheel.size;
  }

  setTimeout(callback: () => void, delayMs: DurationMs): number {
    return this.#wheel.insert(this.#monotonic + Math.max(0, delayMs), callback);
  }

  clearTimeout(timer: unknown): void {
    if (typeof timer === "number") this.#wheel.cancel(timer);
  }

  /** Advances both clocks. A timer fires at its own time; a timer that it sets fires too, if it is due by the end. */
  advance(byMs: DurationMs): void {
    for (const callback of this.#firing(byMs)) callback();
  }

  /** Advances both clocks and lets promises proceed after each timer; by default for some turns of the microtask queue. */
  async advanceAsync(byMs: DurationMs, settle: Settle = someTurns): Promise<void> {
    await settle();
    for (const callback of this.#firing(byMs)) {
      callback();
      await settle();
    }
  }

  /** Moves the wall clock alone, forwards or back, as an operator or a time server does. */
  jump(byMs: DurationMs): void {
    this.#now += byMs;
  }

  *#firing(byMs: DurationMs): Generator<() => void> {
    if (!(byMs >= 0)) throw new RangeError(`Time advances by a positive duration, not by ${byMs}; see jump.`);
    const end = this.#monotonic + byMs;
    for (let due = this.#wheel.nextDue(); due !== -1 && due <= end; due = this.#wheel.nextDue()) {
      this.#moveTo(Math.max(due, this.#monotonic));
      yield* this.#wheel.advance(this.#monotonic, 1);
    }
    this.#moveTo(end);
  }

  #moveTo(monotonic: DurationMs): void {
    this.#now += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
