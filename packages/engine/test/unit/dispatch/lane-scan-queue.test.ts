import type { ClaimedRun, Lane, LaneKind } from "@carillon/store";
import { describe, expect, it } from "vitest";
import { LaneCursors, type LaneScan } from "../../../src/dispatch/claims/lane-cursors.js";
import { LaneScanQueue, type Wanted } from "../../../src/dispatch/claims/lane-scan-queue.js";
import { NamespaceTurns } from "../../../src/dispatch/claims/namespace-turns.js";

const laneCount = 10_000;
const wanted = { slots: 10, free: 10, forLostRuns: 1 };

/** Lanes that count how often their kind is read. */
class Visits {
  readonly lanes: Lane[];
  readonly seen = new Set<number>();
  #count = 0;

  constructor(count: number, kind: LaneKind = "plain") {
    const visit = (id: number): void => {
      this.seen.add(id);
      this.#count++;
    };
    this.lanes = Array.from({ length: count }, (_, index) => {
      const id = index + 1;
      return {
        id,
        queue: "q",
        task: `t${id}`,
        requires: "",
        get kind() {
          visit(id);
          return kind;
        },
      };
    });
  }

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.seen.clear();
    this.#count = 0;
  }
}

const turns = new NamespaceTurns(() => 1);
const scansOf = (queue: LaneScanQueue, by: Wanted, at: number): readonly LaneScan[] => queue.plan(by, at, turns).scans;

interface Served {
  readonly cursors: LaneCursors;
  readonly queue: LaneScanQueue;
  readonly visits: Visits;
}

/** Every lane was scanned once and found empty. */
function quiet(kind: LaneKind = "plain"): Served {
  const visits = new Visits(laneCount, kind);
  const cursors = new LaneCursors(1_000);
  const queue = new LaneScanQueue(1_000);
  cursors.serve(queue, visits.lanes, 1);
  for (let scans = scansOf(queue, wanted, 0); scans.length > 0; scans = scansOf(queue, wanted, 0))
    settle(cursors, scans);
  visits.clear();
  return { cursors, queue, visits };
}

function settle(cursors: LaneCursors, scans: readonly LaneScan[], claimed: readonly ClaimedRun[] = [], at = 0): void {
  cursors.settle(scans, { claimed, slots: 10, free: 10, durationMs: 1 }, at);
}

const lanesOf = (scans: readonly LaneScan[]): number[] => scans.map((scan) => scan.read.lane);

describe("the lane scan queue of ten thousand lanes", () => {
  it("reads no lane when nothing changed", () => {
    const { queue, visits } = quiet();
    expect(queue.isReady(500)).toBe(false);
    expect(scansOf(queue, wanted, 500)).toEqual([]);
    expect(queue.nextFullScanAt(wanted)).toBe(1_000);
    expect(visits.count).toBe(0);
  });

  it("reads only lanes that were hinted", () => {
    const { cursors, queue, visits } = quiet();
    for (const lane of [7, 7_000, 7]) cursors.hint(lane, 5);
    expect(queue.isReady(500)).toBe(true);
    const scans = scansOf(queue, wanted, 500);
    settle(cursors, scans, [], 500);
    expect(new Set(lanesOf(scans))).toEqual(new Set([7, 7_000]));
    expect(visits.seen).toEqual(new Set([7, 7_000]));
    expect(scansOf(queue, wanted, 501)).toEqual([]);
  });

  it("reads at most five hundred lanes with one statement, and each of them within the interval of full scans", () => {
    const { cursors, queue, visits } = quiet();
    let max = 0;
    for (let scans = scansOf(queue, wanted, 1_000); scans.length > 0; scans = scansOf(queue, wanted, 1_000)) {
      max = Math.max(max, scans.length);
      settle(cursors, scans, [], 1_000);
    }
    expect(max).toBe(500);
    expect(visits.seen.size).toBe(laneCount);
    expect(queue.isReady(1_999)).toBe(false);
    expect(queue.nextFullScanAt(wanted)).toBe(2_000);
  });

  it("gives every open lane its turn when there are more than one statement reads", () => {
    const { cursors, queue, visits } = quiet();
    cursors.hintAll();
    visits.clear();
    for (let round = 0; round < laneCount / 500; round++) {
      const scans = scansOf(queue, wanted, 500);
      // Ten runs of the first lane for ten slots: every lane that was read stays open.
      const [first] = scans;
      const found = Array.from({ length: 10 }, () => ({ lane: first?.read.lane, rank: 1 }) as ClaimedRun);
      settle(cursors, scans, found, 500);
    }
    expect(visits.seen.size).toBe(laneCount);
  });

  it("keeps half of a statement for open lanes when full scans are due", () => {
    const { cursors, queue } = quiet();
    for (let lane = 1; lane <= 300; lane++) cursors.hint(lane, 5);
    const scans = scansOf(queue, wanted, 1_000);
    expect(scans.filter((scan) => scan.read.lane <= 300).length).toBeGreaterThanOrEqual(250);
  });

  it.each(["solo", "lost"] as const)(
    "reads no %s lane while no slot is free, and waits for no full scan of one",
    (kind) => {
      const { cursors, queue, visits } = quiet(kind);
      cursors.hintAll();
      visits.clear();
      const noneFree = { slots: 10, free: 0, forLostRuns: 0 };
      expect(scansOf(queue, noneFree, 5_000)).toEqual([]);
      expect(queue.nextFullScanAt(noneFree)).toBe(Number.POSITIVE_INFINITY);
      expect(visits.count).toBe(0);
    },
  );

  it("is opened with every queue that shares a lane, and the others keep the lane when one is released", () => {
    const { cursors, queue, visits } = quiet();
    const other = new LaneScanQueue(1_000);
    cursors.serve(other, visits.lanes.slice(0, 10), 1);
    cursors.hint(3, 5);
    expect([queue, other].map((one) => one.isReady(500))).toEqual([true, true]);
    cursors.release(queue);
    expect(cursors.size).toBe(10);
    expect(lanesOf(scansOf(other, wanted, 500))).toEqual([3]);
    cursors.release(other);
    expect(cursors.size).toBe(0);
  });
});
