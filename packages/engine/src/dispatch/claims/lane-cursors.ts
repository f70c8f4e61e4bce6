import type { DurationMs } from "@carillon/core";
import type { ClaimedRun, Lane, LaneRead } from "@carillon/store";
import { SteadyCost } from "../../loops/loops.js";

/** A scan from here reads its lane from the beginning. */
export const lowestRank = Number.MIN_SAFE_INTEGER;
const noRank = Number.POSITIVE_INFINITY;
const minLimit = 8;

/** One scan of a lane, from its beginning to its answer. */
export interface LaneScan {
  readonly read: LaneRead;
  readonly isFull: boolean;
  readonly cursor: LaneCursor;
  /** The lowest rank that was hinted meanwhile. */
  hinted: number;
}

/** The result of all scans of one statement, and of one lane among them. */
export interface ScanResult {
  /** How many runs of the lane were claimed, and the highest rank of them. */
  readonly count: number;
  readonly highest: number;
  /** The same of all lanes of its namespace together. */
  readonly namespaceCount: number;
  readonly namespaceHighest: number;
  /** How many runs of the namespace could be claimed. */
  readonly slots: number;
}

/** Keeps a list of the cursors that are open. */
export interface LaneCursorListener {
  opened(cursor: LaneCursor): void;
  closed(cursor: LaneCursor): void;
}

/** Why runs of a lane are not claimed. `tried`: its breaker is open, but one run may be tried; `shut`: none may. */
export type Hold = "tried" | "shut";

/** The rank from which the next scan reads one lane of one namespace. */
export class LaneCursor {
  readonly lane: Lane;
  readonly namespaceId: number;
  readonly listeners = new Set<LaneCursorListener>();
  /** When the lane is next read from its beginning. It only grows. */
  fullScanAt: DurationMs = 0;
  /** No claimable run has a lower rank, except a run without a hint. */
  #low = lowestRank;
  /** There may be runs that no scan under way claims; otherwise only its answer, a hint or the full scan can bring some. */
  #isOpen = false;
  /** The last scan left runs behind: two scans at a time are worthwhile. */
  #isDeep = false;
  /** A hint arrived after the last scan began. */
  #isHinted = false;
  #held: Hold | null;
  /** Although it is held, the next scan may claim one run. */
  #admitsOne = false;
  /** How many of its runs are read together with those of other lanes. */
  #limit = minLimit;
  readonly #scans = new Set<LaneScan>();

  constructor(lane: Lane, namespaceId: number, held: Hold | null) {
    this.lane = lane;
    this.namespaceId = namespaceId;
    this.#held = held;
  }

  /** A held lane is not open, even if runs wait in it. */
  get isOpen(): boolean {
    return this.isHeld ? this.#admitsOne : this.#isOpen;
  }

  get isHeld(): boolean {
    return this.#held !== null;
  }

  get isShut(): boolean {
    return this.#held === "shut";
  }

  /** A scan is under way, which may claim runs. */
  get isBeingScanned(): boolean {
    return this.#scans.size > 0;
  }

  /** A held lane is not scanned. */
  hold(held: Hold | null): void {
    if (held === this.#held) return;
    const wasOpen = this.isOpen;
    this.#held = held;
    this.#admitsOne = false;
    this.#notify(wasOpen);
    if (held === null) this.lower(lowestRank);
  }

  /** The next scan claims one run, and the scans after it none. */
  admitOne(): void {
    if (this.#held === "tried") this.#setAdmitsOne(true);
  }

  /** No scan has claimed the one run so far, and none may. */
  admitNone(): void {
    this.#setAdmitsOne(false);
  }

  /** A run of this rank may be claimable. */
  lower(rank: number): void {
    this.#low = Math.min(this.#low, rank);
    for (const scan of this.#scans) scan.hinted = Math.min(scan.hinted, rank);
    this.#isHinted = true;
    this.#open(true);
  }

  /** The caller must settle the scan, or report that it failed. */
  beginScan(wanted: { limit: number; isAlone: boolean; isFull: boolean }): LaneScan {
    const { lane, namespaceId } = this;
    const isTrial = this.isHeld;
    const limit = isTrial ? 1 : wanted.isAlone ? wanted.limit : Math.min(wanted.limit, this.#limit);
    const fromRank = wanted.isFull || isTrial ? lowestRank : this.#low;
    const wasOpen = this.isOpen;
    this.#admitsOne = false;
    this.#isHinted = false;
    // A second scan at the same time would find nothing, and delay the first.
    this.#isOpen &&= this.#isDeep;
    this.#notify(wasOpen);
    const read = { lane: lane.id, namespaceId, isSolo: lane.kind !== "plain", limit, fromRank };
    const scan: LaneScan = { read, isFull: wanted.isFull, cursor: this, hinted: noRank };
    this.#scans.add(scan);
    return scan;
  }

  settle(scan: LaneScan, result: ScanResult): void {
    const { read, hinted } = scan;
    this.#scans.delete(scan);
    const isSaturated = result.count >= read.limit;
    const isCut = result.namespaceCount >= result.slots;
    if (!isSaturated && !isCut) this.#limit = minLimit;
    else this.#limit = isSaturated ? read.limit * 4 : result.count * 2 + minLimit;
    // The runs left in a lane that was not read to its end, or whose runs did not all get a slot, are above those that were claimed.
    const isByLane = isSaturated || read.isSolo || !isCut;
    const above = isByLane ? Math.max(read.fromRank, result.highest) : result.namespaceHighest;
    this.#low = Math.max(this.#low, Math.min(above, hinted));
    // Without saturation or cut, every claimable run was claimed.
    this.#isDeep = isSaturated || isCut;
    this.#open(this.#isDeep || this.#isHinted);
  }

  /** It is unknown what the scan would have found. */
  failed(scan: LaneScan): void {
    this.#scans.delete(scan);
    this.lower(lowestRank);
  }

  #setAdmitsOne(admitsOne: boolean): void {
    const wasOpen = this.isOpen;
    this.#admitsOne = admitsOne;
    this.#notify(wasOpen);
  }

  #open(isOpen: boolean): void {
    const wasOpen = this.isOpen;
    this.#isOpen = isOpen;
    this.#notify(wasOpen);
  }

  #notify(wasOpen: boolean): void {
    if (wasOpen === this.isOpen) return;
    for (const listener of this.listeners) {
      if (this.isOpen) listener.opened(this);
      else listener.closed(this);
    }
  }
}

/** The answer to a claim. */
export interface ClaimAnswer {
  readonly claimed: readonly ClaimedRun[];
  /** The slots that could be filled; those for solo runs are the first. */
  readonly slots: number;
  readonly free: number;
  /** The most runs of each namespace, if there were several. */
  readonly quotas?: ReadonlyMap<number, number> | null;
  readonly durationMs: DurationMs;
}

/** Whether runs of the lane may not be claimed. */
export type IsHeld = (namespaceId: number, lane: Lane) => Hold | null;

/** Full scans take at most a twentieth of the time. */
const fullScanShare = 20;

interface Sum {
  count: number;
  highest: number;
}

const emptySum: Readonly<Sum> = { count: 0, highest: lowestRank };

/**
 * The cursors of all lanes that workers here serve. They keep claims from walking over dead index entries: each lane is read from a lower
 * bound. A bound is safe because a component that queues a run hints its rank after the commit, and because a lane with demand is read
 * from its beginning every second, which finds runs whose hint was lost.
 */
export class LaneCursors {
  readonly #fullScanIntervalMs: DurationMs;
  readonly #isHeld: IsHeld;
  readonly #cursors = new Map<number, Map<number, LaneCursor>>();
  readonly #cost = new SteadyCost();

  constructor(fullScanIntervalMs: DurationMs, isHeld: IsHeld = () => null) {
    this.#fullScanIntervalMs = fullScanIntervalMs;
    this.#isHeld = isHeld;
  }

  /** Lanes that were served before keep their cursors. */
  serve(queue: { add(cursor: LaneCursor): void }, lanes: readonly Lane[], namespaceId: number): void {
    for (const lane of lanes) queue.add(this.#cursor(lane, namespaceId));
  }

  /** No worker is served by this queue any longer; cursors that no other queue uses are forgotten. */
  release(queue: LaneCursorListener & { readonly cursors: Iterable<LaneCursor> }): void {
    for (const cursor of queue.cursors) {
      cursor.listeners.delete(queue);
      if (cursor.listeners.size > 0) continue;
      const cursors = this.#cursors.get(cursor.lane.id);
      cursors?.delete(cursor.namespaceId);
      if (cursors?.size === 0) this.#cursors.delete(cursor.lane.id);
    }
  }

  /** The number of lanes that workers here serve. */
  get size(): number {
    return this.#cursors.size;
  }

  /** A run of this rank is claimable now; null: in some namespace. */
  hint(lane: number, rank: number, namespaceId: number | null = null): void {
    const cursors = this.#cursors.get(lane);
    if (namespaceId !== null) cursors?.get(namespaceId)?.lower(rank);
    else for (const cursor of cursors?.values() ?? []) cursor.lower(rank);
  }

  /** A worker here serves this lane for this namespace. */
  has(lane: number, namespaceId: number): boolean {
    return this.#cursors.get(lane)?.has(namespaceId) ?? false;
  }

  find(lane: number, namespaceId: number): LaneCursor | null {
    return this.#cursors.get(lane)?.get(namespaceId) ?? null;
  }

  /** Hints may have been missed. */
  hintAll(): void {
    for (const cursors of this.#cursors.values()) for (const cursor of cursors.values()) cursor.lower(lowestRank);
  }

  /** Queues may have been paused or resumed. */
  refreshHolds(): void {
    for (const cursors of this.#cursors.values())
      for (const cursor of cursors.values()) cursor.hold(this.#isHeld(cursor.namespaceId, cursor.lane));
  }

  cursorsWhere(isMeant: (namespaceId: number, lane: Lane) => boolean): LaneCursor[] {
    const all = [...this.#cursors.values()].flatMap((cursors) => [...cursors.values()]);
    return all.filter((cursor) => isMeant(cursor.namespaceId, cursor.lane));
  }

  settle(scans: readonly LaneScan[], answer: ClaimAnswer, now: DurationMs): void {
    const { slots, free, quotas = null } = answer;
    const fullScanAt = scans.some((scan) => scan.isFull) ? now + this.#intervalAfter(answer.durationMs) : 0;
    const byLane = new Map<string | number, Sum>();
    const byNamespace = new Map<number, Sum>();
    for (const { lane, namespaceId, rank } of answer.claimed) {
      add(byLane, quotas === null ? lane : `${lane} ${namespaceId}`, rank);
      add(byNamespace, namespaceId, rank);
    }
    for (const scan of scans) {
      const { cursor, read } = scan;
      const ofNamespace = byNamespace.get(read.namespaceId) ?? emptySum;
      // When all slots are filled, any namespace may have got fewer than its quota.
      const isFilled = answer.claimed.length >= (read.isSolo ? free : slots);
      const max = isFilled ? ofNamespace.count : (quotas?.get(read.namespaceId) ?? slots);
      const ofLane = byLane.get(quotas === null ? read.lane : `${read.lane} ${read.namespaceId}`) ?? emptySum;
      cursor.settle(scan, {
        ...ofLane,
        namespaceCount: ofNamespace.count,
        namespaceHighest: ofNamespace.highest,
        slots: max,
      });
      if (scan.isFull) cursor.fullScanAt = Math.max(cursor.fullScanAt, fullScanAt);
    }
  }

  /** It is unknown what the scans would have found. */
  failed(scans: readonly LaneScan[]): void {
    for (const scan of scans) scan.cursor.failed(scan);
  }

  #cursor(lane: Lane, namespaceId: number): LaneCursor {
    let cursors = this.#cursors.get(lane.id);
    if (cursors === undefined) this.#cursors.set(lane.id, (cursors = new Map<number, LaneCursor>()));
    let cursor = cursors.get(namespaceId);
    if (cursor === undefined)
      cursors.set(namespaceId, (cursor = new LaneCursor(lane, namespaceId, this.#isHeld(namespaceId, lane))));
    return cursor;
  }

  #intervalAfter(durationMs: DurationMs): DurationMs {
    return Math.max(this.#fullScanIntervalMs, this.#cost.after(durationMs) * fullScanShare);
  }
}

function add<Key>(sums: Map<Key, Sum>, key: Key, rank: number): void {
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { count: 1, highest: Math.max(lowestRank, rank) });
  else {
    sum.count++;
    sum.highest = Math.max(sum.highest, rank);
  }
}
