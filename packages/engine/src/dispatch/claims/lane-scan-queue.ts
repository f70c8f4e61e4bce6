import type { DurationMs } from "@carillon/core";
import type { LaneKind } from "@carillon/store";
import { DueSpots } from "./lane-scan-heap.js";
import type { Look, Spot, SpotWatcher } from "./lane-cursor.js";
import type { Deal, NamespaceTurns } from "./namespace-turns.js";

/** Who waits for runs. */
export interface Wanted {
  readonly places: number;
  /** Of the places, those that are free slots. */
  readonly free: number;
  /** Workers with a free slot that hold no run which lost a worker before. */
  readonly apart: number;
}

/** What one statement looks at. */
export interface Plan {
  readonly looks: readonly Look[];
  /** Most of each namespace, if there are several. */
  readonly quotas: ReadonlyMap<number, number> | null;
  /** The turns that this is part of; null where there is one namespace. */
  readonly deal: Deal | null;
}

/** Runs that a namespace may have of which nobody knew that it has some. */
const unexpected = 8;

/** Lanes of each kind that one statement reads at most; the others have their turn with the next. */
const mostLanes = 500;

/** Lanes of one kind: they are wanted together or not at all. */
interface Shelf {
  readonly kind: LaneKind;
  /** In the order of their turns. */
  readonly open: Set<Spot>;
  readonly due: DueSpots;
}

/**
 * Which of a group's lanes are worth a look: those that are open, and those whose full look is due. What it costs to ask is in
 * proportion to these, not to the lanes that there are.
 */
export class LaneAgenda implements SpotWatcher {
  readonly #periodMs: DurationMs;
  readonly #spots = new Set<Spot>();
  readonly #shelves: readonly Shelf[] = (["plain", "solo", "admitted", "lost"] as const).map((kind) => {
    return { kind, open: new Set<Spot>(), due: new DueSpots() };
  });

  constructor(periodMs: DurationMs) {
    this.#periodMs = periodMs;
  }

  get spots(): ReadonlySet<Spot> {
    return this.#spots;
  }

  add(spot: Spot): void {
    if (this.#spots.has(spot)) return;
    this.#spots.add(spot);
    spot.watchers.add(this);
    this.#shelfOf(spot)?.due.add(spot);
    if (spot.isOpen) this.opened(spot);
  }

  opened(spot: Spot): void {
    this.#shelfOf(spot)?.open.add(spot);
  }

  closed(spot: Spot): void {
    this.#shelfOf(spot)?.open.delete(spot);
  }

  /** There may be something to look at, if it is wanted. */
  isReady(now: DurationMs): boolean {
    return this.#shelves.some((shelf) => shelf.open.size > 0 || shelf.due.nextAt() <= now);
  }

  /** What is worth looking at now. Whoever asks must tell what came of it. */
  plan(wanted: Wanted, now: DurationMs, turns: NamespaceTurns): Plan {
    const worth = new Map<Spot, boolean>();
    for (const shelf of this.#shelves) if (wantedOf(shelf.kind, wanted) > 0) this.#choose(shelf, worth, now);
    const isAlone = worth.size === 1;
    if (isAlone || isOfOne(worth.keys())) {
      if (worth.size > 0) turns.rest();
      const looks = [...worth].map(([spot, isFull]) =>
        spot.look({ most: wantedOf(spot.lane.kind, wanted), isAlone, isFull }),
      );
      return { looks, quotas: null, deal: null };
    }
    return dealt(worth, wanted, turns);
  }

  /** When the first lane of a kind that is wanted is due for a full look. */
  nextFullLook(wanted: Wanted): DurationMs {
    const times = this.#shelves.map(({ kind, due }) => (wantedOf(kind, wanted) > 0 ? due.nextAt() : Infinity));
    return Math.min(...times);
  }

  /** Full looks leave room for lanes that are open: half of it, if these need so much. */
  #choose({ open, due }: Shelf, worth: Map<Spot, boolean>, now: DurationMs): void {
    // Until it is answered nobody else begins a full look.
    const againAt = now + this.#periodMs;
    const mostFull = mostLanes - Math.min(open.size, mostLanes / 2);
    let count = 0;
    for (; count < mostFull; count++) {
      const spot = due.take(now, againAt);
      if (spot === null) break;
      if (!spot.isHeld) worth.set(spot, true);
    }
    for (const spot of firstOf(open, mostLanes - count)) {
      // Behind the others, if not all have their turn.
      if (open.size > mostLanes - count) {
        open.delete(spot);
        open.add(spot);
      }
      if (worth.has(spot)) continue;
      const isFull = now >= spot.fullLookAt;
      if (isFull) spot.fullLookAt = againAt;
      worth.set(spot, isFull);
    }
  }

  #shelfOf(spot: Spot): Shelf | undefined {
    return this.#shelves.find((shelf) => shelf.kind === spot.lane.kind);
  }
}

function firstOf(spots: ReadonlySet<Spot>, most: number): Spot[] {
  const first: Spot[] = [];
  for (const spot of spots) {
    if (first.length >= most) break;
    first.push(spot);
  }
  return first;
}

function wantedOf(kind: LaneKind, wanted: Wanted): number {
  if (kind === "plain") return wanted.places;
  return kind === "lost" ? wanted.apart : wanted.free;
}

function isOfOne(spots: Iterable<Spot>): boolean {
  let first: number | null = null;
  for (const { namespaceId } of spots) {
    if (first !== null && namespaceId !== first) return false;
    first = namespaceId;
  }
  return true;
}

/** Each namespace has its turn; one that is looked at only in case it has something may have a little of it. */
function dealt(worth: ReadonlyMap<Spot, boolean>, wanted: Wanted, turns: NamespaceTurns): Plan {
  const waiting = new Set<number>();
  for (const spot of worth.keys()) if (spot.isOpen) waiting.add(spot.namespaceId);
  const deal = turns.deal(waiting, wanted.places);
  const quotas = new Map<number, number>();
  const looks: Look[] = [];
  for (const [spot, isFull] of worth) {
    const { namespaceId, lane } = spot;
    const own = deal.quotas.get(namespaceId);
    const quota = own === undefined ? unexpected : isFull ? Math.max(1, own) : own;
    if (quota === 0) continue;
    quotas.set(namespaceId, Math.max(quota, quotas.get(namespaceId) ?? 0));
    const most = Math.min(quota, wantedOf(lane.kind, wanted));
    looks.push(spot.look({ most, isAlone: false, isFull }));
  }
  return { looks, quotas, deal };
}
