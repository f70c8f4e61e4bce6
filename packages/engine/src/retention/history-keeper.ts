import type { Instant } from "@carillon/core";
import type { HistoryDays } from "../store/entities/history-days.js";

const daysAhead = 14;
const dayMs = 86_400_000;

/** Sees to it that the days into which runs will end exist before the first run of that day ends. */
export class HistoryKeeper {
  readonly #days: HistoryDays;
  readonly #now: () => Instant;

  constructor(days: HistoryDays, now: () => Instant) {
    this.#days = days;
    this.#now = now;
  }

  /** From yesterday, because the database's clock may stand a little behind. Answers how many days were made. */
  tick(): Promise<number> {
    return this.#days.ensure(this.#now() - dayMs, daysAhead + 1);
  }
}
