import type { DurationMs } from "@carillon/core";
import type { LaneKind } from "@carillon/store";
import type { LaneCursor, LaneCursorListener, LaneScan } from "./lane-cursors.js";
import type { NamespaceShares, NamespaceTurns } from "./namespace-turns.js";

/** How many runs of each kind the workers of a group could take. */
export interface Wanted {
  readonly slots: number;
  /** How many of the slots are free; for the others a run waits at its worker. */
  readonly free: number;
  /** Workers with a free slot that hold no run which lost a worker before. */
  readonly forLostRuns: number;
}

/** The lanes that one statement reads. */
export interface ScanPlan {
  readonly scans: readonly LaneScan[];
  /** The most runs of each namespace, if there are several. */
  readonly quotas: ReadonlyMap<number, number> | null;
  /** The shares that the quotas were computed from; null where there is one namespace. */
  readonly shares: NamespaceShares | null;
}

/** The most runs of a namespace that is not known to have any. */
const unexpectedQuota = 8;

/** The most lanes of each kind that one statement reads; the others are read by the next. */
const maxLanes = 500;

/** Lanes of one kind: runs of them are wanted together or not at all. */
interface Section {
  readonly kind: LaneKind;
  /** In the order of their turns. */
  readonly open: Set<LaneCursor>;
  readonly due: LaneScanHeap;
}

/**
 * The lanes of a group that are worth a scan: those that are open, and those whose full scan is due. The cost of a plan is proportional to
 * these, not to the number of lanes.
 */
export class LaneScanQueue implements LaneCursorListener {
  readonly #fullScanIntervalMs: DurationMs;
  readonly #cursors = new Set<LaneCursor>();
  readonly #sections: readonly Section[] = (["plain", "solo", "admitted", "lost"] as const).map((kind) => {
    return { kind, open: new Set<LaneCursor>(), due: new LaneScanHeap() };
  });

  constructor(fullScanIntervalMs: DurationMs) {
    this.#fullScanIntervalMs = fullScanIntervalMs;
  }

  get cursors(): ReadonlySet<LaneCursor> {
    return this.#cursors;
  }

  add(cursor: LaneCursor): void {
    if (this.#cursors.has(cursor)) return;
    this.#cursors.add(cursor);
    cursor.listeners.add(this);
    this.#sectionOf(cursor)?.due.add(cursor);
    if (cursor.isOpen) this.opened(cursor);
  }

  opened(cursor: LaneCursor): void {
    this.#sectionOf(cursor)?.open.add(cursor);
  }

  closed(cursor: LaneCursor): void {
    this.#sectionOf(cursor)?.open.delete(cursor);
  }

  /** Some lane is worth a scan, if runs of its kind are wanted. */
  isReady(now: DurationMs): boolean {
    return this.#sections.some((section) => section.open.size > 0 || section.due.nextAt() <= now);
  }

  /** The lanes to scan now. The caller must settle the scans, or report that they failed. */
  plan(wanted: Wanted, now: DurationMs, turns: NamespaceTurns): ScanPlan {
    const chosen = new Map<LaneCursor, boolean>();
    for (const section of this.#sections) if (wantedOf(section.kind, wanted) > 0) this.#choose(section, chosen, now);
    const isAlone = chosen.size === 1;
    if (isAlone || haveOneNamespace(chosen.keys())) {
      if (chosen.size > 0) turns.reset();
      const scans = [...chosen].map(([cursor, isFull]) =>
        cursor.beginScan({ limit: wantedOf(cursor.lane.kind, wanted), isAlone, isFull }),
      );
      return { scans, quotas: null, shares: null };
    }
    return sharedPlan(chosen, wanted, turns);
  }

  /** When the full scan of the first lane of a wanted kind is due. */
  nextFullScanAt(wanted: Wanted): DurationMs {
    const times = this.#sections.map(({ kind, due }) => (wantedOf(kind, wanted) > 0 ? due.nextAt() : Infinity));
    return Math.min(...times);
  }

  /** Full scans leave room for open lanes: half of the statement, if these need so much. */
  #choose({ open, due }: Section, chosen: Map<LaneCursor, boolean>, now: DurationMs): void {
    // No other full scan of the lane begins before this one is answered.
    const nextFullScanAt = now + this.#fullScanIntervalMs;
    const maxFull = maxLanes - Math.min(open.size, maxLanes / 2);
    let count = 0;
    for (; count < maxFull; count++) {
      const cursor = due.take(now, nextFullScanAt);
      if (cursor === null) break;
      if (!cursor.isHeld) chosen.set(cursor, true);
    }
    for (const cursor of firstOf(open, maxLanes - count)) {
      // Behind the others, if not all have their turn.
      if (open.size > maxLanes - count) {
        open.delete(cursor);
        open.add(cursor);
      }
      if (chosen.has(cursor)) continue;
      const isFull = now >= cursor.fullScanAt;
      if (isFull) cursor.fullScanAt = nextFullScanAt;
      chosen.set(cursor, isFull);
    }
  }

  #sectionOf(cursor: LaneCursor): Section | undefined {
    return this.#sections.find((section) => section.kind === cursor.lane.kind);
  }
}

function firstOf(cursors: ReadonlySet<LaneCursor>, max: number): LaneCursor[] {
  const first: LaneCursor[] = [];
  for (const cursor of cursors) {
    if (first.length >= max) break;
    first.push(cursor);
  }
  return first;
}

function wantedOf(kind: LaneKind, wanted: Wanted): number {
  if (kind === "plain") return wanted.slots;
  return kind === "lost" ? wanted.forLostRuns : wanted.free;
}

function haveOneNamespace(cursors: Iterable<LaneCursor>): boolean {
  let first: number | null = null;
  for (const { namespaceId } of cursors) {
    if (first !== null && namespaceId !== first) return false;
    first = namespaceId;
  }
  return true;
}

/** Each namespace gets its share; one that is only scanned in case it has runs may have a few. */
function sharedPlan(chosen: ReadonlyMap<LaneCursor, boolean>, wanted: Wanted, turns: NamespaceTurns): ScanPlan {
  const waiting = new Set<number>();
  for (const cursor of chosen.keys()) if (cursor.isOpen) waiting.add(cursor.namespaceId);
  const shares = turns.share(waiting, wanted.slots);
  const quotas = new Map<number, number>();
  const scans: LaneScan[] = [];
  for (const [cursor, isFull] of chosen) {
    const { namespaceId, lane } = cursor;
    const own = shares.quotas.get(namespaceId);
    const quota = own === undefined ? unexpectedQuota : isFull ? Math.max(1, own) : own;
    if (quota === 0) continue;
    quotas.set(namespaceId, Math.max(quota, quotas.get(namespaceId) ?? 0));
    const limit = Math.min(quota, wantedOf(lane.kind, wanted));
    scans.push(cursor.beginScan({ limit, isAlone: false, isFull }));
  }
  return { scans, quotas, shares };
}

interface Entry {
  /** When the full scan was due as the entry was written; it may be due later by now, never earlier. */
  at: DurationMs;
  readonly cursor: LaneCursor;
}

/** Binary heap of cursors by their next full scan. An entry whose time moved is corrected when it reaches the top. */
class LaneScanHeap {
  readonly #entries: Entry[] = [];

  add(cursor: LaneCursor): void {
    let index = this.#entries.push({ at: cursor.fullScanAt, cursor }) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) return;
      index = parent;
    }
  }

  /** When the first full scan is due; infinite if there is none. */
  nextAt(): DurationMs {
    for (;;) {
      const [first] = this.#entries;
      if (first === undefined) return Number.POSITIVE_INFINITY;
      if (first.at >= first.cursor.fullScanAt) return first.at;
      this.#moveFirst(first, first.cursor.fullScanAt);
    }
  }

  /** The first cursor, if its full scan is due; the next full scan of it is due at the given time at the earliest. */
  take(now: DurationMs, nextFullScanAt: DurationMs): LaneCursor | null {
    if (this.nextAt() > now) return null;
    const [first] = this.#entries;
    if (first === undefined) return null;
    first.cursor.fullScanAt = nextFullScanAt;
    this.#moveFirst(first, nextFullScanAt);
    return first.cursor;
  }

  #moveFirst(first: Entry, at: DurationMs): void {
    first.at = at;
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(child, index)) return;
      index = child;
    }
  }

  #isBefore(index: number, other: number): boolean {
    const a = this.#entries[index];
    const b = this.#entries[other];
    return a !== undefined && b !== undefined && a.at < b.at;
  }

  #swapIfBefore(index: number, other: number): boolean {
    const a = this.#entries[index];
    const b = this.#entries[other];
    if (a === undefined || b === undefined || a.at >= b.at) return false;
    this.#entries[other] = a;
    this.#entries[index] = b;
    return true;
  }
}
