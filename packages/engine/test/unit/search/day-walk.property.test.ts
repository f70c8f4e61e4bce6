import { uuidV7Of } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { orderOf, stretchesOf, walkStretches } from "../../../src/store/entities/day-walk.js";
import { dayMs, type HistoryDay } from "../../../src/store/entities/history-days.js";
import type { ListDirection, ListPlace, Looked } from "../../../src/store/entities/list-direction.js";
import { clockSlackMs } from "../../../src/store/entities/run-filter-params.js";

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
    const page: Looked<Run> = await walkStretches<Run>(stretchesOf(daysOf(all), place, mostDays), {
      place,
      isLate,
      look: ({ from, before }) => {
        spans.push((before - from) / dayMs);
        const within = all.filter((run) => run.endedAt >= from && run.endedAt < before);
        const ahead = within.filter(({ id }) => place.after === null || order.isBefore(place.after, id));
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
        expect(Math.max(0, ...spans)).toBeLessThanOrEqual(Math.max(rest.mostDays, 1));
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

  it("newest first leaves out the days whose runs all come before it", () => {
    const [newest, next] = stretchesOf(punctual, { after: idIn(10), limit: 50, direction: "newest_first" }, 16);
    expect([newest?.from, newest?.before]).toEqual([day(38), day(40)]);
    expect(next?.before).toBe(day(10));
  });

  it("oldest first begins with the days of which nothing is known, then with its own", () => {
    const [newest, next] = stretchesOf(punctual, { after: idIn(10), limit: 50, direction: "oldest_first" }, 16);
    expect([newest?.from, newest?.before]).toEqual([day(38), day(40)]);
    expect(next?.from).toBe(day(10));
  });
});
