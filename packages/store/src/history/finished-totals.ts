import type { Instant } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statement } from "../sql/statement.js";
import { dayMs, type HistoryDays, mostDaysAtOnce } from "./history-days.js";
import { countRows, estimateRows } from "./row-estimates.js";
import { earliestEnd, type RunListFilter, runFilterParams } from "../runs/run-filter-params.js";

/** How many there are; where not all were counted, there are at least so many. */
export interface Counted {
  readonly count: number;
  readonly isWhole: boolean;
}

export interface FinishedTotalsOptions {
  readonly db: Queryable;
  /** history.matches */
  readonly matches: Statement;
  readonly days: HistoryDays;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** A count that took so long is given as far as it came. */
const patienceMs = 3_000;

/** How many finished runs match a filter, some days at a time, the newest first. */
export class FinishedTotals {
  readonly #options: FinishedTotalsOptions;

  constructor(options: FinishedTotalsOptions) {
    this.#options = options;
  }

  /** By the planner's statistics. */
  async estimate(namespaceId: number, filter: RunListFilter): Promise<number> {
    const { db, matches } = this.#options;
    let count = 0;
    for (const days of await this.#stretches(filter)) {
      count += await estimateRows(db, matches, [namespaceId, ...runFilterParams(filter), ...days, null]);
    }
    return count;
  }

  async count(namespaceId: number, filter: RunListFilter, most: number): Promise<Counted> {
    const { db, matches, now } = this.#options;
    const lateFrom = now() + patienceMs;
    let count = 0;
    for (const days of await this.#stretches(filter)) {
      if (count >= most || now() >= lateFrom) return { count, isWhole: false };
      count += await countRows(db, matches, [namespaceId, ...runFilterParams(filter), ...days, most - count]);
    }
    return { count, isWhole: count < most };
  }

  async #stretches(filter: RunListFilter): Promise<[from: string, before: string][]> {
    const starts = (await this.#options.days.since(earliestEnd(filter) ?? 0)).toReversed();
    const stretches: [string, string][] = [];
    for (let at = 0; at < starts.length; at += mostDaysAtOnce) {
      const days = starts.slice(at, at + mostDaysAtOnce);
      stretches.push([timestampParam(days.at(-1) ?? 0), timestampParam((days[0] ?? 0) + dayMs)]);
    }
    return stretches;
  }
}
