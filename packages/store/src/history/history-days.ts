import { type Instant, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { ListPlace } from "./list-direction.js";
import { clockSlackMs } from "../runs/run-filter-params.js";

export const dayMs = 86_400_000;

/** A day of history. */
export interface HistoryDay {
  readonly start: Instant;
  /** No run that ended on this day has a lower id. null where that is not known. */
  readonly firstId: string | null;
}

export interface HistoryDaysOptions {
  readonly db: Queryable;
  readonly statements: Statements;
  readonly schema: string;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** Statements over more days than this are not sent: each day costs them planning, and a lock for each of its indexes. */
export const mostDaysAtOnce = 16;
/** For so long it is believed which day is the oldest: none is made before it. */
const oldestForMs = 60_000;

/**
 * The days of run_history, as a search needs them: which there are, and from which id on each has runs. Nothing is added to a day that
 * ended a day ago, so that what was once read of it holds for as long as it is there.
 */
export class HistoryDays {
  readonly #options: HistoryDaysOptions;
  /** Of settled days; null where no run ended. */
  readonly #firstIds = new Map<Instant, string | null>();
  #oldest: { readonly start: Instant; readonly until: Instant } | null = null;

  constructor(options: HistoryDaysOptions) {
    this.#options = options;
  }

  /**
   * The days on which runs may have ended from an instant on, the oldest first. The end of a run is never in the future. `on`: who is
   * inside a transaction asks by it.
   */
  async since(earliest: Instant, on: Queryable = this.#options.db): Promise<Instant[]> {
    const first = dayOf(Math.max(earliest, await this.#oldestDay(on)));
    const last = dayOf(this.#options.now() + clockSlackMs);
    return Array.from({ length: Math.max(0, (last - first) / dayMs + 1) }, (_, at) => first + at * dayMs);
  }

  /** Those that a page may have to be looked for in. From which id on a day has runs is asked where the day may be left out for it. */
  async for({ after, direction }: ListPlace, earliest: Instant): Promise<HistoryDay[]> {
    const starts = await this.since(earliest);
    if (direction === "oldest_first") return this.#withFirstIds(starts);
    const ownDay = after === null ? Infinity : dayOf(timeOfUuid(after));
    const older = starts.filter((start) => start <= ownDay).map((start) => ({ start, firstId: null }));
    return [...older, ...(await this.#withFirstIds(starts.filter((start) => start > ownDay)))];
  }

  /** Without those on which no run ended. Of the newest days nothing is known. */
  async #withFirstIds(starts: readonly Instant[]): Promise<HistoryDay[]> {
    await this.#learn(starts.filter((start) => this.isSettled(start) && !this.#firstIds.has(start)));
    return starts.flatMap((start) => {
      const firstId = this.#firstIds.get(start);
      return firstId === null ? [] : [{ start, firstId: firstId ?? null }];
    });
  }

  /** Whether nothing is added to a day any more. */
  isSettled(start: Instant): boolean {
    return start + 2 * dayMs <= this.#options.now();
  }

  async #learn(starts: readonly Instant[]): Promise<void> {
    const { db, statements } = this.#options;
    for (let at = 0; at < starts.length; at += mostDaysAtOnce) {
      const days = starts.slice(at, at + mostDaysAtOnce);
      const params = days.map((start) => timestampParam(start));
      const end = timestampParam((days.at(-1) ?? 0) + dayMs);
      // Planned for its days, so that it has no other days in it.
      const { text } = statements.get("history.first_ids");
      const { rows } = await db.query<{ day: Instant; id: string }>({ text }, [params, params[0], end]);
      const idOf = new Map(rows.map((row) => [row.day, row.id]));
      for (const start of days) this.#firstIds.set(start, idOf.get(start) ?? null);
    }
  }

  async #oldestDay(on: Queryable): Promise<Instant> {
    const { statements, schema, now } = this.#options;
    if (this.#oldest !== null && now() < this.#oldest.until) return this.#oldest.start;
    const { rows } = await on.query<{ name: string }>(statements.get("history.partitions"), [schema, "run_history"]);
    const starts = rows.flatMap(({ name }) => startOf(name));
    const start = Math.min(dayOf(now()), ...starts);
    this.#oldest = { start, until: now() + oldestForMs };
    for (const day of this.#firstIds.keys()) if (day < start) this.#firstIds.delete(day);
    return start;
  }
}

export function dayOf(instant: Instant): Instant {
  return Math.floor(instant / dayMs) * dayMs;
}

/** No id of a run that ended on this day is from this instant or later. */
export function idsEnd({ start }: HistoryDay): Instant {
  return start + dayMs + clockSlackMs;
}

/** run_history_20260801 begins at that day's midnight UTC. */
function startOf(name: string): Instant[] {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return day === undefined ? [] : [Date.UTC(Number(year), Number(month) - 1, Number(day))];
}
