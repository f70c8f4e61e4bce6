import { type CronField, type CronFields, type CronPart, type DayMatch, isUnrestricted } from "../cron/fields.js";
import { lastOf } from "./field-shape.js";
import { listOf, ordinal } from "./phrases.js";

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
export function describeDays(fields: CronFields, dayMatch: DayMatch, sayEveryDay: boolean): string {
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
