import { type ClockSpan, clockSpans } from "../../../../../core/test/oracle/clock-spans.js";
import { dayMs, yearEnd, yearStart } from "../draw/year.js";

/** Longer than any stretch of closed days. */
export const marginMs = 17 * dayMs;
/** Longer than the time after the year in which the rest is done, and the margin. */
const outsideMs = 60 * dayMs;

const known = new Map<string, readonly ClockSpan[]>();

/** How a zone's wall clock ran in the year, some weeks more on both sides. */
export function clockOf(timeZone: string): readonly ClockSpan[] {
  const spans = known.get(timeZone) ?? clockSpans(timeZone, yearStart - outsideMs, yearEnd + outsideMs);
  known.set(timeZone, spans);
  return spans;
}

/** What the wall clock shows at an instant. */
export function readingAt(spans: readonly ClockSpan[], instant: number): number {
  const span = spans.find(({ from, to }) => from <= instant && instant < to);
  if (span === undefined) throw new RangeError(`${new Date(instant).toISOString()} lies outside the year`);
  return instant + span.offset;
}
