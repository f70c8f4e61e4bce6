import {
  type CalendarRule,
  CarillonError,
  compileSchedule,
  type CronSchedule,
  type EverySchedule,
  type FiringPolicy,
  type Instant,
  type JobSpec,
  misfirePolicies,
  overlapPolicies,
  type ScheduleSpec,
} from "@carillon/core";
import * as fc from "fast-check";
import {
  dailyExpressions,
  dayMatches,
  dstPolicies,
  minuteExpressions,
  secondExpressions,
} from "../../../../../core/test/unit/cron/arbitraries.js";
import { chance, draw, sometimes, spans } from "./arbitraries.js";
import { namedCalendars } from "./calendars.js";
import { dayMs, hourMs, minuteMs, secondMs, yearEnd, yearStart } from "./year.js";

/** A job of the simulated year. */
export interface DrawnJob {
  readonly spec: JobSpec;
  readonly bornAt: Instant;
  /** How long its runs take, about. */
  readonly runMs: number;
}

/** Zones whose clocks change by an hour, by half of one, at midnight, four times a year, or never. */
const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Africa/Cairo",
  "Antarctica/Troll",
  "Pacific/Chatham",
  "Asia/Kolkata",
];

const crons = fc.oneof(
  { weight: 3, arbitrary: minuteExpressions },
  { weight: 2, arbitrary: secondExpressions },
  { weight: 5, arbitrary: dailyExpressions },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      "@hourly",
      "@daily",
      "@weekly",
      "@monthly",
      "* * * * *",
      "*/5 * * * *",
      "30 2 * * *",
      "0 0 * * *",
      "0 0 L * *",
      "15 3 LW * *",
      "0 12 15W * *",
      "0 9 * * MON#1",
      "45 23 * * 5L",
      "*/30 * * * * *",
      "0 0 29 2 *",
    ),
  },
);
const calendarRules = fc
  .record({
    list: fc.constantFrom("exclude", "exclude", "only"),
    name: fc.constantFrom("weekends", "holidays"),
    roll: fc.constantFrom("skip" as const, "next" as const, "previous" as const, "modified_following" as const),
  })
  .map(({ list, name, roll }): CalendarRule =>
    list === "only" ? { only: ["office"], roll } : { exclude: [name], roll },
  );
const jitters = fc.constantFrom(500, 5 * secondMs, 30 * secondMs, 59 * secondMs, 20 * minuteMs);
const common = {
  jitterMs: sometimes(30, jitters),
  maxRuns: sometimes(12, spans(1, 200)),
  calendars: sometimes(20, calendarRules),
};
const cronRules = fc
  .record({ cron: crons, timeZone: fc.constantFrom(...zones), dayMatch: dayMatches, dst: dstPolicies, ...common })
  .map((fields) => without({ kind: "cron", ...fields }) as CronSchedule);
const everyRules = fc
  .record({
    everyMs: spans(7 * secondMs, 40 * dayMs),
    anchor: spans(1, 30 * dayMs),
    timeZone: fc.constantFrom(...zones),
    ...common,
  })
  .map((fields) => without({ kind: "every", ...fields, anchor: yearStart + fields.anchor }) as EverySchedule);
const once = fc
  .integer({ min: yearStart + hourMs, max: yearEnd - hourMs })
  .map((at): ScheduleSpec => ({ kind: "at", at }));

const rules = fc.oneof(
  { weight: 16, arbitrary: cronRules },
  { weight: 5, arbitrary: everyRules },
  { weight: 1, arbitrary: once },
);
/** When a rule begins, and how many occurrences it may have: most jobs are bounded by this, not by the end of the year. */
const bounds = fc.record({
  from: fc.integer({ min: yearStart, max: yearEnd - dayMs }),
  isAllYear: chance(50),
  most: spans(30, 600),
});

const firings = fc
  .record({
    misfire: fc.constantFrom(...misfirePolicies),
    misfireThresholdMs: fc.constantFrom(0, minuteMs, minuteMs, 5 * minuteMs, 2 * hourMs),
    catchupWindowMs: fc.constantFrom(0, hourMs, dayMs, dayMs, 10 * dayMs),
    maxCatchupRuns: fc.constantFrom(1, 10, 1_000),
    catchupPerSecond: fc.constantFrom(0.1, 1, 10),
    overlap: fc.constantFrom(...overlapPolicies),
  })
  // Stored with the job, so that a one-off is a job too.
  .map((firing): Partial<FiringPolicy> => ({ ...firing, misfireThresholdMs: firing.misfireThresholdMs + 1 }));

const jobs = fc
  .record({
    rule: fc.tuple(rules, bounds),
    firing: firings,
    priority: fc.integer({ min: 0, max: 9 }),
    queue: fc.constantFrom("mail", "reports", "billing"),
    team: fc.constantFrom("red", "blue"),
    bornAt: fc.tuple(chance(70), fc.integer({ min: yearStart, max: yearEnd - dayMs })),
    runMs: fc.oneof(spans(secondMs, minuteMs), spans(secondMs, 3 * hourMs)),
  })
  .map(({ rule: [rule, bound], firing, priority, queue, team, bornAt: [atStart, born], runMs }): DrawnJob => {
    const schedule = thinned(rule, bound);
    const spec = { task: "echo", queue, priority, payload: null, schedule, policy: {}, labels: { team }, firing };
    const startsAt = "startsAt" in schedule ? (schedule.startsAt ?? born) : born;
    return { spec, bornAt: atStart || schedule.kind === "at" ? yearStart : Math.min(born, startsAt), runMs };
  });

/** So many jobs whose rules are valid. */
export function drawJobs(count: number, seed: number): DrawnJob[] {
  return draw(jobs, 2 * count, seed)
    .filter((job) => fires(job.spec.schedule))
    .slice(0, count);
}

/** Rules for jobs that are edited. */
export function drawRules(count: number, seed: number): ScheduleSpec[] {
  const drawn = draw(fc.tuple(rules, bounds), 2 * count, seed).map(([rule, bound]) => thinned(rule, bound));
  return drawn.filter((rule) => rule.kind !== "at" && fires(rule)).slice(0, count);
}

/** A schedule with more occurrences than this in a year gets no roll, because the judge would have to check all occurrences that may roll in from outside its bounds. */
const maxRolled = 20_000;

/** Bounds a rule so that it has about as many occurrences in the year as it may have. */
function thinned(
  rule: ScheduleSpec,
  { from, isAllYear, most }: { from: Instant; isAllYear: boolean; most: number },
): ScheduleSpec {
  if (rule.kind !== "cron" && rule.kind !== "every") return rule;
  const count = countOf(rule);
  if (count !== null && count > maxRolled && (rule.calendars?.roll ?? "skip") !== "skip") {
    return thinned({ ...rule, calendars: { ...rule.calendars, roll: "skip" } }, { from, isAllYear, most });
  }
  if (count === null || (isAllYear && count <= most)) return rule;
  const endsAt = Math.min(yearEnd, from + Math.ceil((yearEnd - yearStart) * Math.min(1, most / Math.max(1, count))));
  return { ...rule, startsAt: from, endsAt };
}

function countOf(rule: ScheduleSpec): number | null {
  try {
    const { jitterMs: _jitter, calendars: _calendars, ...plain } = rule as CronSchedule;
    return compileSchedule(plain, { jobId: "any" }).countBetween(yearStart, yearEnd);
  } catch (error) {
    if (error instanceof CarillonError) return null;
    throw error;
  }
}

function fires(rule: ScheduleSpec): boolean {
  try {
    compileSchedule(rule, { jobId: "any", calendars: namedCalendars.calendarsOf(1) });
    return true;
  } catch (error) {
    if (error instanceof CarillonError) return false;
    throw error;
  }
}

function without(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
