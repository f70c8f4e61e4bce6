import { type Fault, type FaultKind, faultKinds } from "./fault.js";
import { type Limits, type Range, spans } from "./fault-spans.js";
import type { SeededRandom } from "./random.js";

export interface PlanBounds {
  readonly nodes: number;
  readonly loadMs: number;
  readonly limits: Limits;
  /** Null for all of them, after the overture; some kinds come alone. */
  readonly kinds: readonly FaultKind[] | null;
}

/** A fault to come; without a range one is drawn. */
type Card = readonly [kind: FaultKind, range?: number];

/** The first fault comes when every node has its shards; after the last there is some load without any. */
const quietMs = 4_000;

/**
 * Every plan of all kinds begins with these, one at a time: a lost node, a worker that wakes too late, a node that does, and a
 * fire whose outcome nobody knows. The first moves shards, so that no such run is void.
 */
const overture: readonly Card[] = [["kill"], ["freeze", 0], ["freeze", 1], ["lose_fire"]];
const afterOvertureMs = 3_000;

/** Faults one after the other, sometimes two at a time, never two on one node. */
export function planFaults(random: SeededRandom, bounds: PlanBounds): Fault[] {
  const faults: Fault[] = [];
  const busyUntil = new Map<number | null, number>();
  const end = bounds.loadMs - quietMs;
  const isOverture = (): boolean => bounds.kinds === null && faults.length < overture.length;
  const cards = deal(random, bounds.kinds);
  for (let atMs = quietMs; ;) {
    const [kind, range] = cards.next().value;
    const ranges = spans[kind].lasts(bounds.limits);
    const lastsMs = within(random, ranges[range ?? random.between(0, ranges.length - 1)]);
    const node = kind === "database" ? null : random.between(0, bounds.nodes - 1);
    const { by } = spans[kind];
    const byMs = by === undefined ? null : within(random, random.pick(by));
    atMs = Math.max(atMs, busyUntil.get(node) ?? 0);
    if (atMs + lastsMs > end) return faults;
    faults.push({ kind, node, atMs, lastsMs, byMs });
    busyUntil.set(node, atMs + lastsMs + quietMs / 2);
    atMs += isOverture() ? lastsMs + afterOvertureMs : pauseAfter(random, lastsMs);
  }
}

/** The overture, then every kind that was not in it once in any order, then whatever the weights give. */
function* deal(random: SeededRandom, kinds: PlanBounds["kinds"]): Generator<Card, never> {
  if (kinds === null) yield* overture;
  const names = kinds ?? faultKinds;
  const heard = new Set(kinds === null ? overture.map(([kind]) => kind) : []);
  for (const kind of random.shuffle(names.filter((name) => !heard.has(name)))) yield [kind];
  const weighted = names.flatMap((name) => Array.from({ length: spans[name].weight }, () => name));
  for (;;) yield [random.pick(weighted)];
}

function within(random: SeededRandom, range: Range | undefined): number {
  if (range === undefined) throw new Error("there is no such range");
  return random.between(...range);
}

function pauseAfter(random: SeededRandom, lastsMs: number): number {
  return random.next() < 0.3 ? random.between(200, 1_500) : lastsMs + random.between(500, 4_000);
}
