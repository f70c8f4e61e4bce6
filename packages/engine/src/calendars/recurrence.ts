import { civilDateOf, type CivilDay, daysInMonth, epochDayOf, weekdayOf } from "@carillon/core";

/** A recurrence rule of RFC 5545, as far as days go. Empty lists do not restrict. */
export interface RecurrenceRule {
  readonly frequency: "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY";
  readonly interval: number;
  /** How many occurrences in all, counted from the first; null for no end. */
  readonly count: number | null;
  /** The last day on which an occurrence may begin; null for no end. */
  readonly untilDay: CivilDay | null;
  /** 0 is Sunday. */
  readonly weekStart: number;
  readonly months: readonly number[];
  readonly weekNumbers: readonly number[];
  readonly yearDays: readonly number[];
  readonly monthDays: readonly number[];
  /** `nth` is 0 for every such weekday, negative from the end. */
  readonly weekdays: readonly { readonly weekday: number; readonly nth: number }[];
  readonly positions: readonly number[];
}

/**
 * The days on which occurrences begin, in order, from `start` up to `to`. `spend` is called with the number of days
 * that were checked, so that the caller can end an expansion that costs too much: every rule, also one that never matches,
 * ends at `to`.
 *
 * ical.js reads the rules but does not expand them here: its iterator runs forever on rules that match no day, and
 * yields 2 March for 30 February.
 */
export function* occurrenceDays(
  rule: RecurrenceRule,
  start: CivilDay,
  to: CivilDay,
  spend: (days: number) => void,
): Generator<CivilDay> {
  const complete = withDefaults(rule, start);
  const last = Math.min(to, complete.untilDay ?? to);
  let left = complete.count ?? Infinity;
  for (let index = 0; ; index += complete.interval) {
    const period = periodAt(complete, start, index);
    if (period.from > last) return;
    spend(period.length);
    const matching: CivilDay[] = [];
    for (let day = period.from; day < period.from + period.length; day += 1) {
      if (matches(complete, day)) matching.push(day);
    }
    for (const day of atPositions(matching, complete.positions)) {
      if (day < start) continue;
      if (day > last || left === 0) return;
      left -= 1;
      yield day;
    }
  }
}

/** What a rule leaves open is taken from the day on which the event first begins. */
function withDefaults(rule: RecurrenceRule, start: CivilDay): RecurrenceRule {
  const { frequency, months, weekNumbers, yearDays, monthDays, weekdays } = rule;
  if (frequency === "DAILY" || weekdays.length + monthDays.length + yearDays.length > 0) return rule;
  const { month, day } = civilDateOf(start);
  if (frequency === "WEEKLY" || weekNumbers.length > 0) {
    return { ...rule, weekdays: [{ weekday: weekdayOf(start), nth: 0 }] };
  }
  const yearly = frequency === "YEARLY" && months.length === 0;
  return { ...rule, monthDays: [day], months: yearly ? [month] : months };
}

interface Period {
  readonly from: CivilDay;
  readonly length: number;
}

function periodAt({ frequency, weekStart }: RecurrenceRule, start: CivilDay, index: number): Period {
  if (frequency === "DAILY") return { from: start + index, length: 1 };
  if (frequency === "WEEKLY") return { from: startOfWeek(start, weekStart) + index * 7, length: 7 };
  const { year, month } = civilDateOf(start);
  if (frequency === "YEARLY") {
    const from = epochDayOf(year + index, 1, 1);
    return { from, length: epochDayOf(year + index + 1, 1, 1) - from };
  }
  const months = month - 1 + index;
  const inYear = year + Math.floor(months / 12);
  const inMonth = (months % 12) + 1;
  return { from: epochDayOf(inYear, inMonth, 1), length: daysInMonth(inYear, inMonth) };
}

function matches(rule: RecurrenceRule, day: CivilDay): boolean {
  const { months, weekNumbers, yearDays, monthDays, weekdays } = rule;
  const weekday = weekdayOf(day);
  if (weekdays.length > 0 && !weekdays.some((one) => one.weekday === weekday)) return false;
  const isPlain = months.length + weekNumbers.length + yearDays.length + monthDays.length === 0;
  if (isPlain && weekdays.every(({ nth }) => nth === 0)) return true;
  const date = civilDateOf(day);
  if (months.length > 0 && !months.includes(date.month)) return false;
  const firstOfYear = epochDayOf(date.year, 1, 1);
  const inYear = [day - firstOfYear + 1, epochDayOf(date.year + 1, 1, 1) - firstOfYear] as const;
  const inMonth = [date.day, daysInMonth(date.year, date.month)] as const;
  return (
    isListed(yearDays, ...inYear) &&
    isListed(monthDays, ...inMonth) &&
    (weekNumbers.length === 0 || isListed(weekNumbers, ...weekOf(day, rule.weekStart))) &&
    (weekdays.length === 0 || isNthWeekday(rule, weekday, isMonthly(rule) ? inMonth : inYear))
  );
}

/** Whether a list names a position of a span: from 1 at its start, or from -1 at its end. */
function isListed(list: readonly number[], position: number, length: number): boolean {
  return list.length === 0 || list.includes(position) || list.includes(position - length - 1);
}

/** In which span the nth weekday is counted: the month, unless a yearly rule names no month. */
function isMonthly({ frequency, months }: RecurrenceRule): boolean {
  return frequency !== "YEARLY" || months.length > 0;
}

function isNthWeekday(
  { weekdays }: RecurrenceRule,
  weekday: number,
  [position, length]: readonly [number, number],
): boolean {
  const fromStart = Math.ceil(position / 7);
  const fromEnd = -Math.ceil((length - position + 1) / 7);
  return weekdays.some(
    (one) => one.weekday === weekday && (one.nth === 0 || one.nth === fromStart || one.nth === fromEnd),
  );
}

function startOfWeek(day: CivilDay, weekStart: number): CivilDay {
  return day - ((weekdayOf(day) - weekStart + 7) % 7);
}

/** The number of the day's week in its year, and how many weeks that year has. Week 1 has at least four days in it. */
function weekOf(day: CivilDay, weekStart: number): [week: number, weeks: number] {
  const week = startOfWeek(day, weekStart);
  const { year } = civilDateOf(week + 3);
  const first = startOfWeek(epochDayOf(year, 1, 4), weekStart);
  const after = startOfWeek(epochDayOf(year + 1, 1, 4), weekStart);
  return [(week - first) / 7 + 1, (after - first) / 7];
}

function atPositions(days: readonly CivilDay[], positions: readonly number[]): readonly CivilDay[] {
  return positions.length === 0 ? days : days.filter((_, index) => isListed(positions, index + 1, days.length));
}
