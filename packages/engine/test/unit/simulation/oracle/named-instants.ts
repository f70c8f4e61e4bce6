import type { CalendarRule, CronSchedule, EverySchedule, Instant, ScheduleSpec } from "@carillon/core";
import { gapEndOver, instantsShowing } from "../../../../../core/test/oracle/clock-spans.js";
import { isFixedTimeExpression } from "../../../../../core/test/oracle/cron-predicate.js";
import { scannedFires } from "../../../../../core/test/oracle/scanned-fires.js";
import { calendarDefinitions } from "../draw/calendars.js";
import { dayMs } from "../draw/year.js";
import { clockOf, marginMs, readingAt } from "./zone-clocks.js";

/** What a rule says about a stretch of time. */
export interface NamedInstants {
  /** In order: each must become a run or an entry of the ledger. */
  readonly occurrences: readonly Instant[];
  /** Taken away by calendars, in order. */
  readonly removed: readonly Instant[];
  /** By occurrence: what was moved onto it, and how many of that have no occurrence of their own. */
  readonly merged: ReadonlyMap<Instant, { readonly origins: readonly Instant[]; readonly count: number }>;
}

/**
 * The instants of a rule with after < instant <= through, by looking: every day and time is asked of a wall clock that was
 * read from Intl, every day of the calendars by itself. Nothing of the product's evaluator is used.
 */
export function namedInstants(schedule: ScheduleSpec, after: Instant, through: Instant): NamedInstants {
  const within = (at: Instant): boolean => at > after && at <= through;
  if (schedule.kind === "at") return { occurrences: [schedule.at].filter(within), removed: [], merged: new Map() };
  if (schedule.kind !== "cron" && schedule.kind !== "every") return { occurrences: [], removed: [], merged: new Map() };
  const { startsAt = -Infinity, endsAt = Infinity } = schedule;
  const isBound = (at: Instant): boolean => at >= startsAt && at <= endsAt;
  const raw = rawInstants(schedule, after, through);
  if (schedule.calendars === undefined) {
    return { occurrences: raw.filter((at) => isBound(at) && within(at)), removed: [], merged: new Map() };
  }
  const { stays, images } = placeAll(schedule, schedule.calendars, raw);
  const landed = new Map<Instant, Instant[]>();
  for (const [from, image] of images) {
    if (image === null || !isBound(image) || !within(image)) continue;
    landed.set(image, [...(landed.get(image) ?? []), from]);
  }
  const kept = stays.filter((at) => isBound(at) && within(at));
  const own = new Set(kept);
  const merged = [...landed].map(
    ([at, origins]) => [at, { origins, count: origins.length - (own.has(at) ? 0 : 1) }] as const,
  );
  return {
    occurrences: [...new Set([...kept, ...landed.keys()])].toSorted((a, b) => a - b),
    removed: [...images]
      .filter(([from, image]) => isBound(from) && within(from) && (image === null || !isBound(image)))
      .map(([from]) => from),
    merged: new Map(merged),
  };
}

/** Without calendars and bounds, over more than the stretch: rolls move fires into it. */
function rawInstants(schedule: CronSchedule | EverySchedule, after: Instant, through: Instant): Instant[] {
  const margin = (schedule.calendars?.roll ?? "skip") === "skip" ? 0 : marginMs;
  const [from, to] = [Math.max(after, earliest(schedule)) - margin - 1, Math.min(through, latest(schedule)) + margin];
  if (to < from) return [];
  if (schedule.kind === "cron") {
    const { cron: expression, timeZone, dayMatch, dst } = schedule;
    const question = { expression, timeZone, ...(dayMatch && { dayMatch }), ...(dst && { dst }) };
    return scannedFires(question, clockOf(timeZone), from, to);
  }
  const instants: Instant[] = [];
  const skipped = Math.max(0, Math.floor((from - schedule.anchor) / schedule.everyMs));
  for (let at = schedule.anchor + skipped * schedule.everyMs; at <= to; at += schedule.everyMs)
    if (at > from) instants.push(at);
  return instants;
}

const earliest = ({ startsAt = -Infinity }: CronSchedule | EverySchedule): Instant => startsAt;
const latest = ({ endsAt = Infinity }: CronSchedule | EverySchedule): Instant => endsAt;

interface Placed {
  readonly stays: readonly Instant[];
  /** Where fires of closed days go; null where nowhere. */
  readonly images: ReadonlyMap<Instant, Instant | null>;
}

function placeAll(schedule: CronSchedule | EverySchedule, rule: CalendarRule, raw: readonly Instant[]): Placed {
  const clock = clockOf(schedule.timeZone ?? "UTC");
  const isFixed = schedule.kind === "every" || isFixedTimeExpression(schedule.cron);
  const dst = schedule.kind === "cron" ? schedule.dst : undefined;
  const gap = dst?.gap ?? (isFixed ? "after" : "skip");
  const targets = new Map<number, number | null>();
  const stays: Instant[] = [];
  const images = new Map<Instant, Instant | null>();
  for (const at of raw) {
    const reading = readingAt(clock, at);
    const day = Math.floor(reading / dayMs);
    if (!targets.has(day)) targets.set(day, isOpen(rule, day) ? day : rolled(rule, day));
    const target = targets.get(day) ?? null;
    if (target === day) {
      stays.push(at);
      continue;
    }
    const moved = reading + ((target ?? day) - day) * dayMs;
    const [first = null, second = first] = instantsShowing(clock, moved);
    const shown = dst?.overlap === "second" ? second : first;
    images.set(at, target === null ? null : (shown ?? (gap === "after" ? gapEndOver(clock, moved) : null)));
  }
  return { stays, images };
}

/** Day by day, as the words of the specification say. */
function rolled(rule: CalendarRule, day: number): number | null {
  const walk = (step: 1 | -1): number | null => {
    for (let count = 1; count <= 366; count += 1) if (isOpen(rule, day + count * step)) return day + count * step;
    return null;
  };
  const month = (of: number): number => new Date(of * dayMs).getUTCMonth();
  switch (rule.roll) {
    case "next":
      return walk(1);
    case "previous":
      return walk(-1);
    case "modified_following": {
      const next = walk(1);
      return next !== null && month(next) === month(day) ? next : walk(-1);
    }
    default:
      return null;
  }
}

function isOpen({ exclude = [], only = [] }: CalendarRule, day: number): boolean {
  return only.every((name) => isListed(name, day)) && !exclude.some((name) => isListed(name, day));
}

function isListed(name: string, day: number): boolean {
  const rules = calendarDefinitions.find((one) => one.name === name)?.rules ?? [];
  return rules.some((rule) => {
    if (rule.kind === "weekdays") return rule.weekdays.some((weekday) => new Date(day * dayMs).getUTCDay() === weekday);
    return rule.kind === "dates" && rule.ranges.some(({ from, to }) => from <= day && day <= to);
  });
}
