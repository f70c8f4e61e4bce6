import { DAY_OF_MONTH, DAY_OF_WEEK, type CronPart, type FieldRule } from "./fields.js";
import { parseEnds, parseValue } from "./parse-value.js";
import { refusal } from "./refusal.js";

const DAY_OF_MONTH_FORMS = "write L, L-n, LW, L-nW or nW";
const DAY_OF_WEEK_FORMS = "write d#n for the nth or dL for the last weekday d of the month, such as MON#1 or FRIL";

/**
 * Parses the forms of the two day fields: `L`, `L-n`, `LW`, `L-nW`, `nW`, `d#n`, `d#n-m`, `dL` and `d#L`, with a range of
 * weekdays in place of d too. A range becomes one part per weekday and n. Null for the forms that every field has.
 */
export function parseDayParts(rule: FieldRule, text: string): readonly CronPart[] | null {
  const upper = text.toUpperCase();
  if (rule === DAY_OF_MONTH) {
    const part = parseMonthDay(text, upper);
    return part === null ? null : [part];
  }
  if (rule === DAY_OF_WEEK) return parseWeekdays(text, upper);
  if (upper.includes("#")) throw refusal(rule.name, text, "# is for day-of-week", DAY_OF_WEEK_FORMS);
  if (/^(?:L|[0-9]+L|L-[0-9]+W?|L?W|[0-9]+W)$/.test(upper)) {
    throw refusal(rule.name, text, "L and W are for the day fields", "use numbers here");
  }
  return null;
}

function parseMonthDay(text: string, upper: string): CronPart | null {
  const { name } = DAY_OF_MONTH;
  const [, days, workday] = /^L(?:-([0-9]+))?(W?)$/.exec(upper) ?? [];
  if (workday !== undefined) {
    const before = Number(days ?? 0);
    if (before <= 30) return { kind: workday === "W" ? "last_workday" : "last_day", before };
    const remedy = `use L-0${workday} to L-30${workday}`;
    throw refusal(name, text, "no month has that many days before its last", remedy);
  }
  const nearest = /^([0-9]+)W$/.exec(upper)?.[1];
  if (nearest !== undefined) return { kind: "nearest_workday", day: parseValue(DAY_OF_MONTH, text, nearest) };
  if (upper.includes("#")) throw refusal(name, text, "# is for day-of-week", DAY_OF_WEEK_FORMS);
  if (/[LW]/.test(upper)) throw refusal(name, text, "L and W do not combine like this", DAY_OF_MONTH_FORMS);
  return null;
}

function parseWeekdays(text: string, upper: string): readonly CronPart[] | null {
  const { name } = DAY_OF_WEEK;
  const hash = upper.indexOf("#");
  if (hash >= 0) return nthWeekdays(text, text.slice(0, hash), upper.slice(hash + 1));
  if (upper === "L") throw refusal(name, text, "L needs its weekday", "write 6L or SATL for the last Saturday");
  if (/^(?:[0-9]+W|L?W|L-[0-9]+W?)$/.test(upper))
    throw refusal(name, text, "is a form of day-of-month", DAY_OF_WEEK_FORMS);
  if (/^[^/]+L$/.test(upper)) return lastWeekdays(text, text.slice(0, -1));
  if (/L(?:$|\/)/.test(upper)) throw refusal(name, text, "L takes no step", DAY_OF_WEEK_FORMS);
  return null;
}

function nthWeekdays(text: string, days: string, nth: string): readonly CronPart[] {
  const { name } = DAY_OF_WEEK;
  if (text.includes("/")) throw refusal(name, text, "# takes no step", "write a list, such as MON#1,WED#3");
  if (nth === "L") return lastWeekdays(text, days);
  const weekdays = parseWeekdayRange(text, days, `#${nth}`);
  const [, first, last = first] = /^0*([1-5])(?:-0*([1-5]))?$/.exec(nth) ?? [];
  if (first === undefined || last === undefined) {
    if (nth.includes("L")) throw refusal(name, text, "L after # stands alone", "write d#L for the last weekday d");
    const remedy = "write 1 to 5 after #, or dL for the last";
    throw refusal(name, text, "a month has at most five of a weekday", remedy);
  }
  if (first > last) throw refusal(name, text, "the range runs backwards", `write ${days}#${last}-${first}`);
  const parts: CronPart[] = [];
  for (const weekday of weekdays) {
    for (let at = Number(first); at <= Number(last); at++) parts.push({ kind: "nth_weekday", weekday, nth: at });
  }
  return parts;
}

function lastWeekdays(text: string, days: string): readonly CronPart[] {
  return parseWeekdayRange(text, days, "L").map((weekday) => ({ kind: "last_weekday", weekday }));
}

/** The weekdays of `d` or `d-e`. `suffix` is the form that each of them takes in the spelling of a refused range. */
function parseWeekdayRange(text: string, days: string, suffix: string): readonly number[] {
  if (!days.includes("-")) return [parseValue(DAY_OF_WEEK, text, days)];
  const { from, to } = parseEnds(DAY_OF_WEEK, text, days, { step: 1, suffix });
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
