import type { Instant, RunStatus } from "@carillon/core";

/** How a run ended. */
export interface EndOfRun {
  readonly status: RunStatus;
  readonly attempt: number;
  readonly at: Instant;
  /** null: it never started. */
  readonly durationMs: number | null;
  readonly lagMs: number | null;
}

/** Times are of those that succeeded. */
export function statsOf(ends: readonly EndOfRun[]): JobStats {
  const count = (status: RunStatus): number => ends.filter((end) => end.status === status).length;
  const succeeded = ends.filter((end) => end.status === "succeeded");
  const durations = inOrder(succeeded.map((end) => end.durationMs));
  const lags = inOrder(succeeded.map((end) => end.lagMs));
  const at = inOrder(ends.map((end) => end.at));
  return {
    finished: ends.length,
    succeeded: succeeded.length,
    failed: count("failed"),
    cancelled: count("cancelled"),
    skipped: count("skipped"),
    retried: ends.filter((end) => end.attempt > 1).length,
    firstAt: at[0] ?? null,
    lastAt: at.at(-1) ?? null,
    durationP50Ms: percentile(durations, 0.5),
    durationP95Ms: percentile(durations, 0.95),
    lagP95Ms: percentile(lags, 0.95),
  };
}

function inOrder(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null).toSorted((a, b) => a - b);
}

/** Between two values where it falls between them. */
function percentile(sorted: readonly number[], part: number): number | null {
  const place = part * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below === undefined || above === undefined ? null : below + (above - below) * (place - Math.floor(place));
}

/** How the last finished runs of a job went. */
export interface JobStats {
  readonly finished: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  /** Those that took more than one try. */
  readonly retried: number;
  /** When the first and the last of them ended. */
  readonly firstAt: Instant | null;
  readonly lastAt: Instant | null;
  readonly durationP50Ms: number | null;
  readonly durationP95Ms: number | null;
  readonly lagP95Ms: number | null;
}
