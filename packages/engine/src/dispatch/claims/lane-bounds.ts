import type { DurationMs } from "@carillon/core";
import { SteadyCost } from "../../loops/steady-cost.js";
import type { ClaimedRun, Lane } from "@carillon/store";
import { LaneAgenda } from "./lane-scan-queue.js";
import { everything, type Hold, type Look, Spot } from "./lane-cursor.js";

export interface Taken {
  readonly claimed: readonly ClaimedRun[];
  /** Places there were; those for solo runs come first. */
  readonly places: number;
  readonly free: number;
  /** Most of each namespace, if there were several. */
  readonly quotas?: ReadonlyMap<number, number> | null;
  readonly durationMs: DurationMs;
}

/** Whether runs of the lane are to stay where they are. */
export type IsHeld = (namespaceId: number, lane: Lane) => Hold | null;

/** Full looks take at most a twentieth of the time. */
const fullLookShare = 20;

interface Sum {
  count: number;
  highest: number;
}

const noneOfIt: Readonly<Sum> = { count: 0, highest: everything };

/**
 * Keeps claims from walking over what dead index entries fill: each lane is read from a lower bound. A bound is safe because
 * whoever queues a run hints its rank after the commit, and because a lane with demand is looked at from its beginning every
 * second, which finds what no hint told.
 */
export class LaneBounds {
  readonly #fullLookMs: DurationMs;
  readonly #isHeld: IsHeld;
  readonly #spots = new Map<number, Map<number, Spot>>();
  readonly #cost = new SteadyCost();

  constructor(fullLookMs: DurationMs, isHeld: IsHeld = () => null) {
    this.#fullLookMs = fullLookMs;
    this.#isHeld = isHeld;
  }

  /** What is to be looked at for workers that can do the same. */
  agenda(): LaneAgenda {
    return new LaneAgenda(this.#fullLookMs);
  }

  /** Lanes that were there before stay as they are. */
  serve(agenda: LaneAgenda, lanes: readonly Lane[], namespaceId: number): void {
    for (const lane of lanes) agenda.add(this.#spot(lane, namespaceId));
  }

  /** Nobody is served by this agenda any longer; what no other one needs is forgotten. */
  release(agenda: LaneAgenda): void {
    for (const spot of agenda.spots) {
      spot.watchers.delete(agenda);
      if (spot.watchers.size > 0) continue;
      const spots = this.#spots.get(spot.lane.id);
      spots?.delete(spot.namespaceId);
      if (spots?.size === 0) this.#spots.delete(spot.lane.id);
    }
  }

  /** Lanes that somebody serves. */
  get size(): number {
    return this.#spots.size;
  }

  /** A run of this rank is claimable now; null: in some namespace. */
  hint(lane: number, rank: number, namespaceId: number | null = null): void {
    const spots = this.#spots.get(lane);
    if (namespaceId !== null) spots?.get(namespaceId)?.lower(rank);
    else for (const spot of spots?.values() ?? []) spot.lower(rank);
  }

  /** Somebody serves this lane for this namespace. */
  has(lane: number, namespaceId: number): boolean {
    return this.#spots.get(lane)?.has(namespaceId) ?? false;
  }

  find(lane: number, namespaceId: number): Spot | null {
    return this.#spots.get(lane)?.get(namespaceId) ?? null;
  }

  /** Anything may have changed. */
  hintAll(): void {
    for (const spots of this.#spots.values()) for (const spot of spots.values()) spot.lower(everything);
  }

  /** Queues may have been paused or resumed. */
  holdAgain(): void {
    for (const spots of this.#spots.values())
      for (const spot of spots.values()) spot.hold(this.#isHeld(spot.namespaceId, spot.lane));
  }

  /** What somebody serves, of those that are meant. */
  spotsWhere(isMeant: (namespaceId: number, lane: Lane) => boolean): Spot[] {
    const all = [...this.#spots.values()].flatMap((spots) => [...spots.values()]);
    return all.filter((spot) => isMeant(spot.namespaceId, spot.lane));
  }

  took(looks: readonly Look[], taken: Taken, now: DurationMs): void {
    const { places, free, quotas = null } = taken;
    const againAt = looks.some((look) => look.isFull) ? now + this.#periodAfter(taken.durationMs) : 0;
    const byLane = new Map<string | number, Sum>();
    const byNamespace = new Map<number, Sum>();
    for (const { lane, namespaceId, rank } of taken.claimed) {
      add(byLane, quotas === null ? lane : `${lane} ${namespaceId}`, rank);
      add(byNamespace, namespaceId, rank);
    }
    for (const look of looks) {
      const { spot, read } = look;
      const ofAll = byNamespace.get(read.namespaceId) ?? noneOfIt;
      // When all places are given, whoever is left may have got fewer than it was to have.
      const isOut = taken.claimed.length >= (read.isSolo ? free : places);
      const most = isOut ? ofAll.count : (quotas?.get(read.namespaceId) ?? places);
      const own = byLane.get(quotas === null ? read.lane : `${read.lane} ${read.namespaceId}`) ?? noneOfIt;
      spot.settle(look, {
        ...own,
        countOfAll: ofAll.count,
        highestOfAll: ofAll.highest,
        places: most,
      });
      if (look.isFull) spot.fullLookAt = Math.max(spot.fullLookAt, againAt);
    }
  }

  /** Nothing is known of what the looks would have found. */
  failed(looks: readonly Look[]): void {
    for (const look of looks) look.spot.failed(look);
  }

  #spot(lane: Lane, namespaceId: number): Spot {
    let spots = this.#spots.get(lane.id);
    if (spots === undefined) this.#spots.set(lane.id, (spots = new Map<number, Spot>()));
    let spot = spots.get(namespaceId);
    if (spot === undefined)
      spots.set(namespaceId, (spot = new Spot(lane, namespaceId, this.#isHeld(namespaceId, lane))));
    return spot;
  }

  #periodAfter(durationMs: DurationMs): DurationMs {
    return Math.max(this.#fullLookMs, this.#cost.after(durationMs) * fullLookShare);
  }
}

function add<Key>(sums: Map<Key, Sum>, key: Key, rank: number): void {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { count: 1, highest: Math.max(everything, rank) });
  else {
    sum.count++;
    sum.highest = Math.max(sum.highest, rank);
  }
}
