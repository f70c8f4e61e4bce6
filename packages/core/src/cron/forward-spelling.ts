import { DAY_OF_WEEK, type FieldRule } from "./fields.js";

/** Spells a range that runs backwards, such as 22-2, as the list that says the same: 22-23,0-2. */
export function forwardSpelling(rule: FieldRule, from: number, to: number, step: number): string {
  const isWeek = rule === DAY_OF_WEEK;
  if (isWeek && to === 0) return `${from}-7${step === 1 ? "" : `/${step}`}`;
  const last = isWeek ? 6 : rule.max;
  const size = last - rule.min + 1;
  const resumed = from + step * Math.ceil((last + 1 - from) / step) - size;
  const tail = resumed <= to ? [rangeText(resumed, to, step)] : [];
  return [rangeText(from, last, step), ...tail].join(",");
}

function rangeText(from: number, to: number, step: number): string {
  if (from + step > to) return String(from);
  return step === 1 ? `${from}-${to}` : `${from}-${to}/${step}`;
}
