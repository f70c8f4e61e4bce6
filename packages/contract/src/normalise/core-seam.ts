import { CarillonError, type Instant } from "@carillon/core";

export function parseDuration(text: string): number {
  const found = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  if (!found) throw new CarillonError("duration_invalid", `"${text}" is not a duration`);
  return Number(found[1]) * { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 }[found[2] as "ms"];
}

export function parseInstant(text: string, _zone?: string): Instant {
  const value = Date.parse(text);
  if (Number.isNaN(value)) throw new CarillonError("schedule_invalid", `"${text}" is not an instant`);
  return value;
}
