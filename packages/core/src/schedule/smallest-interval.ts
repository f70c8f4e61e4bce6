import { type CompiledCron, compileCron } from "../cron/compile.js";
import { mask60Of, maskOf } from "../cron/field-mask.js";
import { type DurationMs, type Instant, NEVER } from "../time/instant.js";
import type { CronSchedule } from "./spec.js";

const DAY_SECONDS = 86_400;
/** These years include a leap year and its neighbours, and almost every weekday of each date. */
const SAMPLE_FROM: Instant = Date.UTC(2024, 0, 1);
const SAMPLE_TO: Instant = Date.UTC(2036, 0, 1);
const MAX_DAYS = 2_000;
/** Enough to find fires that a clock change moves together; a schedule with more fires in three hours has shorter intervals. */
const MAX_FIRES_AROUND_CHANGE = 64;
const AROUND_CHANGE_MS = 3 * 3_600_000;

/**
 * The smallest distance between two consecutive fires. Within a day it is exact, from the fields; between days and
 * around clock changes it is the smallest over twelve years, a fixed sample so that every node agrees.
 */
export function smallestCronInterval(spec: CronSchedule): DurationMs {
  const cron = compileCron(spec.cron, spec);
  return Math.min(smallestOnTheWall(spec, cron), smallestAroundChanges(cron));
}

function smallestOnTheWall(spec: CronSchedule, cron: CompiledCron): DurationMs {
  const { fields } = cron;
  const seconds = values60(mask60Of(fields.second));
  const minutes = nest(values60(mask60Of(fields.minute)), 60, {
    first: seconds[0] ?? 0,
    last: seconds.at(-1) ?? 0,
    smallest: smallestStep(seconds),
  });
  const hours = nest(values24(maskOf(fields.hour)), 3600, minutes);
  const days = smallestDayDistance(compileCron(spec.cron, { ...spec, timeZone: "UTC" }));
  return Math.min(hours.smallest, days * DAY_SECONDS - hours.last + hours.first) * 1000;
}

/** The times of a field and its finer fields, in seconds: the first, the last, the smallest step. */
interface Times {
  readonly first: number;
  readonly last: number;
  readonly smallest: number;
}

function nest(values: readonly number[], unit: number, inner: Times): Times {
  const between = smallestStep(values) * unit - inner.last + inner.first;
  return {
    first: (values[0] ?? 0) * unit + inner.first,
    last: (values.at(-1) ?? 0) * unit + inner.last,
    smallest: Math.min(inner.smallest, between),
  };
}

function smallestStep(values: readonly number[]): number {
  let smallest = Infinity;
  for (let index = 1; index < values.length; index += 1) {
    smallest = Math.min(smallest, (values[index] ?? 0) - (values[index - 1] ?? 0));
  }
  return smallest;
}

function values60({ low, high }: { readonly low: number; readonly high: number }): number[] {
  return Array.from({ length: 60 }, (_, value) => value).filter((value) =>
    value < 30 ? low & (1 << value) : high & (1 << (value - 30)),
  );
}

function values24(mask: number): number[] {
  return Array.from({ length: 24 }, (_, value) => value).filter((value) => mask & (1 << value));
}

/** The days between the closest two dates of the expression. */
function smallestDayDistance(inUtc: CompiledCron): number {
  const dayOf = (instant: Instant) => Math.floor(instant / (DAY_SECONDS * 1000));
  let smallest = Infinity;
  let day = dayOf(inUtc.next(SAMPLE_FROM - 1));
  for (let count = 0; count < MAX_DAYS && smallest > 1; count += 1) {
    const fire = inUtc.next((day + 1) * DAY_SECONDS * 1000 - 1);
    if (fire === NEVER) break;
    smallest = Math.min(smallest, dayOf(fire) - day);
    day = dayOf(fire);
    if (fire > SAMPLE_TO) break;
  }
  return smallest;
}

function smallestAroundChanges(cron: CompiledCron): DurationMs {
  let smallest = Infinity;
  for (let at = SAMPLE_FROM / 1000; at < SAMPLE_TO / 1000;) {
    const span = cron.zone.spanAt(at);
    if (span.shiftOut !== 0) smallest = Math.min(smallest, smallestAround(cron, span.end * 1000));
    at = span.end;
  }
  return smallest;
}

function smallestAround(cron: CompiledCron, change: Instant): DurationMs {
  let smallest = Infinity;
  let fire = cron.previous(cron.previous(change));
  for (let count = 0; count < MAX_FIRES_AROUND_CHANGE && fire < change + AROUND_CHANGE_MS; count += 1) {
    const next = cron.next(fire);
    if (next === NEVER) break;
    smallest = Math.min(smallest, next - fire);
    fire = next;
  }
  return smallest;
}
