import { cronPredicate, isFixedTimeExpression, sixFields } from "./cron-predicate.js";
import { wallReading } from "./wall-clock.js";

export interface OracleSchedule {
  readonly expression: string;
  readonly timeZone: string;
  readonly dayMatch?: "or" | "and";
  readonly dst?: { readonly gap?: "after" | "skip"; readonly overlap?: "first" | "second" | "both" };
}

const MINUTE_MS = 60_000;
/**
 * How far outside the range the other pass of a reading can lie. Since 1970 no clock was put back by more than seven
 * hours (Vostok, 1994), and since 2000 by more than three (Casey).
 */
const MARGIN_MS = 7.5 * 3_600_000;

/**
 * All fires with from < fire <= to, found by reading the wall clock of the zone at every step of the range.
 * A step is a minute if expression and offset are in whole minutes, and a second otherwise.
 */
export function bruteForceFires(schedule: OracleSchedule, from: number, to: number): number[] {
  const stepMs = stepFor(schedule, from);
  const clock = watchClock(schedule.timeZone, from - MARGIN_MS, to + MARGIN_MS, stepMs);
  const matches = cronPredicate(schedule.expression, schedule.dayMatch);
  const fixed = isFixedTimeExpression(schedule.expression);
  const gap = schedule.dst?.gap ?? (fixed ? "after" : "skip");
  const overlap = schedule.dst?.overlap ?? (fixed ? "first" : "both");
  const fires = new Set<number>();
  for (const [reading, instants] of passesByReading(clock)) {
    const [first = 0, second = first] = instants;
    if (!matches(reading)) continue;
    if (overlap !== "second") fires.add(first);
    if (overlap !== "first") fires.add(second);
  }
  if (gap === "after") for (const instant of gapEndsThatSwallowed(clock, stepMs, matches)) fires.add(instant);
  return [...fires].filter((fire) => fire > from && fire <= to).sort((a, b) => a - b);
}

function stepFor({ expression, timeZone }: OracleSchedule, from: number): number {
  const minute = Math.floor(from / MINUTE_MS) * MINUTE_MS;
  const wholeMinutes = wallReading(timeZone, minute) % MINUTE_MS === 0;
  return wholeMinutes && sixFields(expression)[0] === "0" ? MINUTE_MS : 1000;
}

interface Look {
  readonly instant: number;
  readonly reading: number;
}

function watchClock(timeZone: string, from: number, to: number, stepMs: number): Look[] {
  const looks: Look[] = [];
  for (let minute = Math.floor(from / MINUTE_MS) * MINUTE_MS; minute <= to; minute += MINUTE_MS) {
    const reading = wallReading(timeZone, minute);
    looks.push({ instant: minute, reading });
    if (stepMs === MINUTE_MS) continue;
    // A minute that takes a minute on the wall clock too has no jump inside.
    const even = wallReading(timeZone, minute + MINUTE_MS) === reading + MINUTE_MS;
    for (let ms = stepMs; ms < MINUTE_MS; ms += stepMs) {
      looks.push({ instant: minute + ms, reading: even ? reading + ms : wallReading(timeZone, minute + ms) });
    }
  }
  return looks;
}

/** The instants of each reading, in order. */
function passesByReading(clock: readonly Look[]): Map<number, number[]> {
  const passes = new Map<number, number[]>();
  for (const { instant, reading } of clock) {
    const seen = passes.get(reading);
    if (seen === undefined) passes.set(reading, [instant]);
    else seen.push(instant);
  }
  return passes;
}

/** The first instant after each gap that skips a matching reading. */
function gapEndsThatSwallowed(clock: readonly Look[], stepMs: number, matches: (reading: number) => boolean): number[] {
  const ends: number[] = [];
  for (const [index, look] of clock.entries()) {
    const before = clock[index - 1];
    if (before === undefined) continue;
    for (let missing = before.reading + stepMs; missing < look.reading; missing += stepMs) {
      if (!matches(missing)) continue;
      ends.push(look.instant);
      break;
    }
  }
  return ends;
}
