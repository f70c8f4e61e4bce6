import type { DurationMs } from "@carillon/core";
import type { LaneKind } from "../store/entities/lanes.js";
import { DueSpots } from "./due-spots.js";
import type { Look, Spot, SpotWatcher } from "./lane-spot.js";

/** Who waits for runs. */
export interface Wanted {
  readonly places: number;
  /** Of the places, those that are free slots. */
  readonly free: number;
  /** Workers with a free slot that hold no run which lost a worker before. */
  readonly apart: number;
}

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
  looks(wanted: Wanted, now: DurationMs): Look[] {
    const worth = new Map<Spot, boolean>();
    for (const shelf of this.#shelves) if (wantedOf(shelf.kind, wanted) > 0) this.#choose(shelf, worth, now);
    const isAlone = worth.size === 1;
    return [...worth].map(([spot, isFull]) => spot.look({ most: wantedOf(spot.lane.kind, wanted), isAlone, isFull }));
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
