import {
  type Fault,
  type FaultKind,
  type Limits,
  type Range,
  faultKinds,
  isDatabaseFault,
  faultSpecs,
} from "./fault.js";
import type { SeededRandom } from "./random.js";
import { steps } from "./step.js";

export interface PlanBounds {
  readonly nodes: number;
  readonly loadMs: number;
  readonly limits: Limits;
  /** Null for all of them, after the openingFaults; some kinds come alone. */
  readonly kinds: readonly FaultKind[] | null;
}

/** A fault to come; without a range one is drawn. */
type QueuedFault = readonly [kind: FaultKind, range?: number];

/** The first fault comes when every node has its shards; after the last there is some load without any. */
const quietMs = 4_000;

/**
 * Every plan of all kinds begins with these, one at a time: a lost node, a worker that wakes too late, a node that does, and a
 * fire whose outcome nobody knows. The first moves shards, so that no such run is void.
 */
const openingFaults: readonly QueuedFault[] = [["kill"], ["freeze", 0], ["freeze", 1], ["lose_fire"]];
const openingGapMs = 3_000;

/**
 * After the openingFaults every other kind comes once, in any order and as close together as the time wants it; then what the weights
 * give, sometimes two at a time. Never two on one node.
 */
export function planFaults(random: SeededRandom, bounds: PlanBounds): Fault[] {
  const faults: Fault[] = [];
  const busy = new Busy(bounds.nodes);
  const end = bounds.loadMs - quietMs;
  const names = bounds.kinds ?? faultKinds;
  if (names.length === 0) return [];
  const weighted = names.flatMap((name) => Array.from({ length: faultSpecs[name].weight }, () => name));
  const first = bounds.kinds === null ? openingFaults : [];
  const queued = [...first, ...others(random, names, first)];
  let atMs = quietMs;
  for (let place = 0; ; place++) {
    const isQueued = place < queued.length;
    const [kind, range] = queued[place] ?? [random.pick(weighted)];
    const { lastsMs, byMs, at } = draw(random, kind, { range, limits: bounds.limits });
    const { node, begin } = isDatabaseFault(kind)
      ? { node: null, begin: Math.max(atMs, busy.until(null)) }
      : busy.choose(random, atMs, { keepsOne: isQueued });
    if (begin + lastsMs > end && isQueued) continue;
    if (begin + lastsMs > end) return faults;
    faults.push({ kind, node, atMs: begin, lastsMs, byMs, at });
    busy.set(node, begin + lastsMs + quietMs / 2);
    const share = isQueued ? Math.floor((end - begin) / (queued.length - place)) : Number.POSITIVE_INFINITY;
    atMs = begin + (place < first.length ? lastsMs + openingGapMs : Math.min(pauseAfter(random, lastsMs), share));
  }
}

/** Until when each node is under a fault; null is the database. */
class Busy {
  readonly #nodes: readonly number[];
  readonly #until = new Map<number | null, number>();

  constructor(nodes: number) {
    this.#nodes = Array.from({ length: nodes }, (_, node) => node);
  }

  until(node: number | null): number {
    return this.#until.get(node) ?? 0;
  }

  set(node: number | null, until: number): void {
    this.#until.set(node, until);
  }

  /** A node that is free, and from when on; `keepsOne` waits until another is free as well. */
  choose(random: SeededRandom, atMs: number, { keepsOne }: { keepsOne: boolean }): { node: number; begin: number } {
    const ends = this.#nodes.map((node) => this.until(node)).toSorted((a, b) => a - b);
    const begin = Math.max(atMs, ends[keepsOne ? 1 : 0] ?? 0);
    return { node: random.pick(this.#nodes.filter((node) => this.until(node) <= begin)), begin };
  }
}

/** Every kind that is not among the first, once, in any order. */
function others(random: SeededRandom, names: readonly FaultKind[], first: readonly QueuedFault[]): QueuedFault[] {
  const heard = new Set(first.map(([kind]) => kind));
  return random.shuffle(names.filter((name) => !heard.has(name))).map((kind): QueuedFault => [kind]);
}

/** What a fault needs to be known by. */
function draw(
  random: SeededRandom,
  kind: FaultKind,
  { range, limits }: { range: number | undefined; limits: Limits },
): Pick<Fault, "lastsMs" | "byMs" | "at"> {
  const ranges = faultSpecs[kind].lasts(limits);
  const lastsMs = within(random, ranges[range ?? random.between(0, ranges.length - 1)]);
  const { by } = faultSpecs[kind];
  const byMs = by === undefined ? null : within(random, random.pick(by));
  return { lastsMs, byMs, at: kind === "kill_at" ? random.pick(steps) : null };
}

function within(random: SeededRandom, range: Range | undefined): number {
  if (range === undefined) throw new Error("there is no such range");
  return random.between(...range);
}

function pauseAfter(random: SeededRandom, lastsMs: number): number {
  return random.next() < 0.3 ? random.between(200, 1_500) : lastsMs + random.between(500, 4_000);
}
