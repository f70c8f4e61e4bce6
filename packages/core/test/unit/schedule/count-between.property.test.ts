import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import type { DayRule } from "../../../src/calendar/definition.js";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CompiledSchedule } from "../../../src/schedule/compiled.js";
import type { CalendarRule, CronSchedule, EverySchedule, Roll } from "../../../src/schedule/spec.js";
import { DAY_MS } from "../../../src/zone/civil.js";
import { resolveZone } from "../../../src/zone/zone.js";
import { dailyExpressions, dayMatches, dstPolicies, expressions, instantsIn } from "../cron/arbitraries.js";

/** Zones whose clocks jump at midnight, over midnight, by half an hour, by a day, twice around a month, or never. */
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Apia",
];
/** Maximum steps of a walk, since a search through a year of closed days is slow. */
const MAX_STEPS = { plain: 2_000, withCalendars: 200 };

const frequent = fc.constantFrom(
  "* * * * * *",
  "*/7 * * * * *",
  "* * * * *",
  "*/20 0-3,23 * * *",
  "0 * * * *",
  "30 0,2 * * *",
  "15 0,1,2,23 * * MON-FRI",
  "0 0 1,L * *",
);
const bounds = fc.record(
  { startsAt: fc.integer({ min: -40, max: 5 }), endsAt: fc.integer({ min: 6, max: 90 }) },
  { requiredKeys: [] },
);

interface Scenario {
  readonly spec: CronSchedule | EverySchedule;
  readonly rules: readonly DayRule[];
  readonly after: number;
  readonly spanMs: number;
}

type Fields = Omit<Scenario, "spec"> & {
  readonly cron: string;
  readonly everyMs: number | null;
  readonly timeZone: string;
  readonly dayMatch: "or" | "and";
  readonly dst: CronSchedule["dst"] & object;
  readonly bounds: { startsAt?: number; endsAt?: number };
  readonly calendars: CalendarRule | null;
};

function specOf({ cron, everyMs, timeZone, dayMatch, dst, bounds: days, calendars, after }: Fields): Scenario["spec"] {
  const common = {
    timeZone,
    ...(days.startsAt === undefined ? {} : { startsAt: after + days.startsAt * DAY_MS }),
    ...(days.endsAt === undefined ? {} : { endsAt: after + days.endsAt * DAY_MS }),
    ...(calendars === null ? {} : { calendars }),
  };
  if (everyMs === null) return { kind: "cron", cron, dayMatch, dst, ...common };
  return { kind: "every", everyMs, anchor: after - 3 * DAY_MS + 17_000, ...common };
}

const everyMs = fc.option(
  fc.oneof(fc.integer({ min: 60_000, max: 40 * DAY_MS }), fc.constantFrom(1_000, 60_000, 1_800_000, 7_200_000, DAY_MS)),
  { nil: null, freq: 3 },
);
const spanMs = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: -1, max: 120_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: DAY_MS, max: 8 * DAY_MS }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 1_500 * DAY_MS }) },
);

/** Schedules and spans, in half of the cases beginning near a clock change; `rules` make up the calendar "days". */
const scenarios: fc.Arbitrary<Scenario> = fc.constantFrom(...zones).chain((timeZone) =>
  instantsIn(timeZone).chain((after) => {
    const near = Math.floor(after / DAY_MS);
    const range = fc
      .tuple(fc.integer({ min: -10, max: 15 }), fc.constantFrom(0, 1, 2, 5, 12, 12, 40, 370))
      .map(([offset, length]) => ({ from: near + offset, to: near + offset + length }));
    const rule = fc.oneof(
      fc.constant<DayRule>({ kind: "weekdays", weekdays: [0, 6] }),
      fc.array(range, { minLength: 1, maxLength: 3 }).map<DayRule>((ranges) => ({ kind: "dates", ranges, yearly: [] })),
    );
    const roll = fc.constantFrom<Roll>("skip", "next", "previous", "modified_following");
    const mode = fc.constantFrom("exclude", "exclude", "only");
    const calendars = fc.tuple(mode, roll).map<CalendarRule>(([list, how]) => ({ [list]: ["days"], roll: how }));
    return fc
      .record({
        cron: fc.oneof(expressions, frequent, frequent),
        everyMs,
        timeZone: fc.constant(timeZone),
        dayMatch: dayMatches,
        dst: dstPolicies,
        bounds,
        calendars: fc.option(calendars, { nil: null, freq: 2 }),
        rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
        after: fc.constant(after),
        spanMs,
      })
      .map((fields) => ({ spec: specOf(fields), rules: fields.rules, after, spanMs: fields.spanMs }));
  }),
);

const HOUR_MS = 3_600_000;

/** Schedules without calendars, with spans that begin within two hours of a clock change. */
const acrossChanges: fc.Arbitrary<Scenario> = fc
  .record({
    timeZone: fc.constantFrom(...zones.slice(1)),
    near: fc.integer({ min: Date.UTC(2005, 0, 1), max: Date.UTC(2011, 11, 1) }),
    away: fc.integer({ min: -2 * HOUR_MS, max: HOUR_MS }),
    cron: fc.oneof(dailyExpressions, frequent, fc.constantFrom("0 0-3 * * *", "30 23,0,1,2,3 * * *")),
    dst: dstPolicies,
    spanMs: fc.integer({ min: 0, max: 6 * HOUR_MS }),
  })
  .map(({ timeZone, near, away, cron, dst, spanMs: length }) => {
    const change = changeAfter(timeZone, near) * 1000;
    return { spec: { kind: "cron", cron, timeZone, dst }, rules: [], after: change + away, spanMs: length };
  });

function changeAfter(timeZone: string, instant: number): number {
  const zone = resolveZone(timeZone);
  let span = zone.spanAt(Math.floor(instant / 1000));
  while (span.shiftOut === 0) span = zone.spanAt(span.end);
  return span.end;
}

/** Null for a schedule that can never fire. */
function compile({ spec, rules }: Scenario): CompiledSchedule | null {
  const calendars = new Map([["days", compileCalendar({ name: "days", rules: [...rules] })]]);
  try {
    return compileSchedule(spec, { jobId: "job", calendars });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "cron_never_fires") return null;
    throw error;
  }
}

/** Walks a limited number of fires; `before` is then the one at which the walk ended. */
function walk(schedule: CompiledSchedule, one: Scenario): { before: number; count: number } {
  const { after, spanMs: length, spec } = one;
  const maxSteps = spec.calendars === undefined ? MAX_STEPS.plain : MAX_STEPS.withCalendars;
  const before = after + length;
  let fire = schedule.nextNominal(after);
  for (let count = 0; ; count += 1) {
    if (fire === -1 || fire >= before) return { before, count };
    if (count === maxSteps) return { before: fire, count };
    fire = schedule.nextNominal(fire);
  }
}

describe("countBetween", () => {
  it("countBetween equals the number of fires that nextNominal finds, in every zone, under every policy, calendar and bound", () => {
    let counted = 0;
    fc.assert(
      fc.property(scenarios, (one) => {
        const schedule = compile(one);
        if (schedule === null) return;
        const { before, count } = walk(schedule, one);
        expect(schedule.countBetween(one.after, before)).toBe(count);
        if (count > 0) counted += 1;
      }),
      { numRuns: 600 },
    );
    expect(counted).toBeGreaterThan(250);
  });

  it("countBetween equals a walk across a clock change, also from within its gap or overlap", () => {
    fc.assert(
      fc.property(acrossChanges, (one) => {
        const schedule = compile(one);
        if (schedule === null) return;
        const { before, count } = walk(schedule, one);
        expect(schedule.countBetween(one.after, before)).toBe(count);
      }),
      { numRuns: 600 },
    );
  });

  it("countBetween of a long span is the sum of its parts", () => {
    fc.assert(
      fc.property(scenarios, fc.double({ min: 0, max: 1, noNaN: true }), (one, share) => {
        const schedule = compile(one);
        if (schedule === null || one.spanMs < 2) return;
        const middle = one.after + 1 + Math.floor(share * (one.spanMs - 2));
        const before = one.after + one.spanMs;
        const parts = schedule.countBetween(one.after, middle) + schedule.countBetween(middle, before);
        const atMiddle = schedule.nextNominal(middle - 1) === middle ? 1 : 0;
        expect(schedule.countBetween(one.after, before)).toBe(parts + atMiddle);
      }),
      { numRuns: 100 },
    );
  });
});

describe("removedRange", () => {
  it("removedRange equals the first, the last and the number of the fires that removedBetween lists", () => {
    let found = 0;
    fc.assert(
      fc.property(scenarios, (one) => {
        const schedule = compile(one);
        if (schedule === null) return;
        const { calendars: _, ...rule } = one.spec;
        const { before } = walk(compileSchedule(rule, { jobId: "job" }), { ...one, spec: rule });
        const listed = schedule.removedBetween(one.after, before, Infinity);
        const [first, last] = [listed[0], listed.at(-1)];
        const expected = first === undefined || last === undefined ? null : { first, last, count: listed.length };
        expect(schedule.removedRange(one.after, before)).toEqual(expected);
        if (expected !== null) found += 1;
      }),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(25);
  });
});
