import { uuidV7Of } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type HistoryDay,
  type ListDirection,
  type ListPlace,
  type ListPart,
  type Stretch,
  dayMs,
  maxDaysAtOnce,
  orderOf,
  walkDays,
} from "../../../src/history/history-days.js";
import { clockSlackMs } from "../../../src/runs/run-filter.js";

interface Run {
  readonly id: string;
  readonly endedAt: number;
}

const dayCount = 40;
const end = dayCount * dayMs;
/** Days of which the first id is not known, as the newest are. */
const unsettled = 2;

/** Runs that end on any day, soon after they were made or long after; and, by a clock that is off, a little before. */
const runs = fc.array(
  fc.record({
    endedAt: fc.integer({ min: 0, max: end - 1 }),
    lag: fc.oneof(fc.integer({ min: -clockSlackMs + 1, max: dayMs / 24 }), fc.integer({ min: 0, max: 30 * dayMs })),
  }),
  { maxLength: 60 },
);

function toRuns(drawn: readonly { endedAt: number; lag: number }[]): Run[] {
  return drawn.map(({ endedAt, lag }, n) => ({ id: uuidV7Of(1e12 + endedAt - lag, 0, 0, n), endedAt: 1e12 + endedAt }));
}

const first = Math.floor(1e12 / dayMs) * dayMs;

function daysOf(all: readonly Run[]): HistoryDay[] {
  return Array.from({ length: dayCount + 1 }, (_, n) => first + n * dayMs).flatMap((start, n) => {
    if (n > dayCount - unsettled) return [{ start, firstId: null }];
    const ids = all.filter((run) => run.endedAt >= start && run.endedAt < start + dayMs).map((run) => run.id);
    return ids.length === 0 ? [] : [{ start, firstId: ids.toSorted()[0] ?? null }];
  });
}

interface How {
  readonly direction: ListDirection;
  readonly limit: number;
  readonly maxDays: number;
  /** Rows that one statement scans. */
  readonly maxScanned: number;
  readonly isLate: () => boolean;
}

/** All pages of the list, and the number of days that each statement scanned. */
async function readAll(all: readonly Run[], { direction, limit, maxDays, maxScanned, isLate }: How) {
  const order = orderOf(direction);
  const pages: Run[][] = [];
  const spans: number[] = [];
  for (let after: string | null = null; ;) {
    const place: ListPlace = { after, limit, direction };
    const page: ListPart<Run> = await walkDays<Run>(daysOf(all), {
      place,
      maxDays,
      isLate,
      scan: ({ from, before, until }) => {
        spans.push((before - from) / dayMs);
        const within = all.filter((run) => run.endedAt >= from && run.endedAt < before);
        const wanted = within.filter(({ id }) => until === null || !order.isBefore(until, id));
        const ahead = wanted.filter(({ id }) => place.after === null || order.isBefore(place.after, id));
        const scanned = ahead.toSorted((a, b) => (order.isBefore(a.id, b.id) ? -1 : 1)).slice(0, maxScanned);
        const stop = scanned.length === maxScanned ? (scanned.at(-1)?.id ?? null) : null;
        return Promise.resolve(order.upTo(stop, scanned, limit));
      },
    });
    pages.push([...page.rows]);
    if (page.edge === null) return { pages, spans };
    if (after !== null && !order.isBefore(after, page.edge)) throw new Error(`no page comes after ${after}`);
    after = page.edge;
  }
}

describe("a list that is scanned day by day", () => {
  const how = fc.record({
    direction: fc.constantFrom<ListDirection>("newest_first", "oldest_first"),
    limit: fc.integer({ min: 1, max: 12 }),
    maxDays: fc.integer({ min: 1, max: 16 }),
    maxScanned: fc.integer({ min: 1, max: 40 }),
    late: fc.boolean(),
  });

  it("the pages of a list have each run once and in order, whenever runs end and scans stop", async () => {
    await fc.assert(
      fc.asyncProperty(runs, how, async (drawn, { late, ...rest }) => {
        const all = toRuns(drawn);
        const { pages, spans } = await readAll(all, { ...rest, isLate: () => late });
        const { isBefore } = orderOf(rest.direction);
        const expected = all.map((run) => run.id).toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
        expect(pages.flat().map((run) => run.id)).toEqual(expected);
        expect(Math.max(0, ...spans)).toBeLessThanOrEqual(maxDaysAtOnce);
      }),
      { numRuns: 200 },
    );
  });

  it("a list within its time budget has full pages but for the last", async () => {
    await fc.assert(
      fc.asyncProperty(runs, how, async (drawn, { direction, limit, maxDays }) => {
        const never = { isLate: () => false, maxScanned: 1_000 };
        const { pages } = await readAll(toRuns(drawn), { direction, limit, maxDays, ...never });
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
      }),
      { numRuns: 100 },
    );
  });
});

describe("a page deep in a list", () => {
  const day = (n: number): number => first + n * dayMs;
  const idIn = (n: number): string => uuidV7Of(day(n) + dayMs / 2, 0, 0, 0);
  const punctual = Array.from({ length: dayCount }, (_, n) => ({
    start: day(n),
    firstId: n > dayCount - 1 - unsettled ? null : idIn(n),
  }));

  /** The days that are scanned for a page; by default it is full after the first scan. */
  async function scannedFor(days: readonly HistoryDay[], place: ListPlace, isFull = true): Promise<Stretch[]> {
    const stretches: Stretch[] = [];
    const full = Array.from({ length: place.limit }, (_, n) => ({ id: uuidV7Of(day(10) + dayMs / 2, 0, 0, n) }));
    const rows = place.direction === "newest_first" ? full.map(() => ({ id: idIn(9) })) : full;
    await walkDays(days, {
      place,
      maxDays: 16,
      isLate: () => false,
      scan: (stretch) => {
        stretches.push(stretch);
        return Promise.resolve({ rows: isFull && stretches.length === 1 ? rows : [], edge: null });
      },
    });
    return stretches;
  }

  it("a page newest first begins with its own day, and skips the days whose runs are all before it", async () => {
    const place = { after: idIn(10), limit: 5, direction: "newest_first" } as const;
    const stretches = await scannedFor(punctual, place);
    expect(stretches.map(({ from, before }) => [from, before])).toEqual([
      [day(8), day(11)],
      [day(38), day(40)],
    ]);
  });

  it("a page oldest first begins with its own day, and ends with the days whose first id is not known", async () => {
    const place = { after: idIn(9), limit: 5, direction: "oldest_first" } as const;
    const stretches = await scannedFor(punctual, place);
    expect(stretches.map(({ from, before }) => [from, before])).toEqual([
      [day(9), day(12)],
      [day(38), day(40)],
    ]);
  });

  it("a full page scans the days aside only up to its last row", async () => {
    const late = punctual.map(({ start }) => ({ start, firstId: start > day(35) ? null : idIn(0) }));
    const place = { after: idIn(10), limit: 5, direction: "newest_first" } as const;
    const [own, ...aside] = await scannedFor(late, place);
    expect(own?.until).toBeNull();
    expect(aside.map(({ until }) => until)).toEqual([idIn(9), idIn(9)]);
    expect((await scannedFor(late, place, false)).map(({ until }) => until)).toEqual(Array(5).fill(null));
  });

  it("a page that another part of the list ends scans no day without rows before that end", async () => {
    const until = uuidV7Of(day(10) + dayMs / 4, 0, 0, 0);
    const place = { after: idIn(10), limit: 5, direction: "newest_first", until } as const;
    const stretches = await scannedFor(punctual, place, false);
    expect(stretches.map((one) => [one.from, one.before, one.until])).toEqual([
      [day(10), day(11), until],
      [day(38), day(40), until],
    ]);
  });
});
