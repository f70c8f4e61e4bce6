import {
  type CronField,
  type CronFields,
  type CronPart,
  type DayMatch,
  type FieldRule,
  isUnrestricted,
} from "../cron/fields.js";
import { parseCron } from "../cron/parse.js";
import type { CronSchedule } from "../schedule/spec.js";
import { listOf, ordinal, twoDigits } from "./phrases.js";

/** Describes the expression alone: "At 09:30 on Monday through Friday". */
export function describeCron({ cron, dayMatch = "or" }: Pick<CronSchedule, "cron" | "dayMatch">): string {
  const fields = parseCron(cron, dayMatch);
  return `${describeTimes(fields)}${describeDays(fields, dayMatch, namesTimesOfDay(fields))}`;
}

/** More times of day than this read better as a rule than as a list. */
const MAX_LISTED_TIMES = 8;

interface TimeFields {
  readonly second: FieldShape;
  readonly minute: FieldShape;
  readonly hour: FieldShape;
}

/** The times of day: "At 09:30", "Every 15 minutes from 09:00 through 17:59", "At second 30 of every minute". */
function describeTimes(fields: CronFields): string {
  const shapes = { second: shapeOf(fields.second), minute: shapeOf(fields.minute), hour: shapeOf(fields.hour) };
  return listedTimes(shapes) ?? hourlyTimes(shapes) ?? timesByRule(shapes);
}

/** Whether the text names times of day, so that "every day" must be added. */
function namesTimesOfDay(fields: CronFields): boolean {
  return shapeOf(fields.hour).kind !== "all";
}

function listedTimes({ second, minute, hour }: TimeFields): string | null {
  if (second.kind !== "values" || minute.kind !== "values" || hour.kind !== "values") return null;
  if (second.values.length * minute.values.length * hour.values.length > MAX_LISTED_TIMES) return null;
  const times = hour.values.flatMap((h) =>
    minute.values.flatMap((m) => second.values.map((s) => clock(h, m, isZero(second) ? null : s))),
  );
  return `At ${listOf(times)}`;
}

/** One minute in evenly spaced hours: "Every 2 hours from 08:30 through 18:30". */
function hourlyTimes({ second, minute, hour }: TimeFields): string | null {
  if (second.kind !== "values" || minute.kind !== "values" || (hour.kind !== "range" && hour.kind !== "step"))
    return null;
  const [s = 0, ...seconds] = second.values;
  const [m = 0, ...minutes] = minute.values;
  if (seconds.length > 0 || minutes.length > 0) return null;
  const { from, to, step } =
    hour.kind === "range" ? hour : { from: 0, to: lastOf({ from: 0, to: 23, step: hour.step }), step: hour.step };
  const pace = step === 1 ? "Every hour" : `Every ${step} hours`;
  const at = (h: number) => clock(h, m, isZero(second) ? null : s);
  return `${pace} from ${at(from)} through ${at(to)}`;
}

function timesByRule({ second, minute, hour }: TimeFields): string {
  if (isZero(second)) return `${lead(minute, "minute")}${hoursAfter(hour, isPace(minute))}`;
  const start = lead(second, "second");
  if (minute.kind === "all") {
    const ofEveryMinute = isPace(second) ? "" : " of every minute";
    return `${start}${ofEveryMinute}${hoursAfter(hour, true)}`;
  }
  return `${start} of ${nouns(minute, "minute")}${hoursAfter(hour, false)}`;
}

function lead(shape: FieldShape, unit: "second" | "minute"): string {
  if (shape.kind === "all") return `Every ${unit}`;
  if (shape.kind === "step" && isPace(shape)) return `Every ${shape.step} ${unit}s`;
  return `At ${nouns(shape, unit)}`;
}

/** Whether the step divides the hour, so that "every 15 minutes" is exact. */
function isPace(shape: FieldShape): boolean {
  return shape.kind === "all" || (shape.kind === "step" && 60 % shape.step === 0);
}

function hoursAfter(shape: FieldShape, afterPace: boolean): string {
  if (shape.kind === "all") return afterPace ? "" : " of every hour";
  if (afterPace && shape.kind === "range" && shape.step === 1) {
    return ` from ${clock(shape.from, 0, null)} through ${clock(shape.to, 59, null)}`;
  }
  const [only] = shape.kind === "values" && shape.values.length === 1 ? shape.values : [];
  if (afterPace && only !== undefined) return ` from ${clock(only, 0, null)} through ${clock(only, 59, null)}`;
  return ` of ${nouns(shape, "hour")}`;
}

/** "minute 5", "minutes 0, 15 and 30 through 45", "every 7th minute", "every 2nd hour from 8 through 18". */
function nouns(shape: FieldShape, unit: "second" | "minute" | "hour"): string {
  switch (shape.kind) {
    case "all":
      return `every ${unit}`;
    case "step":
      return `every ${ordinal(shape.step)} ${unit}`;
    case "values":
      return `${unit}${shape.values.length === 1 ? "" : "s"} ${listOf(shape.values.map(String))}`;
    case "range":
      return shape.step === 1
        ? `${unit}s ${shape.from} through ${shape.to}`
        : `every ${ordinal(shape.step)} ${unit} from ${shape.from} through ${shape.to}`;
    default:
      return mixedNouns(shape.parts, unit);
  }
}

function mixedNouns(parts: readonly CronPart[], unit: string): string {
  const numbers = parts.flatMap((part) => {
    if (part.kind === "value") return [String(part.value)];
    return part.kind === "range" && part.step === 1 ? [`${part.from} through ${part.to}`] : [];
  });
  const paces = parts.flatMap((part) => {
    if (part.kind === "every") return [`every ${ordinal(part.step)} ${unit}`];
    if (part.kind !== "range" || part.step === 1) return [];
    return [`every ${ordinal(part.step)} ${unit} from ${part.from} through ${lastOf(part)}`];
  });
  const plural = numbers.length > 1 || numbers.some((text) => text.includes(" "));
  const plain = numbers.length === 0 ? [] : [`${unit}${plural ? "s" : ""} ${listOf(numbers)}`];
  return listOf([...plain, ...paces]);
}

function isZero(shape: FieldShape): boolean {
  return shape.kind === "values" && shape.values.length === 1 && shape.values[0] === 0;
}

function clock(hour: number, minute: number, second: number | null): string {
  const time = `${twoDigits(hour)}:${twoDigits(minute)}`;
  return second === null ? time : `${time}:${twoDigits(second)}`;
}

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const EVERY_WEEKDAY = "every day of the week";

/** The days: " on Monday through Friday", " on day 1 of January", " on day 13 of the month or on Friday"; "" for all. */
function describeDays(fields: CronFields, dayMatch: DayMatch, sayEveryDay: boolean): string {
  const months = isUnrestricted(fields.month) ? null : monthNames(fields.month);
  const dates = isUnrestricted(fields.dayOfMonth) ? null : datePhrase(fields.dayOfMonth, months);
  const weekdays = isUnrestricted(fields.dayOfWeek) ? null : weekdayPhrase(fields.dayOfWeek, months);
  if (dates !== null && weekdays !== null) {
    return dayMatch === "or" ? ` on ${dates} or on ${weekdays}` : ` on ${dates} when it is also ${weekdays}`;
  }
  if (dates !== null) return ` on ${dates}`;
  if (weekdays !== null) return ` on ${weekdays}`;
  const everyDay = sayEveryDay ? " every day" : "";
  return months === null ? everyDay : `${everyDay} in ${months}`;
}

function datePhrase({ parts }: CronField, months: string | null): string {
  const days = parts.flatMap((part) => {
    if (part.kind === "value") return [String(part.value)];
    return part.kind === "range" && part.step === 1 ? [`${part.from} through ${part.to}`] : [];
  });
  const plural = days.length > 1 || days.some((day) => day.includes(" "));
  const plain = days.length === 0 ? [] : [`${plural ? "days" : "day"} ${listOf(days)}`];
  const special = parts.map(specialDate).filter((text) => text !== null);
  return `${listOf([...plain, ...special])} of ${months ?? "the month"}`;
}

function specialDate(part: CronPart): string | null {
  switch (part.kind) {
    case "every":
      return part.step === 1 ? "every day" : `every ${ordinal(part.step)} day from day 1`;
    case "range":
      return part.step === 1 ? null : `every ${ordinal(part.step)} day from day ${part.from} through ${lastOf(part)}`;
    case "last_day":
      return beforeLastDay(part.before);
    case "last_workday":
      return part.before === 0 ? "the last workday" : `the workday nearest ${beforeLastDay(part.before)}`;
    case "nearest_workday":
      return `the workday nearest day ${part.day}`;
    default:
      return null;
  }
}

function beforeLastDay(days: number): string {
  if (days === 0) return "the last day";
  return days === 1 ? "the day before the last day" : `the day ${days} days before the last day`;
}

function weekdayPhrase({ parts }: CronField, months: string | null): string {
  const plain = [...new Set(parts.flatMap(plainWeekdays))];
  const ofMonth = parts.map(weekdayOfMonth).filter((text) => text !== null);
  const inMonths = months === null ? "" : ` in ${months}`;
  if (ofMonth.length === 0) return `${listOf(plain)}${inMonths}`;
  if (plain.length === 0) return `${listOf(ofMonth)} of ${months ?? "the month"}`;
  return `${listOf([...plain, ...ofMonth])} of the month${inMonths}`;
}

function plainWeekdays(part: CronPart): string[] {
  if (part.kind === "value") return [weekdayName(part.value)];
  if (part.kind === "every") return part.step === 1 ? [EVERY_WEEKDAY] : steps(0, 6, part.step).map(weekdayName);
  if (part.kind !== "range") return [];
  if (part.step === 1 && part.to - part.from >= 6) return [EVERY_WEEKDAY];
  if (part.step === 1 && part.to > part.from) return [`${weekdayName(part.from)} through ${weekdayName(part.to)}`];
  return steps(part.from, part.to, part.step).map(weekdayName);
}

function weekdayOfMonth(part: CronPart): string | null {
  if (part.kind === "nth_weekday") return `the ${ordinal(part.nth)} ${weekdayName(part.weekday)}`;
  return part.kind === "last_weekday" ? `the last ${weekdayName(part.weekday)}` : null;
}

function monthNames({ parts }: CronField): string {
  const names = parts.flatMap((part) => {
    if (part.kind === "value") return [monthName(part.value)];
    if (part.kind === "every") return steps(1, 12, part.step).map(monthName);
    if (part.kind !== "range") return [];
    if (part.step === 1 && part.to > part.from) return [`${monthName(part.from)} through ${monthName(part.to)}`];
    return steps(part.from, part.to, part.step).map(monthName);
  });
  return listOf([...new Set(names)]);
}

function steps(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function weekdayName(value: number): string {
  return WEEKDAYS[value % 7] ?? "";
}

function monthName(value: number): string {
  return MONTHS[value - 1] ?? "";
}

/** How a plain field (second, minute, hour) is described: all values, an even step over all, a list, or a range. */
export type FieldShape =
  | { readonly kind: "all" }
  | { readonly kind: "step"; readonly step: number }
  | { readonly kind: "values"; readonly values: readonly number[] }
  | { readonly kind: "range"; readonly from: number; readonly to: number; readonly step: number }
  | { readonly kind: "mixed"; readonly parts: readonly CronPart[] };

export function shapeOf({ rule, parts }: CronField): FieldShape {
  if (parts.some((part) => part.kind === "every" && part.step === 1)) return { kind: "all" };
  const simple = parts.map((part) => simplify(part, rule));
  const values = simple.flatMap((part) => (part.kind === "value" ? [part.value] : []));
  if (values.length === simple.length) return { kind: "values", values: [...new Set(values)].sort((a, b) => a - b) };
  const [only] = simple;
  if (simple.length === 1 && only?.kind === "every") return { kind: "step", step: only.step };
  if (simple.length === 1 && only?.kind === "range") return { ...only, to: lastOf(only) };
  return { kind: "mixed", parts: simple };
}

/** The last number in a stepped range: `8-17/2` ends at 16. */
function lastOf({ from, to, step }: { readonly from: number; readonly to: number; readonly step: number }): number {
  return to - ((to - from) % step);
}

/** A range or a step that contains one number is that number. */
function simplify(part: CronPart, { min, max }: FieldRule): CronPart {
  if (part.kind === "range" && lastOf(part) === part.from) return { kind: "value", value: part.from };
  return part.kind === "every" && part.step > max - min ? { kind: "value", value: min } : part;
}
