import type { Instant } from "@carillon/core";
import type { DayPartitions } from "@carillon/store";

const daysAhead = 14;
const dayMs = 86_400_000;

/** Sees to it that the days of a table exist before the first row of that day is written, and that old ones go. */
export class DayKeeper {
  readonly #days: DayPartitions;
  readonly #now: () => Instant;
  readonly #keepDays: number;

  /** `keepDays`: how many days before today stay. */
  constructor(days: DayPartitions, now: () => Instant, keepDays: number) {
    this.#days = days;
    this.#now = now;
    this.#keepDays = keepDays;
  }

  /** From yesterday, because the database's clock may stand a little behind. Answers how many days were made. */
  async tick(): Promise<number> {
    const made = await this.#days.ensure(this.#now() - dayMs, daysAhead + 1);
    await this.#days.drop(this.#now() - this.#keepDays * dayMs);
    return made;
  }
}
