import { type Step, describeStep } from "./step.js";
import type { WorkerFaultKind } from "./worker-faults.js";

/**
 * kill: SIGKILL, started again later. kill_at: the same, just before or after the node sends a given statement to the
 * database. freeze: SIGSTOP, then SIGCONT. stop: a clean stop, started again later. reset: every connection to the
 * database is reset. lose_fire, lose_claim, lose_result, lose_commit: the connection is reset between a fire, a claim,
 * the end of a run or a commit and its answer. cut: no bytes pass between node and database, and those sent meanwhile
 * arrive after the heal. delay: every packet takes longer. deaf: no NOTIFY reaches the node. clock: the node's wall
 * clock is moved, then restored. pool: the node loses its connections while another client holds all that the server
 * allows. database: PostgreSQL is stopped at once, without a checkpoint, and started again. database_kill: the same by
 * SIGKILL.
 */
export const faultKinds = [
  "kill",
  "kill_at",
  "freeze",
  "stop",
  "reset",
  "lose_fire",
  "lose_claim",
  "lose_result",
  "lose_commit",
  "cut",
  "delay",
  "deaf",
  "clock",
  "pool",
  "database",
  "database_kill",
] as const;

/** Only with --mixed. upgrade: a clean stop, then a start of this checkout. upgrade_killed: SIGKILL in the middle of its migrations, then a start. */
const upgradeKinds = ["upgrade", "upgrade_killed"] as const;

export type FaultKind = (typeof faultKinds)[number] | (typeof upgradeKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Null for a fault of the database, which all nodes share. */
  readonly node: number | null;
  readonly atMs: number;
  readonly lastsMs: number;
  /** How far a clock fault moves the clock; null for other kinds. */
  readonly byMs: number | null;
  /** The step of a kill_at; null for other kinds. */
  readonly at: Step | null;
}

export const isDatabaseFault = (kind: FaultKind): boolean => kind === "database" || kind === "database_kill";

/** A fault of a node, of the database or of a worker, for printing. */
type Described = Omit<Fault, "kind"> & { readonly kind: FaultKind | WorkerFaultKind };

export function describeFault({ kind, node, atMs, lastsMs, byMs, at }: Described): string {
  const target = kind.startsWith("worker_") ? "worker" : node === null ? "database" : `node ${node}`;
  const by = byMs === null ? "" : `  by ${byMs} ms`;
  const where = at === null ? "" : `  ${describeStep(at)}`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${kind.padEnd(14)}${target.padEnd(10)}${(lastsMs / 1_000).toFixed(1)} s${by}${where}`;
}

/** How long a silent node keeps its shards, and a silent worker its runs; the worker's limit is the shorter one. */
export interface Limits {
  readonly leaseMs: number;
  readonly workerTimeoutMs: number;
}

export type Range = readonly [min: number, max: number];

export interface FaultSpec {
  /** How often the kind is drawn, relative to the others. */
  readonly weight: number;
  /** The possible durations; one range is drawn. Ranges around the limits separate a slow node from a lost one. */
  readonly lasts: (limits: Limits) => readonly Range[];
  /** Whether a worker may lose its runs, so that they are attempted again. */
  readonly interruptsRuns: boolean;
  /** The ranges for `byMs` of the fault. */
  readonly by?: readonly Range[];
}

const hourMs = 3_600_000;
const exactly = (value: number): Range => [value, value];

export const faultSpecs: Readonly<Record<FaultKind, FaultSpec>> = {
  kill: { weight: 4, interruptsRuns: true, lasts: () => [[500, 9_000]] },
  kill_at: { weight: 4, interruptsRuns: true, lasts: () => [[500, 3_000]] },
  freeze: {
    weight: 5,
    interruptsRuns: true,
    lasts: ({ leaseMs, workerTimeoutMs }) => [
      // Other workers have its runs and still work on them when it wakes.
      [workerTimeoutMs + 1_500, workerTimeoutMs + 3_500],
      [leaseMs + 500, leaseMs + 5_000],
    ],
  },
  stop: { weight: 1, interruptsRuns: true, lasts: () => [[500, 4_000]] },
  reset: { weight: 2, interruptsRuns: true, lasts: () => [exactly(0)] },
  lose_fire: { weight: 3, interruptsRuns: true, lasts: () => [[2_000, 4_000]] },
  lose_claim: { weight: 2, interruptsRuns: true, lasts: () => [[1_000, 2_000]] },
  lose_result: { weight: 2, interruptsRuns: true, lasts: () => [[1_000, 2_000]] },
  lose_commit: { weight: 2, interruptsRuns: true, lasts: () => [[1_000, 2_000]] },
  cut: {
    weight: 4,
    interruptsRuns: true,
    lasts: ({ leaseMs }) => [
      [1_000, leaseMs],
      [leaseMs + 1_000, leaseMs + 5_000],
    ],
  },
  delay: { weight: 1, interruptsRuns: false, lasts: () => [[2_000, 6_000]] },
  // Shorter and longer than the interval of a node's full scan.
  deaf: { weight: 2, interruptsRuns: false, lasts: () => [[4_000, 12_000]] },
  // Within the tolerance, just beyond it, and far away, in both directions.
  clock: {
    weight: 2,
    interruptsRuns: false,
    lasts: ({ leaseMs }) => [[2_000, leaseMs + 3_000]],
    by: [exactly(-hourMs), [-3_000, -700], [-300, 300], [700, 3_000], exactly(hourMs)],
  },
  pool: { weight: 1, interruptsRuns: true, lasts: ({ leaseMs }) => [[1_000, leaseMs]] },
  database: { weight: 1, interruptsRuns: true, lasts: () => [[500, 5_000]] },
  database_kill: { weight: 1, interruptsRuns: true, lasts: () => [[500, 3_000]] },
  upgrade: { weight: 0, interruptsRuns: true, lasts: () => [exactly(0)] },
  upgrade_killed: { weight: 0, interruptsRuns: true, lasts: () => [exactly(0)] },
};
