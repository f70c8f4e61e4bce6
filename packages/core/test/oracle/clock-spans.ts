import { wallReading } from "./wall-clock.js";

/** A span of time with a constant offset: from <= instant < to. */
export interface ClockSpan {
  readonly from: number;
  readonly to: number;
  /** The reading of the wall clock minus the instant. */
  readonly offset: number;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The spans of the wall clock of a zone, found by reading it every hour, and every second of an hour with a jump. Two jumps within an hour that undo one another would not be seen; no zone has had them since 1970.
 */
export function clockSpans(timeZone: string, from: number, to: number): ClockSpan[] {
  const start = Math.floor(from / HOUR_MS) * HOUR_MS;
  const spans: ClockSpan[] = [];
  let began = start;
  let offset = offsetAt(timeZone, start);
  const jump = (at: number): void => {
    spans.push({ from: began, to: at, offset });
    began = at;
    offset = offsetAt(timeZone, at);
  };
  for (let hour = start; hour <= to; hour += HOUR_MS) {
    if (offsetAt(timeZone, hour + HOUR_MS) === offset) continue;
    for (let at = hour + SECOND_MS; at <= hour + HOUR_MS; at += SECOND_MS) {
      if (offsetAt(timeZone, at) !== offset) jump(at);
    }
  }
  return [...spans, { from: began, to: Number.POSITIVE_INFINITY, offset }];
}

function offsetAt(timeZone: string, instant: number): number {
  return wallReading(timeZone, instant) - instant;
}

/** The instants of a reading, in order: one, two in an overlap, none in a gap. */
export function instantsShowing(spans: readonly ClockSpan[], reading: number): number[] {
  return spans.flatMap(({ from, to, offset }) => {
    const instant = reading - offset;
    return from <= instant && instant < to ? [instant] : [];
  });
}

/** The first instant after the gap that skips a reading; null if none does. */
export function gapEndOver(spans: readonly ClockSpan[], reading: number): number | null {
  for (const [index, { from, offset }] of spans.entries()) {
    const before = spans[index - 1];
    if (before !== undefined && before.to + before.offset <= reading && reading < from + offset) return from;
  }
  return null;
}
