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
  readonly leaseMs: number;
}

interface Span {
  readonly weight: number;
  /** How long it lasts; one of the ranges is drawn. Those around the lease tell a slow node from a lost one. */
  readonly lasts: (leaseMs: number) => readonly (readonly [least: number, most: number])[];
}

const kinds: Readonly<Record<FaultKind, Span>> = {
  kill: { weight: 4, lasts: () => [[500, 9_000]] },
  freeze: { weight: 5, lasts: (lease) => [[lease + 500, lease + 5_000]] },
  stop: { weight: 1, lasts: () => [[500, 4_000]] },
  reset: { weight: 2, lasts: () => [[0, 0]] },
  lose_answer: { weight: 3, lasts: () => [[2_000, 4_000]] },
  cut: {
    weight: 4,
    lasts: (lease) => [
      [lease - 900, lease - 100],
      [lease + 1_000, lease + 5_000],
    ],
  },
  delay: { weight: 1, lasts: () => [[2_000, 6_000]] },
  database: { weight: 1, lasts: () => [[500, 5_000]] },
};

/** The first faults come when every node has its shards; after the last there is some load without any. */
const quietMs = 4_000;

/** Faults one after the other, sometimes two at a time, never two on one node. The first is a kill: something must bite. */
export function planFaults(random: SeededRandom, bounds: PlanBounds): Fault[] {
  const faults: Fault[] = [];
  const busyUntil = new Map<number | null, number>();
  const end = bounds.loadMs - quietMs;
  for (let atMs = quietMs; ;) {
    const kind = faults.length === 0 ? "kill" : drawKind(random);
    const [least, most] = random.pick(kinds[kind].lasts(bounds.leaseMs));
    const node = kind === "database" ? null : random.between(0, bounds.nodes - 1);
    const fault: Fault = { kind, node, lastsMs: random.between(least, most), atMs };
    atMs = Math.max(atMs, busyUntil.get(node) ?? 0);
    if (atMs + fault.lastsMs > end) return faults;
    faults.push({ ...fault, atMs });
    busyUntil.set(node, atMs + fault.lastsMs + quietMs / 2);
    atMs += random.next() < 0.3 ? random.between(200, 1_500) : fault.lastsMs + random.between(500, 4_000);
  }
}

function drawKind(random: SeededRandom): FaultKind {
  const names = Object.keys(kinds) as FaultKind[];
  return random.pick(names.flatMap((name) => Array.from({ length: kinds[name].weight }, () => name)));
}

export function describeFault({ kind, node, atMs, lastsMs }: Fault): string {
  const target = node === null ? "database" : `node ${node}`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${kind.padEnd(12)}${target.padEnd(10)}${(lastsMs / 1_000).toFixed(1)} s`;
}
