import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCalendar } from "../../../src/calendar/calendar.js";
import type { CalendarDefinition, DayRule } from "../../../src/calendar/definition.js";
import { compileCron } from "../../../src/cron/compile.js";
import { isFixedTime } from "../../../src/cron/fields.js";
import { compileSchedule } from "../../../src/schedule/compile-schedule.js";
import type { CronSchedule, Roll } from "../../../src/schedule/spec.js";
import { DAY_MS, monthIndexOf } from "../../../src/zone/civil.js";
import { resolveZone } from "../../../src/zone/zone.js";

/** Zones whose clocks jump at midnight, over midnight, by half an hour, by a day, twice around a month, or never. */
const zones = [
  "UTC",
  "Europe/Paris",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Apia",
];
const rolls: Roll[] = ["skip", "next", "previous", "modified_following"];

const minute = fc.integer({ min: 0, max: 59 });
const hour = fc.oneof(fc.integer({ min: 0, max: 23 }), fc.constantFrom(0, 1, 2, 3, 23));
const expression = fc.oneof(
  fc.tuple(minute, hour).map(([m, h]) => `${m} ${h} * * *`),
  fc.tuple(minute, hour, hour).map(([m, h, g]) => `${m} ${h},${g} * * MON,SAT`),
  fc.tuple(minute, hour, fc.integer({ min: 1, max: 31 })).map(([m, h, d]) => `${m} ${h} ${d},L * *`),
  fc.tuple(minute, fc.constantFrom(2, 6, 11)).map(([m, n]) => `${m} */${n} * * *`),
  fc.constantFrom("30 0 0 * * *", "*/20 0-3,23 * * *", "0 0 1 */3 *", "15 2 29 2 *", "0 12 * * SUN"),
);
const dst = fc.constantFrom<CronSchedule["dst"]>(
  undefined,
  { gap: "skip" },
  { overlap: "second" },
  { overlap: "both" },
);

/** Instants near clock changes of all the zones above, and one far from any. */
const centre = fc.constantFrom(
  ...["2005-10-30", "2006-04-02", "2010-11-07", "2011-12-30", "2025-03-30", "2026-10-25", "2028-02-29"].map((date) =>
    Date.parse(`${date}T00:00:00Z`),
  ),
);

interface Case {
  readonly spec: CronSchedule;
  readonly rules: DayRule[];
  readonly mode: "exclude" | "only";
  readonly centre: number;
}

const scenario: fc.Arbitrary<Case> = centre.chain((at) => {
  const near = Math.floor(at / DAY_MS);
  const range = fc
    .tuple(
      fc.integer({ min: -40, max: 40 }),
      fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 360, max: 380 })),
    )
    .map(([offset, length]) => ({ from: near + offset, to: near + offset + length }));
  const rule = fc.oneof(
    fc.constant<DayRule>({ kind: "weekdays", weekdays: [0, 6] }),
    fc.array(range, { minLength: 1, maxLength: 4 }).map<DayRule>((ranges) => ({ kind: "dates", ranges, yearly: [] })),
  );
  return fc
    .record({
      cron: expression,
      timeZone: fc.constantFrom(...zones),
      roll: fc.constantFrom(...rolls),
      dst,
      rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
      mode: fc.constantFrom("exclude" as const, "exclude" as const, "only" as const),
    })
    .map(({ cron, timeZone, roll, dst: policy, rules, mode }) => ({
      spec: {
        kind: "cron",
        cron,
        timeZone,
        calendars: { [mode]: ["days"], roll },
        ...(policy === undefined ? {} : { dst: policy }),
      },
      rules,
      mode,
      centre: at,
    }));
});

function compile({ spec, rules }: Case) {
  const definition: CalendarDefinition = { name: "days", rules };
  return compileSchedule(spec, { jobId: "job", calendars: new Map([["days", compileCalendar(definition)]]) });
}

function isClosed({ rules, mode }: Case, day: number): boolean {
  const listed = rules.some((rule) => {
    if (rule.kind === "weekdays") return rule.weekdays.some((weekday) => (day + 4) % 7 === weekday);
    return rule.kind === "dates" && rule.ranges.some(({ from, to }) => from <= day && day <= to);
  });
  return mode === "exclude" ? listed : !listed;
}

/** The specification, evaluated day by day without a search. */
function rollByHand(one: Case, day: number): number | null {
  const walk = (step: number) => {
    for (let count = 0; count <= 366; count += 1) if (!isClosed(one, day + count * step)) return day + count * step;
    return null;
  };
  const roll = one.spec.calendars?.roll;
  if (!isClosed(one, day)) return day;
  if (roll === "next") return walk(1);
  if (roll === "previous") return walk(-1);
  if (roll !== "modified_following") return null;
  const next = walk(1);
  return next !== null && monthIndexOf(next) === monthIndexOf(day) ? next : walk(-1);
}

function firesByHand(one: Case, from: number, to: number): number[] {
  const cron = compileCron(one.spec.cron, one.spec);
  const zone = resolveZone(one.spec.timeZone);
  const gap = one.spec.dst?.gap ?? (isFixedTime(cron.fields) ? "after" : "skip");
  const overlap = one.spec.dst?.overlap === "second" ? "second" : "first";
  const targets = new Map<number, number | null>();
  const fires = new Set<number>();
  for (let fire = cron.next(from - 400 * DAY_MS); fire <= to + 400 * DAY_MS; fire = cron.next(fire)) {
    const day = zone.localDay(fire);
    const target = targets.get(day) ?? rollByHand(one, day);
    targets.set(day, target);
    if (target === null) continue;
    const image = target === day ? fire : zone.toInstant(zone.toWall(fire) + (target - day) * DAY_MS, { gap, overlap });
    if (image !== -1) fires.add(image);
  }
  return [...fires].filter((fire) => fire >= from && fire <= to).sort((a, b) => a - b);
}

describe("fires with calendars and rolls", () => {
  it("fires with calendars and rolls equal a day-by-day enumeration, forwards and backwards, from any instant", () => {
    fc.assert(
      fc.property(
        scenario,
        fc.array(fc.integer({ min: -30 * DAY_MS, max: 30 * DAY_MS }), { maxLength: 8 }),
        (one, offsets) => {
          const [from, to] = [one.centre - 45 * DAY_MS, one.centre + 45 * DAY_MS];
          const expected = firesByHand(one, from, to);
          const schedule = compile(one);
          const forwards: number[] = [];
          for (let fire = schedule.nextNominal(from - 1); fire !== -1 && fire <= to; fire = schedule.nextNominal(fire))
            forwards.push(fire);
          expect(forwards).toEqual(expected);
          const backwards: number[] = [];
          for (
            let fire = schedule.previousNominal(to + 1);
            fire !== -1 && fire >= from;
            fire = schedule.previousNominal(fire)
          )
            backwards.push(fire);
          expect(backwards.toReversed()).toEqual(expected);
          for (const offset of offsets) {
            const at = one.centre + offset;
            const next = schedule.nextNominal(at);
            const previous = schedule.previousNominal(at);
            expect(next === -1 || next > to ? undefined : next).toBe(expected.find((fire) => fire > at));
            expect(previous === -1 || previous < from ? undefined : previous).toBe(
              expected.findLast((fire) => fire < at),
            );
          }
        },
      ),
      { numRuns: 250 },
    );
  });
});
