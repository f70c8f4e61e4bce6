import type { DurationMs } from "@carillon/core";
import type { ClaimedRun } from "../store/entities/claimed-run.js";
import type { LaneRead } from "../store/entities/exchange.js";
import type { Lane } from "../store/entities/lanes.js";

/** Where the next look at one lane of one namespace begins. */
interface Spot {
  /** No claimable run has a lower rank, except one of which nobody told us. */
  low: number;
  /** There may be runs; otherwise only a hint or the full look can bring some. */
  isOpen: boolean;
  /** When the lane is looked at from its beginning again. */
  fullLookAt: DurationMs;
  /** How many of its runs are looked at together with those of other lanes. */
  most: number;
  readonly underWay: Set<Look>;
}

/** One look at a lane, from its start to its answer. */
export interface Look {
  readonly read: LaneRead;
  readonly isFull: boolean;
  readonly spot: Spot;
  /** The lowest rank that was hinted meanwhile. */
  hinted: number;
}

export interface Taken {
  readonly claimed: readonly ClaimedRun[];
  /** Places there were; those for solo runs come first. */
  readonly places: number;
  readonly free: number;
  readonly durationMs: DurationMs;
}

const everything = Number.MIN_SAFE_INTEGER;
const nothing = Number.POSITIVE_INFINITY;
/** A full look takes at most a twentieth of the time. */
const fullLookShare = 20;
const fewest = 8;

/**
 * Keeps claims from walking over what dead index entries fill: each lane is read from a lower bound. A bound is safe because
 * whoever queues a run hints its rank after the commit, and because a lane with demand is looked at from its beginning every
 * second, which finds what no hint told.
 */
export class LaneBounds {
  readonly #fullLookMs: DurationMs;
  readonly #spots = new Map<number, Map<number, Spot>>();

  constructor(fullLookMs: DurationMs) {
    this.#fullLookMs = fullLookMs;
  }

  /** A run of this rank is claimable now, in some namespace. */
  hint(lane: number, rank: number): void {
    for (const spot of this.#spots.get(lane)?.values() ?? []) lower(spot, rank);
  }

  /** Anything may have changed. */
  hintAll(): void {
    for (const spots of this.#spots.values()) for (const spot of spots.values()) lower(spot, everything);
  }

  /** What is worth looking at now. Whoever asks must tell what came of it. */
  looks(lanes: readonly Lane[], namespaceId: number, wanted: Wanted, now: DurationMs): Look[] {
    const worth = lanes.filter((lane) => this.#isWorthALook(lane, namespaceId, wanted, now));
    return worth.map((lane) => this.#look(lane, namespaceId, { ...wanted, isAlone: worth.length === 1 }, now));
  }

  /** When the first of the lanes is due for a full look. */
  nextFullLook(lanes: readonly Lane[], namespaceId: number): DurationMs {
    let next = nothing;
    for (const lane of lanes) next = Math.min(next, this.#spot(lane.id, namespaceId).fullLookAt);
    return next;
  }

  took(looks: readonly Look[], taken: Taken, now: DurationMs): void {
    const byLane = new Map<number, { count: number; highest: number }>();
    let highest = everything;
    for (const { lane, rank } of taken.claimed) {
      const sum = byLane.get(lane) ?? { count: 0, highest: everything };
      byLane.set(lane, { count: sum.count + 1, highest: Math.max(sum.highest, rank) });
      highest = Math.max(highest, rank);
    }
    for (const look of looks) {
      settle(look, byLane.get(look.read.lane) ?? { count: 0, highest: everything }, highest, taken);
      if (look.isFull) look.spot.fullLookAt = now + this.#periodFor(taken.durationMs);
    }
  }

  /** Nothing is known of what the looks would have found. */
  failed(looks: readonly Look[]): void {
    for (const look of looks) {
      look.spot.underWay.delete(look);
      lower(look.spot, everything);
    }
  }

  #isWorthALook(lane: Lane, namespaceId: number, wanted: Wanted, now: DurationMs): boolean {
    const spot = this.#spot(lane.id, namespaceId);
    return (spot.isOpen || now >= spot.fullLookAt) && wantedOf(lane, wanted) > 0;
  }

  #look(lane: Lane, namespaceId: number, wanted: Wanted & { isAlone: boolean }, now: DurationMs): Look {
    const spot = this.#spot(lane.id, namespaceId);
    const isFull = now >= spot.fullLookAt;
    // Until it is answered nobody else begins one.
    if (isFull) spot.fullLookAt = now + this.#periodFor(0);
    const wantedHere = wantedOf(lane, wanted);
    const most = wanted.isAlone ? wantedHere : Math.min(wantedHere, spot.most);
    const isSolo = lane.kind !== "plain";
    const read = { lane: lane.id, namespaceId, isSolo, most, low: isFull ? everything : spot.low };
    const look: Look = { read, isFull, spot, hinted: nothing };
    spot.underWay.add(look);
    return look;
  }

  #spot(lane: number, namespaceId: number): Spot {
    let spots = this.#spots.get(lane);
    if (spots === undefined) this.#spots.set(lane, (spots = new Map<number, Spot>()));
    let spot = spots.get(namespaceId);
    if (spot === undefined) {
      spot = { low: everything, isOpen: true, fullLookAt: 0, most: fewest, underWay: new Set() };
      spots.set(namespaceId, spot);
    }
    return spot;
  }

  #periodFor(durationMs: DurationMs): DurationMs {
    return Math.max(this.#fullLookMs, durationMs * fullLookShare);
  }
}

interface Wanted {
  readonly places: number;
  /** Of the places, those that are free slots. */
  readonly free: number;
  /** Workers with a free slot that hold no run which lost a worker before. */
  readonly apart: number;
}

function wantedOf({ kind }: Lane, wanted: Wanted): number {
  if (kind === "plain") return wanted.places;
  return kind === "solo" ? wanted.free : wanted.apart;
}

function lower(spot: Spot, rank: number): void {
  spot.isOpen = true;
  spot.low = Math.min(spot.low, rank);
  for (const look of spot.underWay) look.hinted = Math.min(look.hinted, rank);
}

function settle(look: Look, own: { count: number; highest: number }, highest: number, taken: Taken): void {
  const { spot, read, hinted } = look;
  spot.underWay.delete(look);
  const places = read.isSolo ? taken.free : taken.places;
  const isSaturated = own.count >= read.most;
  const isCut = taken.claimed.length >= places;
  if (!isSaturated && !isCut) {
    // All that could be claimed was.
    spot.isOpen = hinted < nothing;
    spot.most = fewest;
  } else {
    spot.isOpen = true;
    spot.most = isSaturated ? read.most * 4 : own.count * 2 + fewest;
  }
  // What is left of a lane that was not read to its end, or not given in full, is above what was given of it.
  const above = isSaturated || read.isSolo || !isCut ? Math.max(read.low, own.highest) : highest;
  spot.low = Math.max(spot.low, Math.min(above, hinted));
}
