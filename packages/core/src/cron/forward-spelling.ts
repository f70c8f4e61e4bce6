import { DAY_OF_WEEK, type FieldRule } from "./fields.js";

/** Spells a range that runs backwards, such as 22-2, as the equivalent list: 22-23,0-2. */
export function forwardSpelling(rule: FieldRule, from: number, to: number, style: SpellingStyle): string {
  const { step, suffix } = style;
  const spell = (value: number) => (style.byName && rule.names[value - rule.min]) || String(value);
  const range = (first: number, last: number) => {
    if (first + step > last) return `${spell(first)}${suffix}`;
    return `${spell(first)}-${spell(last)}${step === 1 ? "" : `/${step}`}${suffix}`;
  };
  const isWeek = rule === DAY_OF_WEEK;
  if (isWeek && to === 0) return range(from, 7);
  const last = isWeek ? 6 : rule.max;
  const resumed = from + step * Math.ceil((last + 1 - from) / step) - (last - rule.min + 1);
  return resumed <= to ? `${range(from, last)},${range(resumed, to)}` : range(from, last);
}

interface SpellingStyle {
  readonly step: number;
  /** What follows each range: `#1` or `L` for weekdays of a month. */
  readonly suffix: string;
  /** FRI-SAT,SUN-MON rather than 5-6,0-1. */
  readonly byName: boolean;
}
