import type { DurationMs } from "@carillon/core";
import type { Lane, LaneRead } from "@carillon/store";

export const everything = Number.MIN_SAFE_INTEGER;
const nothing = Number.POSITIVE_INFINITY;
const fewest = 8;

/** One look at a lane, from its start to its answer. */
export interface Look {
  readonly read: LaneRead;
  readonly isFull: boolean;
  readonly spot: Spot;
  /** The lowest rank that was hinted meanwhile. */
  hinted: number;
}

/** What came of all looks of one statement, and of one lane among them. */
export interface Found {
  /** Runs that were claimed of the lane, and the highest rank of them. */
  readonly count: number;
  readonly highest: number;
  /** Of all lanes of its namespace together. */
  readonly countOfAll: number;
  readonly highestOfAll: number;
  /** Places there were for these. */
  readonly places: number;
}

/** Keeps a list of the spots that are open. */
export interface SpotWatcher {
  opened(spot: Spot): void;
  closed(spot: Spot): void;
}

/** Why nothing of a lane is handed out. `tried`: its breaker is open, but one run may be tried; `shut`: none may. */
export type Hold = "tried" | "shut";

/** Where the next look at one lane of one namespace begins. */
export class Spot {
  readonly lane: Lane;
  readonly namespaceId: number;
  readonly watchers = new Set<SpotWatcher>();
  /** When the lane is looked at from its beginning again. It only grows. */
  fullLookAt: DurationMs = 0;
  /** No claimable run has a lower rank, except one of which nobody told us. */
  #low = everything;
  /** There may be runs that no look under way takes; otherwise only its answer, a hint or the full look can bring some. */
  #isOpen = false;
  /** The last look left runs behind: two looks at a time are worth it. */
  #isDeep = false;
  /** A hint came after the last look began. */
  #isHinted = false;
  #held: Hold | null;
  /** Although it is held, the next look may take one run. */
  #letsOne = false;
  /** How many of its runs are looked at together with those of other lanes. */
  #most = fewest;
  readonly #underWay = new Set<Look>();

  constructor(lane: Lane, namespaceId: number, held: Hold | null) {
    this.lane = lane;
    this.namespaceId = namespaceId;
    this.#held = held;
  }

  /** A lane that is held is not open, whatever it has. */
  get isOpen(): boolean {
    return this.isHeld ? this.#letsOne : this.#isOpen;
  }

  get isHeld(): boolean {
    return this.#held !== null;
  }

  get isShut(): boolean {
    return this.#held === "shut";
  }

  /** A look is under way, which may take runs. */
  get isLookedAt(): boolean {
    return this.#underWay.size > 0;
  }

  /** Nothing of a lane that is held is looked at. */
  hold(held: Hold | null): void {
    if (held === this.#held) return;
    const wasOpen = this.isOpen;
    this.#held = held;
    this.#letsOne = false;
    this.#tell(wasOpen);
    if (held === null) this.lower(everything);
  }

  /** The next look takes one run, and no look after it takes any. */
  letOneThrough(): void {
    if (this.#held === "tried") this.#lets(true);
  }

  /** No look took the one run so far, and none is to. */
  letNoneThrough(): void {
    this.#lets(false);
  }

  /** A run of this rank may be claimable. */
  lower(rank: number): void {
    this.#low = Math.min(this.#low, rank);
    for (const look of this.#underWay) look.hinted = Math.min(look.hinted, rank);
    this.#isHinted = true;
    this.#open(true);
  }

  /** Whoever asks for a look must tell what came of it. */
  look(wanted: { most: number; isAlone: boolean; isFull: boolean }): Look {
    const { lane, namespaceId } = this;
    const isOne = this.isHeld;
    const most = isOne ? 1 : wanted.isAlone ? wanted.most : Math.min(wanted.most, this.#most);
    const low = wanted.isFull || isOne ? everything : this.#low;
    const wasOpen = this.isOpen;
    this.#letsOne = false;
    this.#isHinted = false;
    // A second look at the same time would find nothing, and be in the first one's way.
    this.#isOpen &&= this.#isDeep;
    this.#tell(wasOpen);
    const read = { lane: lane.id, namespaceId, isSolo: lane.kind !== "plain", most, low };
    const look: Look = { read, isFull: wanted.isFull, spot: this, hinted: nothing };
    this.#underWay.add(look);
    return look;
  }

  settle(look: Look, found: Found): void {
    const { read, hinted } = look;
    this.#underWay.delete(look);
    const isSaturated = found.count >= read.most;
    const isCut = found.countOfAll >= found.places;
    if (!isSaturated && !isCut) this.#most = fewest;
    else this.#most = isSaturated ? read.most * 4 : found.count * 2 + fewest;
    // What is left of a lane that was not read to its end, or not given in full, is above what was given of it.
    const isOfItself = isSaturated || read.isSolo || !isCut;
    const above = isOfItself ? Math.max(read.low, found.highest) : found.highestOfAll;
    this.#low = Math.max(this.#low, Math.min(above, hinted));
    // Without saturation or cut, all that could be claimed was.
    this.#isDeep = isSaturated || isCut;
    this.#open(this.#isDeep || this.#isHinted);
  }

  /** Nothing is known of what the look would have found. */
  failed(look: Look): void {
    this.#underWay.delete(look);
    this.lower(everything);
  }

  #lets(one: boolean): void {
    const wasOpen = this.isOpen;
    this.#letsOne = one;
    this.#tell(wasOpen);
  }

  #open(isOpen: boolean): void {
    const wasOpen = this.isOpen;
    this.#isOpen = isOpen;
    this.#tell(wasOpen);
  }

  #tell(wasOpen: boolean): void {
    if (wasOpen === this.isOpen) return;
    for (const watcher of this.watchers) {
      if (this.isOpen) watcher.opened(this);
      else watcher.closed(this);
    }
  }
}
