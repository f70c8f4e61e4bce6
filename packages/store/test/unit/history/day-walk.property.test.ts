import { uuidV7Of } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type HistoryDay,
  type ListDirection,
  type ListPlace,
  type Looked,
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
  readonly mostDays: number;
  /** More rows than this are not looked at in one stretch. */
  readonly mostLooked: number;
  readonly isLate: () => boolean;
}

/** Every page of the list, and how many days each statement looked through. */
async function readAll(all: readonly Run[], { direction, limit, mostDays, mostLooked, isLate }: How) {
  const order = orderOf(direction);
  const pages: Run[][] = [];
  const spans: number[] = [];
  for (let after: string | null = null; ;) {
    const place: ListPlace = { after, limit, direction };
    const page: Looked<Run> = await walkDays<Run>(daysOf(all), {
      place,
      mostDays,
      isLate,
      look: ({ from, before, until }) => {
        spans.push((before - from) / dayMs);
        const within = all.filter((run) => run.endedAt >= from && run.endedAt < before);
        const wanted = within.filter(({ id }) => until === null || !order.isBefore(until, id));
        const ahead = wanted.filter(({ id }) => place.after === null || order.isBefore(place.after, id));
        const looked = ahead.toSorted((a, b) => (order.isBefore(a.id, b.id) ? -1 : 1)).slice(0, mostLooked);
        const stop = looked.length === mostLooked ? (looked.at(-1)?.id ?? null) : null;
        return Promise.resolve(order.upTo(stop, looked, limit));
      },
    });
    pages.push([...page.rows]);
    if (page.edge === null) return { pages, spans };
    if (after !== null && !order.isBefore(after, page.edge)) throw new Error(`no page comes after ${after}`);
    after = page.edge;
  }
}

describe("a list that is looked for day by day", () => {
  const how = fc.record({
    direction: fc.constantFrom<ListDirection>("newest_first", "oldest_first"),
    limit: fc.integer({ min: 1, max: 12 }),
    mostDays: fc.integer({ min: 1, max: 16 }),
    mostLooked: fc.integer({ min: 1, max: 40 }),
    late: fc.boolean(),
  });

  it("has each run once and in order over all of its pages, whenever runs end and wherever a look stops", async () => {
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

  it("that is not late gives full pages but for the last", async () => {
    await fc.assert(
      fc.asyncProperty(runs, how, async (drawn, { direction, limit, mostDays }) => {
        const never = { isLate: () => false, mostLooked: 1_000 };
        const { pages } = await readAll(toRuns(drawn), { direction, limit, mostDays, ...never });
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

  /** Which days are looked at for a page that is full after the first look. */
  async function lookedAt(days: readonly HistoryDay[], place: ListPlace, isFull = true): Promise<Stretch[]> {
    const stretches: Stretch[] = [];
    const full = Array.from({ length: place.limit }, (_, n) => ({ id: uuidV7Of(day(10) + dayMs / 2, 0, 0, n) }));
    const rows = place.direction === "newest_first" ? full.map(() => ({ id: idIn(9) })) : full;
    await walkDays(days, {
      place,
      mostDays: 16,
      isLate: () => false,
      look: (stretch) => {
        stretches.push(stretch);
        return Promise.resolve({ rows: isFull && stretches.length === 1 ? rows : [], edge: null });
      },
    });
    return stretches;
  }

  it("newest first begins with its own day, and leaves out the days whose runs all come before it", async () => {
    const place = { after: idIn(10), limit: 5, direction: "newest_first" } as const;
    const stretches = await lookedAt(punctual, place);
    expect(stretches.map(({ from, before }) => [from, before])).toEqual([
      [day(8), day(11)],
      [day(38), day(40)],
    ]);
  });

  it("oldest first begins with its own day, and ends with the days of which nothing is known", async () => {
    const place = { after: idIn(9), limit: 5, direction: "oldest_first" } as const;
    const stretches = await lookedAt(punctual, place);
    expect(stretches.map(({ from, before }) => [from, before])).toEqual([
      [day(9), day(12)],
      [day(38), day(40)],
    ]);
  });

  it("that is full asks the days aside for nothing beyond its last row", async () => {
    const late = punctual.map(({ start }) => ({ start, firstId: start > day(35) ? null : idIn(0) }));
    const place = { after: idIn(10), limit: 5, direction: "newest_first" } as const;
    const [own, ...aside] = await lookedAt(late, place);
    expect(own?.until).toBeNull();
    expect(aside.map(({ until }) => until)).toEqual([idIn(9), idIn(9)]);
    expect((await lookedAt(late, place, false)).map(({ until }) => until)).toEqual(Array(5).fill(null));
  });

  it("of which another part ends sooner looks at no day that has nothing before that", async () => {
    const until = uuidV7Of(day(10) + dayMs / 4, 0, 0, 0);
    const place = { after: idIn(10), limit: 5, direction: "newest_first", until } as const;
    const stretches = await lookedAt(punctual, place, false);
    expect(stretches.map((one) => [one.from, one.before, one.until])).toEqual([
      [day(10), day(11), until],
      [day(38), day(40), until],
    ]);
  });
});
