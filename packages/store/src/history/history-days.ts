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

/** Statements over more days than this are not sent: each day costs them planning, and a lock for each of its indexes. */
export const maxDaysAtOnce = 16;
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
    for (let at = 0; at < starts.length; at += maxDaysAtOnce) {
      const days = starts.slice(at, at + maxDaysAtOnce);
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

/** Some days one after the other, which one statement looks through. */
export interface Stretch {
  readonly from: Instant;
  readonly before: Instant;
  /** What lies beyond this id in the list's order is not for this page. null: nothing is known to be. */
  readonly until: string | null;
}

export interface Walk<Row> {
  readonly place: ListPlace;
  /** How many of the days in the list's order one statement looks through at most. */
  readonly mostDays: number;
  readonly look: (stretch: Stretch) => Promise<Looked<Row>>;
  /** Whether the page has taken so long that it is better short than late, where so many days have to be looked at in any case. */
  readonly isLate: (daysToCome: number) => boolean;
}

/** Most pages are full with the first; then the statements grow, so that there are few of them. */
const spans = [3, 3, 8];

/**
 * A page from the days of history. A run ends after its id was made, and never mind how long after. So the page is looked for in the
 * list's order first, from its own day on, until it is full, a look was stopped, or it gets late. By then it is known how far it reaches
 * at most, and the days aside, on which runs ended long after they were made, are asked for what lies before that. The page says how
 * far everything was looked at, and that is farther than where it began.
 */
export async function walkDays<Row extends { readonly id: string }>(
  days: readonly HistoryDay[],
  { place, mostDays, look, isLate }: Walk<Row>,
): Promise<Looked<Row>> {
  const { inOrder, aside } = orderedDays(days, place);
  const page = new PageSoFar<Row>(place);
  const lookAt = async (some: readonly HistoryDay[], span: number): Promise<HistoryDay[]> => {
    const length = stretchLength(some, span);
    const starts = some.slice(0, length).map((day) => day.start);
    page.add(await look({ from: Math.min(...starts), before: Math.max(...starts) + dayMs, until: page.edge }));
    return page.reached(some.slice(length));
  };
  let left = page.reached(inOrder);
  for (let turn = 0; left.length > 0; turn++) {
    left = await lookAt(left, Math.min(spans[turn] ?? mostDays, mostDays));
    if (isLate(aside.length) && page.endBefore(left)) break;
  }
  for (left = page.reached(aside); left.length > 0;) {
    left = await lookAt(left, maxDaysAtOnce);
  }
  return page.looked();
}

interface OrderedDays {
  readonly inOrder: HistoryDay[];
  /** These may hold ids from anywhere in the page. */
  readonly aside: HistoryDay[];
}

/**
 * Newest first, a day holds no id from after its end: the days after the page's own stand aside, without those that have no id before
 * it. Oldest first, a day holds no id before its first; the newest, of which that is not known, stand aside.
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

/** A page that was looked for so long is better short than late: what it found is shown, and the next page goes on from there. */
const pageTimeMs = 25;
/** What it takes to look at a day that has next to nothing for the page. */
const dayTakesMs = 0.15;

/**
 * Says, after each step, whether it gets late: whether another step that takes as long as the last would end beyond the patience. `now`: the
 * database's clock. `daysToCome`: so many days have to be looked at in any case, and time is kept for them.
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
  /** A page of what is not beyond the edge. A full one ends with its last row. */
  upTo<Row extends { readonly id: string }>(edge: string | null, rows: readonly Row[], limit: number): Looked<Row>;
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
  /** What lies beyond this id is not wanted: another part of the list reaches no farther. */
  readonly until?: string | null;
}

/** Rows of one table in the list's order, and how far it was looked: null when there is nothing beyond. */
export interface Looked<Row> {
  readonly rows: readonly Row[];
  readonly edge: string | null;
}

/** Rows that one page looks through where no index serves all of its filter. */
export const maxScanned = 10_000;

const lowestId = "00000000-0000-0000-0000-000000000000";

/** What was found for a page in some of the days that it may have rows in, and how far it reaches at most. */
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

  /** Nothing beyond this id comes into the page. null: nothing is known to lie beyond it. */
  get edge(): string | null {
    return this.#edge;
  }

  /** What one look found. A page that is full ends with its last row, one that was stopped where it was stopped. */
  add({ rows, edge }: Looked<Row>): void {
    this.#cut(this.#order.nearer(this.#edge, edge), [...this.#rows, ...rows]);
  }

  /** Those of the days that may hold rows of the page. */
  reached(days: readonly HistoryDay[]): HistoryDay[] {
    const edge = this.#edge;
    return days.filter((day) => edge === null || !this.#order.isBefore(edge, this.#nearestIn(day)));
  }

  /** Ends the page before what these days hold. False: it would be no farther than where it began. */
  endBefore(days: readonly HistoryDay[]): boolean {
    const edge = days
      .map((day) => this.#nearestIn(day))
      .reduce<string | null>((nearest, id) => this.#order.nearer(nearest, id), null);
    const { after } = this.#place;
    if (edge === null || (after !== null && !this.#order.isBefore(after, edge))) return false;
    this.#cut(this.#order.nearer(this.#edge, edge), this.#rows);
    return true;
  }

  looked(): Looked<Row> {
    return { rows: this.#rows, edge: this.#edge };
  }

  #cut(edge: string | null, rows: readonly Row[]): void {
    const page = this.#order.upTo(edge, rows, this.#place.limit);
    this.#rows = page.rows;
    this.#edge = page.edge;
  }

  /** An id before all that a day may hold, in the list's order. */
  #nearestIn(day: HistoryDay): string {
    if (this.#place.direction === "newest_first") return uuidV7Of(idsEnd(day), 0, 0, 0);
    return day.firstId === null ? lowestId : uuidV7Of(Math.max(0, timeOfUuid(day.firstId) - 1), 0, 0, 0);
  }
}
