/**
 * Whether a wall-clock reading matches a cron expression: one predicate per part, without masks or searches. It has its own
 * parser, assumes valid expressions, and shares no code with the evaluator under test.
 */
type ReadingPredicate = (reading: number) => boolean;

/** A day with the facts that decide whether it matches. */
interface Day {
  readonly day: number;
  readonly weekday: number;
  readonly lastDay: number;
  /** The weekday of any day of the same month. */
  readonly weekdayOf: (day: number) => number;
}

type DayPredicate = (day: Day) => boolean;
type ValuePredicate = (value: number) => boolean;

const MACROS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const MONTH_NAMES = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAY_NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The six fields as written, in upper case, with names replaced by numbers. */
export function sixFields(expression: string): string[] {
  const plain = MACROS[expression.trim().toLowerCase()] ?? expression;
  const fields = plain.trim().toUpperCase().split(/\s+/);
  const six = fields.length === 5 ? ["0", ...fields] : fields;
  return six.map((field, index) => {
    if (index === 4) return MONTH_NAMES.reduce((text, name, at) => text.replaceAll(name, String(at + 1)), field);
    if (index !== 5) return field;
    const named = field.replaceAll("SUN-SUN", "0").replaceAll("-SUN", "-7");
    return WEEKDAY_NAMES.reduce((text, name, at) => text.replaceAll(name, String(at)), named);
  });
}

/** Fixed-time means that no second, minute or hour is a `*` or a step over one. */
export function isFixedTimeExpression(expression: string): boolean {
  return sixFields(expression)
    .slice(0, 3)
    .every((field) => !field.includes("*"));
}

/** The predicates of an expression on a reading: on its second, minute and hour, and on its day. */
export interface CronPredicates {
  readonly isSecond: ValuePredicate;
  readonly isMinute: ValuePredicate;
  readonly isHour: ValuePredicate;
  /** Of any reading of the day. */
  readonly isDate: (date: Date) => boolean;
}

export function cronPredicates(expression: string, dayMatch: "or" | "and" = "or"): CronPredicates {
  const [second = "", minute = "", hour = "", monthDay = "", month = "", weekday = ""] = sixFields(expression);
  const isMonth = valueList(month, 12);
  const isDay = dayPredicate(monthDay, weekday, dayMatch);
  return {
    isSecond: valueList(second, 59),
    isMinute: valueList(minute, 59),
    isHour: valueList(hour, 23),
    isDate: (date) => isMonth(date.getUTCMonth() + 1) && isDay(dayOf(date)),
  };
}

export function cronPredicate(expression: string, dayMatch: "or" | "and" = "or"): ReadingPredicate {
  const { isSecond, isMinute, isHour, isDate } = cronPredicates(expression, dayMatch);
  return (reading) => {
    const date = new Date(reading);
    if (!isMinute(date.getUTCMinutes()) || !isHour(date.getUTCHours()) || !isSecond(date.getUTCSeconds())) return false;
    return isDate(date);
  };
}

function dayOf(date: Date): Day {
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return {
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    lastDay: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
    weekdayOf: (day) => new Date(Date.UTC(year, month, day)).getUTCDay(),
  };
}

function dayPredicate(monthDay: string, weekday: string, dayMatch: "or" | "and"): DayPredicate {
  const monthDayParts = monthDay.split(",").map(monthDayPart);
  const weekdayParts = weekday.split(",").map(weekdayPart);
  const byMonthDay: DayPredicate = (day) => monthDayParts.some((matches) => matches(day));
  const byWeekday: DayPredicate = (day) => weekdayParts.some((matches) => matches(day));
  if (monthDay === "*" || monthDay === "?") return byWeekday;
  if (weekday === "*" || weekday === "?") return byMonthDay;
  return dayMatch === "or" ? (day) => byMonthDay(day) || byWeekday(day) : (day) => byMonthDay(day) && byWeekday(day);
}

function monthDayPart(part: string): DayPredicate {
  if (part === "L") return ({ day, lastDay }) => day === lastDay;
  if (part.startsWith("L") && part.endsWith("W")) {
    const before = Number(part.slice(2, -1));
    return (date) => date.day === nearestWorkday(date.lastDay - before, date);
  }
  if (part.startsWith("L-")) return ({ day, lastDay }) => day === lastDay - Number(part.slice(2));
  if (part.endsWith("W")) return (date) => date.day === nearestWorkday(Number(part.slice(0, -1)), date);
  const isValue = valuePart(part, 31);
  return ({ day }) => isValue(day);
}

/** Searches ever farther from the wished day until it meets a Monday to Friday of the same month. */
function nearestWorkday(wished: number, { lastDay, weekdayOf }: Day): number {
  if (wished < 1 || wished > lastDay) return -1;
  for (const day of [wished, wished - 1, wished + 1, wished - 2, wished + 2]) {
    if (day >= 1 && day <= lastDay && weekdayOf(day) >= 1 && weekdayOf(day) <= 5) return day;
  }
  throw new Error("Three days in a row include a workday.");
}

function weekdayPart(part: string): DayPredicate {
  const [named = "", nth] = part.split("#");
  if (part.endsWith("L")) {
    const isLast = valuePart(named.replace("L", ""), 7);
    return ({ day, weekday, lastDay }) => (isLast(weekday) || (weekday === 0 && isLast(7))) && day > lastDay - 7;
  }
  if (nth !== undefined) {
    const isNamed = valuePart(named, 7);
    const isNth = valuePart(nth, 5);
    return ({ day, weekday }) => (isNamed(weekday) || (weekday === 0 && isNamed(7))) && isNth(Math.ceil(day / 7));
  }
  const isValue = valuePart(part, 7);
  return ({ weekday }) => isValue(weekday) || (weekday === 0 && isValue(7));
}

function valueList(field: string, max: number): ValuePredicate {
  const parts = field.split(",").map((part) => valuePart(part, max));
  return (value) => parts.some((matches) => matches(value));
}

/** A part is `*`, `a` or `a-b`, each perhaps with a step; `a/n` runs to the field's end. */
function valuePart(part: string, max: number): ValuePredicate {
  const [base = "", stepText] = part.split("/");
  const step = Number(stepText ?? 1);
  const min = max === 12 || max === 31 ? 1 : 0;
  if (base === "*" || base === "?") return (value) => (value - min) % step === 0;
  const [fromText = "", toText = stepText === undefined ? fromText : String(max)] = base.split("-");
  const from = Number(fromText);
  const to = Number(toText);
  return (value) => value >= from && value <= to && (value - from) % step === 0;
}
