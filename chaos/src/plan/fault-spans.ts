import type { FaultKind } from "./fault.js";

/** How long a silent node keeps its shards, and a silent worker its runs; the worker's is the shorter. */
export interface Limits {
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
}

export type Range = readonly [least: number, most: number];

export interface Span {
  /** How often it is drawn, against the others. */
  readonly weight: number;
  /** How long it lasts; one of the ranges is drawn. Those around the limits tell a slow node from a lost one. */
  readonly lasts: (limits: Limits) => readonly Range[];
  /** Whether a worker may lose its runs by it, so that they are worked on again. */
  readonly costsWorkers: boolean;
  /** What `byMs` of the fault is drawn from. */
  readonly by?: readonly Range[];
}

const hourMs = 3_600_000;
const exactly = (value: number): Range => [value, value];

export const spans: Readonly<Record<FaultKind, Span>> = {
  kill: { weight: 4, costsWorkers: true, lasts: () => [[500, 9_000]] },
  kill_at: { weight: 4, costsWorkers: true, lasts: () => [[500, 3_000]] },
  freeze: {
    weight: 5,
    costsWorkers: true,
    lasts: ({ leaseMs, workerTimeoutMs }) => [
      // Its runs are given to others and still under way there when it wakes.
      [workerTimeoutMs + 1_500, workerTimeoutMs + 3_500],
      [leaseMs + 500, leaseMs + 5_000],
    ],
  },
  stop: { weight: 1, costsWorkers: true, lasts: () => [[500, 4_000]] },
  reset: { weight: 2, costsWorkers: true, lasts: () => [exactly(0)] },
  lose_fire: { weight: 3, costsWorkers: true, lasts: () => [[2_000, 4_000]] },
  lose_claim: { weight: 2, costsWorkers: true, lasts: () => [[1_000, 2_000]] },
  lose_result: { weight: 2, costsWorkers: true, lasts: () => [[1_000, 2_000]] },
  lose_commit: { weight: 2, costsWorkers: true, lasts: () => [[1_000, 2_000]] },
  cut: {
    weight: 4,
    costsWorkers: true,
    lasts: ({ leaseMs }) => [
      [1_000, leaseMs],
      [leaseMs + 1_000, leaseMs + 5_000],
    ],
  },
  delay: { weight: 1, costsWorkers: false, lasts: () => [[2_000, 6_000]] },
  // Shorter than the time after which a node looks by itself, and longer.
  deaf: { weight: 2, costsWorkers: false, lasts: () => [[4_000, 12_000]] },
  // Within the tolerance, just beyond it, and far away, in both directions.
  clock: {
    weight: 2,
    costsWorkers: false,
    lasts: ({ leaseMs }) => [[2_000, leaseMs + 3_000]],
    by: [exactly(-hourMs), [-3_000, -700], [-300, 300], [700, 3_000], exactly(hourMs)],
  },
  pool: { weight: 1, costsWorkers: true, lasts: ({ leaseMs }) => [[1_000, leaseMs]] },
  database: { weight: 1, costsWorkers: true, lasts: () => [[500, 5_000]] },
  database_kill: { weight: 1, costsWorkers: true, lasts: () => [[500, 3_000]] },
};
