import { daysInMonth } from "../zone/civil.js";
import { parseCivilDay } from "./civil-day.js";
import type { DayRange, MonthDay, YearlyRange } from "./definition.js";

export type DateEntry =
  | { readonly kind: "range"; readonly range: DayRange }
  | { readonly kind: "yearly"; readonly range: YearlyRange }
  | { readonly kind: "problem"; readonly detail: string };

const EXAMPLES = 'write "2026-12-24", "2026-12-24/2027-01-01" (both included), or "12-24" for every year';

/** Reads one date of a calendar: a day, a range of days, or either of them for every year. */
export function parseDateEntry(text: string): DateEntry {
  const [first = "", second = first, ...rest] = text.trim().split("/");
  if (rest.length > 0) return problem(`"${text}" has more than one "/": ${EXAMPLES}`);
  const yearly = [parseMonthDay(first), parseMonthDay(second)] as const;
  if (yearly[0] !== null && yearly[1] !== null) return { kind: "yearly", range: { from: yearly[0], to: yearly[1] } };
  const from = parseCivilDay(first);
  const to = parseCivilDay(second);
  if (from === null || to === null) return problem(whatIsWrong(from === null ? first : second));
  if (to < from) return problem(`"${text}" runs backwards: write the earlier day first`);
  return { kind: "range", range: { from, to } };
}

function problem(detail: string): DateEntry {
  return { kind: "problem", detail };
}

function whatIsWrong(part: string): string {
  if (/^(\d{4}-)?\d{2}-\d{2}$/.test(part)) {
    return parseMonthDay(part) === null
      ? `"${part}" is a day that does not exist`
      : `"${part}" has no year but the other end of the range has one`;
  }
  return `"${part}" is not a date: ${EXAMPLES}`;
}

function parseMonthDay(text: string): MonthDay | null {
  const match = /^(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return null;
  const [month, day] = [Number(match[1]), Number(match[2])];
  // A leap year, since 29 February is a day of some years.
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(2000, month)) return null;
  return { month, day };
}
