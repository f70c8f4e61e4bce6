import { DAY_OF_MONTH, DAY_OF_WEEK, type CronPart, type FieldRule } from "./fields.js";
import { parseValue } from "./parse-value.js";
import { refusal } from "./refusal.js";

const DAY_OF_MONTH_FORMS = "write L, L-n, LW or nW";
const DAY_OF_WEEK_FORMS = "write d#n for the nth or dL for the last weekday d of the month, such as MON#1 or FRIL";

/** Understands `L`, `L-n`, `LW`, `nW`, `d#n` and `dL`; null for the forms that every field has. */
export function parseDayPart(rule: FieldRule, text: string): CronPart | null {
  const upper = text.toUpperCase();
  if (rule === DAY_OF_MONTH) return parseMonthDay(text, upper);
  if (rule === DAY_OF_WEEK) return parseWeekday(text, upper);
  if (upper.includes("#")) throw refusal(rule.name, text, "# is for day-of-week", DAY_OF_WEEK_FORMS);
  if (/^(?:L|[0-9]+L|L-[0-9]+|L?W|[0-9]+W)$/.test(upper)) {
    throw refusal(rule.name, text, "L and W are for the day fields", "use numbers here");
  }
  return null;
}

function parseMonthDay(text: string, upper: string): CronPart | null {
  const { name } = DAY_OF_MONTH;
  if (upper === "L") return { kind: "last_day", before: 0 };
  if (upper === "LW") return { kind: "last_workday" };
  const before = /^L-([0-9]+)$/.exec(upper)?.[1];
  if (before !== undefined) {
    if (Number(before) <= 30) return { kind: "last_day", before: Number(before) };
    throw refusal(name, text, "no month has that many days before its last", "use L-0 to L-30");
  }
  const nearest = /^([0-9]+)W$/.exec(upper)?.[1];
  if (nearest !== undefined) return { kind: "nearest_workday", day: parseValue(DAY_OF_MONTH, text, nearest) };
  if (upper.includes("#")) throw refusal(name, text, "# is for day-of-week", DAY_OF_WEEK_FORMS);
  if (/[LW]/.test(upper)) throw refusal(name, text, "L and W do not combine like this", DAY_OF_MONTH_FORMS);
  return null;
}

function parseWeekday(text: string, upper: string): CronPart | null {
  const { name } = DAY_OF_WEEK;
  const hash = upper.indexOf("#");
  if (hash >= 0) {
    const weekday = parseValue(DAY_OF_WEEK, text, text.slice(0, hash));
    const nth = upper.slice(hash + 1);
    if (/^0*[1-5]$/.test(nth)) return { kind: "nth_weekday", weekday, nth: Number(nth) };
    throw refusal(name, text, "a month has at most five of a weekday", "write 1 to 5 after #, or dL for the last");
  }
  if (upper === "L") throw refusal(name, text, "L needs its weekday", "write 6L or SATL for the last Saturday");
  if (/^[^-/]+L$/.test(upper)) {
    return { kind: "last_weekday", weekday: parseValue(DAY_OF_WEEK, text, text.slice(0, -1)) };
  }
  if (/^(?:[0-9]+W|L?W|L-[0-9]+)$/.test(upper))
    throw refusal(name, text, "is a form of day-of-month", DAY_OF_WEEK_FORMS);
  if (/L(?:$|\/)/.test(upper)) throw refusal(name, text, "L takes one weekday and no step", DAY_OF_WEEK_FORMS);
  return null;
}
