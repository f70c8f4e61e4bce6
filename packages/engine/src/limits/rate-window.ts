import type { DurationMs, Instant } from "@carillon/core";

/** Starts that a limit remembers: pairs of an instant and the number of runs that started then, or shortly before. Oldest first. */
export type Starts = readonly number[];

/** Pairs that one limit keeps. */
const maxPairs = 64;

/** The starts without those that no later window can hold. */
export function startsSince(starts: Starts, from: Instant): number[] {
  const kept: number[] = [];
  for (let at = 0; at + 1 < starts.length; at += 2) {
    const [instant = 0, count = 0] = starts.slice(at, at + 2);
    if (instant > from) kept.push(instant, count);
  }
  return kept;
}

/**
 * Adds starts. Of too many pairs, neighbours are merged at the later instant: a start is remembered up to a sixty-fourth of a window too
 * long, never too short, so that the limit holds.
 */
export function withStarts(starts: Starts, added: readonly Instant[], perMs: DurationMs): number[] {
  const pairs: [Instant, number][] = [];
  for (let at = 0; at + 1 < starts.length; at += 2) pairs.push([starts[at] ?? 0, starts[at + 1] ?? 0]);
  for (const instant of added) pairs.push([instant, 1]);
  pairs.sort(([a], [b]) => a - b);
  return merged(pairs, pairs.length > maxPairs ? Math.ceil(perMs / maxPairs) : 0).flat();
}

function merged(pairs: readonly [Instant, number][], withinMs: DurationMs): [Instant, number][] {
  const kept: [Instant, number][] = [];
  let first = Number.NEGATIVE_INFINITY;
  for (const [instant, count] of pairs) {
    const last = kept.at(-1);
    if (last !== undefined && instant - first <= withinMs) {
      last[0] = instant;
      last[1] += count;
    } else {
      kept.push([instant, count]);
      first = instant;
    }
  }
  return kept;
}

export interface RateState {
  readonly limit: number;
  readonly perMs: DurationMs;
  readonly burst: number;
  readonly starts: Starts;
  /** Runs that were admitted and have not started. */
  readonly unstarted: number;
}

/**
 * How many more runs may be admitted now. An admitted run counts in every window until it starts, so that no window ever holds more starts
 * than the limit, however late the workers start them.
 */
export function rateRoom({ limit, perMs, burst, starts, unstarted }: RateState, now: Instant): number {
  return Math.max(0, Math.min(limit - countOf(startsSince(starts, now - perMs)) - unstarted, burst - unstarted));
}

/** When time alone makes room for one more run; null: only a start or an end of another run can. */
export function nextRoomAt({ limit, perMs, burst, starts, unstarted }: RateState, now: Instant): Instant | null {
  if (burst <= unstarted || limit <= unstarted) return null;
  const inWindow = startsSince(starts, now - perMs);
  let left = countOf(inWindow) + unstarted;
  if (left < limit) return now;
  for (let at = 0; at + 1 < inWindow.length; at += 2) {
    left -= inWindow[at + 1] ?? 0;
    if (left < limit) return (inWindow[at] ?? now) + perMs;
  }
  return null;
}

function countOf(starts: Starts): number {
  let count = 0;
  for (let at = 1; at < starts.length; at += 2) count += starts[at] ?? 0;
  return count;
}
