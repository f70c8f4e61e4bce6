import type { SeededRandom } from "./random.js";

/**
 * kill: kill -9, started again later. freeze: SIGSTOP, then SIGCONT. stop: a clean stop, started again later. reset: every
 * connection to the database is reset. lose_answer: the connection is reset between a fire and its answer. cut: the way to
 * the database goes silent, what was sent meanwhile arrives after the heal. delay: every packet takes longer. database:
 * PostgreSQL is stopped at once, without a checkpoint, and started again.
 */
export type FaultKind = "kill" | "freeze" | "stop" | "reset" | "lose_answer" | "cut" | "delay" | "database";

export interface Fault {
  readonly kind: FaultKind;
  /** Null for the database, which is everybody's. */
  readonly node: number | null;
  readonly atMs: number;
  readonly lastsMs: number;
}

export interface PlanBounds {
  readonly nodes: number;
  readonly loadMs: number;
  readonly limits: Limits;
}

/** How long a silent node keeps its shards, and a silent worker its runs; the worker's is the shorter. */
export interface Limits {
  readonly leaseMs: number;
  readonly workerSilenceMs: number;
}

interface Span {
  readonly weight: number;
  /** How long it lasts; one of the ranges is drawn. Those around the limits tell a slow node from a lost one. */
  readonly lasts: (limits: Limits) => readonly (readonly [least: number, most: number])[];
}

const kinds: Readonly<Record<FaultKind, Span>> = {
  kill: { weight: 4, lasts: () => [[500, 9_000]] },
  freeze: {
    weight: 5,
    lasts: ({ leaseMs, workerSilenceMs }) => [
      // Its runs are given to others and still under way there when it wakes.
      [workerSilenceMs + 1_500, workerSilenceMs + 3_500],
      [leaseMs + 500, leaseMs + 5_000],
    ],
  },
  stop: { weight: 1, lasts: () => [[500, 4_000]] },
  reset: { weight: 2, lasts: () => [[0, 0]] },
  lose_answer: { weight: 3, lasts: () => [[2_000, 4_000]] },
  cut: {
    weight: 4,
    lasts: ({ leaseMs }) => [
      [1_000, leaseMs],
      [leaseMs + 1_000, leaseMs + 5_000],
    ],
  },
  delay: { weight: 1, lasts: () => [[2_000, 6_000]] },
  database: { weight: 1, lasts: () => [[500, 5_000]] },
};

/** The first fault comes when every node has its shards; after the last there is some load without any. */
const quietMs = 4_000;

/** Every plan begins with these, one at a time: a lost node, a worker that wakes too late, and a node that does. */
const overture: readonly (readonly [kind: FaultKind, range: number])[] = [
  ["kill", 0],
  ["freeze", 0],
  ["freeze", 1],
];
const afterOvertureMs = 4_000;

/** After the overture faults one after the other, sometimes two at a time, never two on one node. */
export function planFaults(random: SeededRandom, bounds: PlanBounds): Fault[] {
  const faults: Fault[] = [];
  const busyUntil = new Map<number | null, number>();
  const end = bounds.loadMs - quietMs;
  for (let atMs = quietMs; ;) {
    const [kind, range] = overture[faults.length] ?? [drawKind(random), null];
    const ranges = kinds[kind].lasts(bounds.limits);
    const [least, most] = (range === null ? undefined : ranges[range]) ?? random.pick(ranges);
    const node = kind === "database" ? null : random.between(0, bounds.nodes - 1);
    const lastsMs = random.between(least, most);
    atMs = Math.max(atMs, busyUntil.get(node) ?? 0);
    if (atMs + lastsMs > end) return faults;
    faults.push({ kind, node, atMs, lastsMs });
    busyUntil.set(node, atMs + lastsMs + quietMs / 2);
    atMs += pauseAfter(random, lastsMs, faults.length < overture.length);
  }
}

function pauseAfter(random: SeededRandom, lastsMs: number, isOverture: boolean): number {
  if (isOverture) return lastsMs + afterOvertureMs;
  return random.next() < 0.3 ? random.between(200, 1_500) : lastsMs + random.between(500, 4_000);
}

function drawKind(random: SeededRandom): FaultKind {
  const names = Object.keys(kinds) as FaultKind[];
  return random.pick(names.flatMap((name) => Array.from({ length: kinds[name].weight }, () => name)));
}

export function describeFault({ kind, node, atMs, lastsMs }: Fault): string {
  const target = node === null ? "database" : `node ${node}`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${kind.padEnd(12)}${target.padEnd(10)}${(lastsMs / 1_000).toFixed(1)} s`;
}
