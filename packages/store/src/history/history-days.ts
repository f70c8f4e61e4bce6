import { type Instant, timeOfUuid, uuidV7Of } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { clockSlackMs } from "../runs/run-filter.js";
import type { Statements } from "../sql/statements.js";

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

/** The most days of one statement: each day costs it planning, and a lock for each of its indexes. */
export const maxDaysAtOnce = 16;
/** How long the oldest day is cached: no day is created before it. */
const oldestForMs = 60_000;

/**
 * The days of run_history, as a search needs them: which exist, and from which id on each has runs. No run is added to a day that ended a
 * day ago, so that its first id is cached for as long as it exists.
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
   * The days on which runs may have ended from an instant on, the oldest first. The end of a run is never in the future. `on`: the transaction
   * of a caller that has one.
   */
  async since(earliest: Instant, on: Queryable = this.#options.db): Promise<Instant[]> {
    const first = dayOf(Math.max(earliest, await this.#oldestDay(on)));
    const last = dayOf(this.#options.now() + clockSlackMs);
    return Array.from({ length: Math.max(0, (last - first) / dayMs + 1) }, (_, at) => first + at * dayMs);
  }

  /** The days that may hold rows of a page, with their first ids where a day may be skipped for it. */
  async for({ after, direction }: ListPlace, earliest: Instant): Promise<HistoryDay[]> {
    const starts = await this.since(earliest);
    if (direction === "oldest_first") return this.#withFirstIds(starts);
    const ownDay = after === null ? Infinity : dayOf(timeOfUuid(after));
    const older = starts.filter((start) => start <= ownDay).map((start) => ({ start, firstId: null }));
    return [...older, ...(await this.#withFirstIds(starts.filter((start) => start > ownDay)))];
  }

  /** Without the days on which no run ended. The first ids of the newest days are not known. */
  async #withFirstIds(starts: readonly Instant[]): Promise<HistoryDay[]> {
    await this.#learn(starts.filter((start) => this.isSettled(start) && !this.#firstIds.has(start)));
    return starts.flatMap((start) => {
      const firstId = this.#firstIds.get(start);
      return firstId === null ? [] : [{ start, firstId: firstId ?? null }];
    });
  }

  /** Whether no run is added to the day any more. */
  isSettled(start: Instant): boolean {
    return start + 2 * dayMs <= this.#options.now();
  }

  async #learn(starts: readonly Instant[]): Promise<void> {
    const { db, statements } = this.#options;
    for (let at = 0; at < starts.length; at += maxDaysAtOnce) {
      const days = starts.slice(at, at + maxDaysAtOnce);
      const params = days.map((start) => timestampParam(start));
      const end = timestampParam((days.at(-1) ?? 0) + dayMs);
      // Sent without a name, so that it is planned for its days alone.
      const firstIds = statements.get("history.first_ids");
      const values = firstIds.values({ days: params, from: params[0], before: end });
      const { rows } = await db.query<{ day: Instant; id: string }>({ text: firstIds.text }, values);
      const idOf = new Map(rows.map((row) => [row.day, row.id]));
      for (const start of days) this.#firstIds.set(start, idOf.get(start) ?? null);
    }
  }

  async #oldestDay(on: Queryable): Promise<Instant> {
    const { statements, schema, now } = this.#options;
    if (this.#oldest !== null && now() < this.#oldest.until) return this.#oldest.start;
    const list = statements.get("history.partitions");
    const { rows } = await on.query<{ name: string }>(list, list.values({ schema, table: "run_history" }));
    const starts = rows.flatMap(({ name }) => startOf(name));
    const start = Math.min(dayOf(now()), ...starts);
    this.#oldest = { start, until: now() + oldestForMs };
    for (const day of this.#firstIds.keys()) if (day < start) this.#firstIds.delete(day);
    return start;
  }
}

function dayOf(instant: Instant): Instant {
  return Math.floor(instant / dayMs) * dayMs;
}

/** No id of a run that ended on this day is from this instant or later. */
function idsEnd({ start }: HistoryDay): Instant {
  return start + dayMs + clockSlackMs;
}

/** run_history_20260801 begins at that day's midnight UTC. */
function startOf(name: string): Instant[] {
  const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? [];
  return day === undefined ? [] : [Date.UTC(Number(year), Number(month) - 1, Number(day))];
}

/** Successive days that one statement scans. */
export interface Stretch {
  readonly from: Instant;
  readonly before: Instant;
  /** The page ends at this id, in the list's order. null: no end is known. */
  readonly until: string | null;
}

export interface Walk<Row> {
  readonly place: ListPlace;
  /** The days in the list's order that one statement scans. */
  readonly maxDays: number;
  readonly scan: (stretch: Stretch) => Promise<ListPart<Row>>;
  /** Whether the time budget of the page is spent, given that so many days must still be scanned. */
  readonly isLate: (daysToCome: number) => boolean;
}

/** Most pages are full with the first; then the statements grow, so that there are few of them. */
const spans = [3, 3, 8];

/**
 * A page from the days of history. A run ends after its id was made, possibly long after. So the days are scanned in the list's order first,
 * from the page's own day on, until the page is full, a scan stops at its bound, or the time budget is spent. Then the page's end is known, and
 * the other days, on which runs ended long after they were created, are scanned up to it. The page returns the end up to which all days were
 * scanned, which is beyond its begin.
 */
export async function walkDays<Row extends { readonly id: string }>(
  days: readonly HistoryDay[],
  { place, maxDays, scan, isLate }: Walk<Row>,
): Promise<ListPart<Row>> {
  const { inOrder, aside } = orderedDays(days, place);
  const page = new PageSoFar<Row>(place);
  const scanDays = async (some: readonly HistoryDay[], span: number): Promise<HistoryDay[]> => {
    const length = stretchLength(some, span);
    const starts = some.slice(0, length).map((day) => day.start);
    page.add(await scan({ from: Math.min(...starts), before: Math.max(...starts) + dayMs, until: page.edge }));
    return page.reached(some.slice(length));
  };
  let left = page.reached(inOrder);
  for (let turn = 0; left.length > 0; turn++) {
    left = await scanDays(left, Math.min(spans[turn] ?? maxDays, maxDays));
    if (isLate(aside.length) && page.endBefore(left)) break;
  }
  for (left = page.reached(aside); left.length > 0;) {
    left = await scanDays(left, maxDaysAtOnce);
  }
  return page.part();
}

interface OrderedDays {
  readonly inOrder: HistoryDay[];
  /** These may hold ids from anywhere in the page. */
  readonly aside: HistoryDay[];
}

/**
 * Newest first, a day holds no id from after its end: the days after the page's own are aside, without those that have no id before it. Oldest
 * first, a day holds no id before its first; the newest days, whose first id is not known, are aside.
 */
function orderedDays(days: readonly HistoryDay[], { after, direction }: ListPlace): OrderedDays {
  const ascending = days.toSorted((a, b) => a.start - b.start);
  if (direction === "oldest_first") {
    const beyond = ascending.filter((day) => after === null || timeOfUuid(after) < idsEnd(day));
    return {
      inOrder: beyond.filter(({ firstId }) => firstId !== null),
      aside: beyond.filter(({ firstId }) => firstId === null),
    };
  }
  const ownDay = after === null ? Infinity : dayOf(timeOfUuid(after));
  return {
    inOrder: ascending.filter(({ start }) => start <= ownDay).toReversed(),
    aside: ascending.filter(
      ({ start, firstId }) => start > ownDay && (firstId === null || after === null || firstId < after),
    ),
  };
}

/** How many of the days lie within the span. */
function stretchLength(days: readonly HistoryDay[], span: number): number {
  const first = days[0]?.start ?? 0;
  const beyond = days.findIndex(({ start }) => Math.abs(start - first) >= span * dayMs);
  return beyond === -1 ? days.length : beyond;
}

/** A page that takes longer is returned short, and the next page goes on from there. */
const pageTimeMs = 25;
/** The time to scan a day that has almost no rows for the page. */
const dayTakesMs = 0.15;

/**
 * Starts the time budget of a page. The returned function says, after each step, whether another step as long as the last would exceed it. `now`:
 * the database's clock. `daysToCome`: days that must be scanned in any case, for which time is reserved.
 */
export function startTimeBudget(now: () => Instant): (daysToCome?: number) => boolean {
  let stepFrom = now();
  const lateFrom = stepFrom + pageTimeMs;
  return (daysToCome = 0) => {
    const at = now();
    const endOfNext = at + (at - stepFrom);
    stepFrom = at;
    return endOfNext >= lateFrom - daysToCome * dayTakesMs;
  };
}

/** How ids follow each other in a list. */
export interface ListOrder {
  isBefore(a: string, b: string): boolean;
  /** The nearer of two edges. */
  nearer(a: string | null, b: string | null): string | null;
  /** A page of the rows up to the edge. A full page ends with its last row. */
  upTo<Row extends { readonly id: string }>(edge: string | null, rows: readonly Row[], limit: number): ListPart<Row>;
}

export function orderOf(direction: ListDirection): ListOrder {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  return {
    isBefore,
    nearer: (a, b) => (a === null || (b !== null && isBefore(b, a)) ? b : a),
    upTo(edge, found, limit) {
      const whole = found.filter(({ id }) => edge === null || !isBefore(edge, id));
      const rows = whole.toSorted((a, b) => (isBefore(a.id, b.id) ? -1 : 1)).slice(0, limit);
      return { rows, edge: rows.length >= limit ? (rows.at(-1)?.id ?? null) : edge };
    },
  };
}

/** Lists are in the order in which their rows were made: ids begin with the time. */
export type ListDirection = "newest_first" | "oldest_first";

/** Where in a list a page begins, and how many rows it wants. */
export interface ListPlace {
  /** The last row before it; null at the begin of the list. */
  readonly after: string | null;
  readonly limit: number;
  readonly direction: ListDirection;
  /** The page ends at this id, because another part of the list does. */
  readonly until?: string | null;
}

/** Rows of one table in the list's order. `edge`: the id up to which it was scanned; null at the end of the table. */
export interface ListPart<Row> {
  readonly rows: readonly Row[];
  readonly edge: string | null;
}

/** Rows that one page scans if no index covers all of its filter. */
export const maxScanned = 10_000;

const lowestId = "00000000-0000-0000-0000-000000000000";

/** The rows of a page from the days that were scanned so far, and its end. */
class PageSoFar<Row extends { readonly id: string }> {
  readonly #place: ListPlace;
  readonly #order: ListOrder;
  #rows: readonly Row[] = [];
  #edge: string | null;

  constructor(place: ListPlace) {
    this.#place = place;
    this.#edge = place.until ?? null;
    this.#order = orderOf(place.direction);
  }

  /** The page ends at this id. null: no end is known. */
  get edge(): string | null {
    return this.#edge;
  }

  /** Adds the rows of a scan. A full page ends with its last row, one whose scan stopped where it stopped. */
  add({ rows, edge }: ListPart<Row>): void {
    this.#cut(this.#order.nearer(this.#edge, edge), [...this.#rows, ...rows]);
  }

  /** The days that may hold rows of the page. */
  reached(days: readonly HistoryDay[]): HistoryDay[] {
    const edge = this.#edge;
    return days.filter((day) => edge === null || !this.#order.isBefore(edge, this.#nearestIn(day)));
  }

  /** Ends the page before the rows of these days. False: it would end where it began. */
  endBefore(days: readonly HistoryDay[]): boolean {
    const edge = days
      .map((day) => this.#nearestIn(day))
      .reduce<string | null>((nearest, id) => this.#order.nearer(nearest, id), null);
    const { after } = this.#place;
    if (edge === null || (after !== null && !this.#order.isBefore(after, edge))) return false;
    this.#cut(this.#order.nearer(this.#edge, edge), this.#rows);
    return true;
  }

  part(): ListPart<Row> {
    return { rows: this.#rows, edge: this.#edge };
  }

  #cut(edge: string | null, rows: readonly Row[]): void {
    const page = this.#order.upTo(edge, rows, this.#place.limit);
    this.#rows = page.rows;
    this.#edge = page.edge;
  }

  /** An id before all ids of the day, in the list's order. */
  #nearestIn(day: HistoryDay): string {
    if (this.#place.direction === "newest_first") return uuidV7Of(idsEnd(day), 0, 0, 0);
    return day.firstId === null ? lowestId : uuidV7Of(Math.max(0, timeOfUuid(day.firstId) - 1), 0, 0, 0);
  }
}
