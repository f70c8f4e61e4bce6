import { CarillonError } from "../errors/carillon-error.js";
import type { DurationMs } from "./instant.js";

/** A hundred years, so that no sum of an instant and a duration leaves the calendar. */
export const maxDurationMs: DurationMs = 36_525 * 86_400_000;

/** From the longest to the shortest. A day is 24 hours of elapsed time, regardless of clock changes. */
const units = [
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

const maxTextLength = 64;
const short = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const iso = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,3}))?S)?)?$/;

/** Reads `1h30m`, `500ms`, `7d`, or ISO 8601 without months and years: `PT1H30M`, `P1D`. */
export function parseDuration(text: string): DurationMs {
  const parts = text.length <= maxTextLength ? (short.exec(text) ?? isoParts(text)) : null;
  const given = parts?.slice(1).some((part) => part !== undefined) ?? false;
  if (parts === null || !given) throw refusal(text);
  const total = units.reduce((sum, [, unitMs], index) => sum + Number(parts[index + 1] ?? 0) * unitMs, 0);
  if (total > maxDurationMs) throw refusal(text, "is longer than 36525d");
  return total;
}

/** The shortest spelling: `1h30m`, never `90m` or `5400s`; weeks are written as days. */
export function formatDuration(durationMs: DurationMs): string {
  if (!(Number.isSafeInteger(durationMs) && durationMs >= 0)) {
    throw new RangeError(`A duration is a whole number of milliseconds, not ${durationMs}.`);
  }
  let rest = durationMs;
  let text = "";
  for (const [name, unitMs] of units.slice(1)) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) text += `${count}${name}`;
  }
  return text === "" ? "0s" : text;
}

function isoParts(text: string): (string | undefined)[] | null {
  const parts = iso.exec(text);
  if (parts === null) return null;
  const [, weeks, days, hours, minutes, seconds, fraction] = parts;
  return [text, weeks, days, hours, minutes, seconds, fraction?.padEnd(3, "0")];
}

const remedy = "write it as 1h30m, 500ms or 7d (units w, d, h, m, s, ms, the longest first), or as PT1H30M.";

function refusal(text: string, problem = problemOf(text)): CarillonError {
  const shown = JSON.stringify(text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`);
  return new CarillonError("duration_invalid", `The duration ${shown} ${problem}; ${remedy}`);
}

function problemOf(text: string): string {
  if (text === "") return "is empty";
  if (text.length > maxTextLength) return `has more than ${maxTextLength} characters`;
  if (/^[+-]|[-][\d.]/.test(text)) return "has a sign";
  if (/^\d+$/.test(text)) return "has no unit";
  if (/\d(mo|months?|y|years?)\b|^P\d*[^T]*\d[MY]/i.test(text)) {
    return "counts months or years, whose length varies";
  }
  if (/\s/.test(text)) return "has a blank";
  if (/\d[.,]\d/.test(text)) return "has a fraction that is not allowed";
  if (/[A-Z]/.test(text) && !text.startsWith("P")) return "has a capital letter";
  return "cannot be parsed";
}
