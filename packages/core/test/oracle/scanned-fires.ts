import type { OracleSchedule } from "./brute-force-fires.js";
import { type ClockSpan, gapEndOver, instantsShowing } from "./clock-spans.js";
import { cronPredicates, isFixedTimeExpression } from "./cron-predicate.js";

const DAY_MS = 86_400_000;

/** The days of a reading that a gap or a repeated hour can move a fire by. */
const MARGIN_DAYS = 2;

/**
 * Like bruteForceFires, for ranges of a year: tests every day of the range, and every hour, minute and second of matching days.
 * `spans` are those of the zone of the schedule, over the range and two more days on both sides.
 */
export function scannedFires(
  schedule: OracleSchedule,
  spans: readonly ClockSpan[],
  from: number,
  to: number,
): number[] {
  const { expression, dayMatch, dst } = schedule;
  const isFixed = isFixedTimeExpression(expression);
  const gap = dst?.gap ?? (isFixed ? "after" : "skip");
  const overlap = dst?.overlap ?? (isFixed ? "first" : "both");
  const fires = new Set<number>();
  const steady = steadyOffsets(spans);
  for (const { day, times } of matchingDays(expression, dayMatch, from, to)) {
    const offset = steady(day);
    for (const time of times) {
      const reading = day + time;
      if (offset !== null) fires.add(reading - offset);
      else for (const instant of firesOf(spans, reading, { gap, overlap })) fires.add(instant);
    }
  }
  return [...fires].filter((fire) => fire > from && fire <= to).sort((a, b) => a - b);
}

interface Policy {
  readonly gap: "after" | "skip";
  readonly overlap: "first" | "second" | "both";
}

/** The fires of a matching reading. */
function firesOf(spans: readonly ClockSpan[], reading: number, { gap, overlap }: Policy): number[] {
  const [first, second = first] = instantsShowing(spans, reading);
  if (first === undefined || second === undefined) {
    const end = gap === "after" ? gapEndOver(spans, reading) : null;
    return end === null ? [] : [end];
  }
  if (overlap === "both") return [first, second];
  return [overlap === "first" ? first : second];
}

interface MatchingDay {
  /** Its midnight, as a reading. */
  readonly day: number;
  /** Since midnight. */
  readonly times: readonly number[];
}

function* matchingDays(
  expression: string,
  dayMatch: OracleSchedule["dayMatch"],
  from: number,
  to: number,
): Generator<MatchingDay> {
  const { isSecond, isMinute, isHour, isDate } = cronPredicates(expression, dayMatch);
  const times: number[] = [];
  for (const hour of upTo(23, isHour)) {
    for (const minute of upTo(59, isMinute)) {
      for (const second of upTo(59, isSecond)) times.push(((hour * 60 + minute) * 60 + second) * 1_000);
    }
  }
  const first = (Math.floor(from / DAY_MS) - MARGIN_DAYS) * DAY_MS;
  for (let day = first; day <= to + MARGIN_DAYS * DAY_MS; day += DAY_MS) {
    if (isDate(new Date(day))) yield { day, times };
  }
}

function upTo(max: number, matches: (value: number) => boolean): number[] {
  return Array.from({ length: max + 1 }, (_, value) => value).filter(matches);
}

/** The offset of every reading of a day; null if the clock jumps within a day of it. */
function steadyOffsets(spans: readonly ClockSpan[]): (day: number) => number | null {
  return (day) => {
    const span = spans.find(({ from, to }) => from <= day - 2 * DAY_MS && day + 3 * DAY_MS <= to);
    return span?.offset ?? null;
  };
}
