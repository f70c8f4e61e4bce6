import type { DurationMs } from "../time/instant.js";

/** `a`, `a and b`, `a, b and c`. */
export function listOf(items: readonly string[], conjunction: "and" | "or" = "and"): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} ${conjunction} ${items.at(-1)}`;
}

/** `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`. */
export function ordinal(value: number): string {
  const tens = value % 100;
  const suffixes = tens >= 11 && tens <= 13 ? [] : ["", "st", "nd", "rd"];
  return `${value}${suffixes[value % 10] || "th"}`;
}

export function count(value: number, unit: string): string {
  return `${value} ${unit}${value === 1 ? "" : "s"}`;
}

/** Hours are the largest unit, since a day does not always have 24. */
export function durationInWords(ms: DurationMs): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
    ["millisecond", 1],
  ] as const) {
    const value = Math.floor(rest / size);
    if (value > 0) parts.push(count(value, unit));
    rest -= value * size;
  }
  return parts.length === 0 ? "0 seconds" : parts.join(" ");
}

export function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
