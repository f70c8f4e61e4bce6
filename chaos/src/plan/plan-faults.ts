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
  /** Null for all kinds, after the opening faults; a list is planned without the opening faults. */
  readonly kinds: readonly FaultKind[] | null;
}

/** A fault to plan, with the index of its duration range; without an index the range is drawn. */
type QueuedFault = readonly [kind: FaultKind, range?: number];

/** The first fault begins when every node owns its shards; some load without faults follows the last one. */
const quietMs = 4_000;

/**
 * Every plan of all kinds begins with these faults, one at a time: a lost node, a worker that wakes too late, a node
 * that wakes too late, and a fire with an unknown outcome. The first one moves shards, so that no such run is void.
 */
const openingFaults: readonly QueuedFault[] = [["kill"], ["freeze", 0], ["freeze", 1], ["lose_fire"]];
const openingGapMs = 3_000;

/**
 * After the opening faults, plans every other kind once, in a drawn order and spread over the load, and then draws
 * kinds by weight, sometimes two at a time. One node never has two faults at once.
 */
export function planFaults(random: SeededRandom, bounds: PlanBounds): Fault[] {
  const faults: Fault[] = [];
  const availability = new Availability(bounds.nodes);
  const end = bounds.loadMs - quietMs;
  const names = bounds.kinds ?? faultKinds;
  if (names.length === 0) return [];
  const weighted = names.flatMap((name) => Array.from({ length: faultSpecs[name].weight }, () => name));
  const first = bounds.kinds === null ? openingFaults : [];
  const queued = [...first, ...remainingKinds(random, names, first)];
  let atMs = quietMs;
  for (let index = 0; ; index++) {
    const isQueued = index < queued.length;
    const [kind, range] = queued[index] ?? [random.pick(weighted)];
    const { lastsMs, byMs, at } = draw(random, kind, { range, limits: bounds.limits });
    const { node, start } = isDatabaseFault(kind)
      ? { node: null, start: Math.max(atMs, availability.until(null)) }
      : availability.choose(random, atMs, { keepsOne: isQueued });
    if (start + lastsMs > end && isQueued) continue;
    if (start + lastsMs > end) return faults;
    faults.push({ kind, node, atMs: start, lastsMs, byMs, at });
    availability.set(node, start + lastsMs + quietMs / 2);
    const share = isQueued ? Math.floor((end - start) / (queued.length - index)) : Number.POSITIVE_INFINITY;
    atMs = start + (index < first.length ? lastsMs + openingGapMs : Math.min(pauseAfter(random, lastsMs), share));
  }
}

/** When the fault of each node ends; null stands for the database. */
class Availability {
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

  /**
   * Draws a free node and the instant from which it is free; with `keepsOne`, waits until another node is free as well.
   */
  choose(random: SeededRandom, atMs: number, { keepsOne }: { keepsOne: boolean }): { node: number; start: number } {
    const ends = this.#nodes.map((node) => this.until(node)).toSorted((a, b) => a - b);
    const start = Math.max(atMs, ends[keepsOne ? 1 : 0] ?? 0);
    return { node: random.pick(this.#nodes.filter((node) => this.until(node) <= start)), start };
  }
}

/** Every kind that is not an opening fault, once, in a drawn order. */
function remainingKinds(
  random: SeededRandom,
  names: readonly FaultKind[],
  first: readonly QueuedFault[],
): QueuedFault[] {
  const opening = new Set(first.map(([kind]) => kind));
  return random.shuffle(names.filter((name) => !opening.has(name))).map((kind): QueuedFault => [kind]);
}

/** Draws the parameters of a fault. */
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
  if (range === undefined) throw new Error("There is no such range.");
  return random.between(...range);
}

function pauseAfter(random: SeededRandom, lastsMs: number): number {
  return random.next() < 0.3 ? random.between(200, 1_500) : lastsMs + random.between(500, 4_000);
}
