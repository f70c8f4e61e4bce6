import type { ClaimedRun, Lane } from "@carillon/store";
import { describe, expect, it } from "vitest";
import { LaneCursors, type LaneScan } from "../../../src/dispatch/claims/lane-cursors.js";
import { LaneScanQueue } from "../../../src/dispatch/claims/lane-scan-queue.js";
import { NamespaceTurns } from "../../../src/dispatch/claims/namespace-turns.js";

const plain = { id: 1, queue: "q", task: "a", kind: "plain", requires: "" } as const;
const other = { id: 2, queue: "q", task: "b", kind: "plain", requires: "" } as const;
const solo = { id: 3, queue: "q", task: "a", kind: "solo", requires: "" } as const;
const lowestRank = Number.MIN_SAFE_INTEGER;

const claimed = (lane: number, ...ranks: number[]): ClaimedRun[] =>
  ranks.map((rank) => ({ lane, rank, namespaceId: 1 }) as ClaimedRun);
const read = (scans: readonly LaneScan[]) => scans.map((one) => one.read);

function answer(
  cursors: LaneCursors,
  scans: readonly LaneScan[],
  runs: readonly ClaimedRun[],
  slots = 10,
  at = 0,
): void {
  cursors.settle(scans, { claimed: runs, slots, free: slots, durationMs: 1 }, at);
}

/** The lane was read from its beginning, and ten runs were claimed for ten slots: the last at rank 100. */
function drained(): LaneCursors {
  const cursors = new LaneCursors(1_000);
  const scans = scan(cursors, 0);
  answer(cursors, scans, claimed(1, ...Array.from({ length: 10 }, (_, index) => 91 + index)));
  return cursors;
}

const turns = new NamespaceTurns(() => 1);
const queues = new WeakMap<LaneCursors, LaneScanQueue>();

function scan(
  cursors: LaneCursors,
  at = 1,
  lanes: readonly Lane[] = [plain],
  wanted: { slots: number; free: number; forLostRuns?: number } = { slots: 10, free: 10 },
): LaneScan[] {
  const queue = queues.get(cursors) ?? new LaneScanQueue(1_000);
  queues.set(cursors, queue);
  cursors.serve(queue, lanes, 1);
  return [...queue.plan({ forLostRuns: 1, ...wanted }, at, turns).scans];
}

describe("lane cursors", () => {
  it("begin with a scan of the whole lane", () => {
    expect(read(scan(new LaneCursors(1_000)))).toEqual([
      { lane: 1, namespaceId: 1, fromRank: lowestRank, limit: 10, isSolo: false },
    ]);
  });

  it("continue from the last rank that was claimed, which other runs may share", () => {
    expect(read(scan(drained()))).toMatchObject([{ fromRank: 100 }]);
  });

  it("scan no emptied lane until a hint or the full scan", () => {
    const cursors = new LaneCursors(1_000);
    answer(cursors, scan(cursors, 0), claimed(1, 5, 6));
    expect(scan(cursors, 999)).toEqual([]);
    expect(read(scan(cursors, 1_000))).toMatchObject([{ fromRank: lowestRank }]);
  });

  it("continue from the rank of a hint, below or above the cursor", () => {
    const cursors = drained();
    cursors.hint(1, 40);
    expect(read(scan(cursors))).toMatchObject([{ fromRank: 40 }]);
  });

  it("remember a hint that arrives during a scan, because the run may be newer than its snapshot", () => {
    const cursors = drained();
    const scans = scan(cursors);
    cursors.hint(1, 40);
    answer(cursors, scans, []);
    expect(read(scan(cursors, 2))).toMatchObject([{ fromRank: 40 }]);
  });

  it("begin one scan at a time of a lane that is not known to have more runs than it claims", () => {
    const cursors = new LaneCursors(1_000);
    answer(cursors, scan(cursors, 0), []);
    cursors.hint(1, 40);
    const first = scan(cursors);
    expect(first).toHaveLength(1);
    expect(scan(cursors)).toEqual([]);
    cursors.hint(1, 50);
    const second = scan(cursors);
    expect(second).toHaveLength(1);
    answer(cursors, first, claimed(1, 40));
    expect(scan(cursors)).toEqual([]);
    answer(cursors, second, claimed(1, 50));
    expect(scan(cursors)).toEqual([]);
  });

  it("begin two scans at a time of a lane that had more runs than the last one claimed", () => {
    const cursors = drained();
    expect([scan(cursors), scan(cursors)].map(read)).toMatchObject([[{ fromRank: 100 }], [{ fromRank: 100 }]]);
  });

  it("are not moved back by the slower of two scans", () => {
    const cursors = drained();
    const [slow, fast] = [scan(cursors), scan(cursors)];
    answer(cursors, fast, claimed(1, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300));
    answer(cursors, slow, claimed(1, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200));
    expect(read(scan(cursors))).toMatchObject([{ fromRank: 300 }]);
  });

  it("start from the lowest rank when a scan failed, because its runs may be anywhere", () => {
    const cursors = drained();
    cursors.failed(scan(cursors));
    expect(read(scan(cursors))).toMatchObject([{ fromRank: lowestRank }]);
  });

  const settleSlowly = (cursors: LaneCursors, scans: readonly LaneScan[], at: number): void => {
    const runs = claimed(1, ...Array.from({ length: 10 }, () => 100));
    cursors.settle(scans, { claimed: runs, slots: 10, free: 10, durationMs: 100 }, at);
  };

  it("make one full scan every interval under steady load, also after a slow one", () => {
    const cursors = drained();
    const full = scan(cursors, 1_000);
    expect(read(full)).toMatchObject([{ fromRank: lowestRank }]);
    expect(read(scan(cursors, 1_001))).toMatchObject([{ fromRank: 100 }]);
    settleSlowly(cursors, full, 1_100);
    expect(read(scan(cursors, 2_099))).toMatchObject([{ fromRank: 100 }]);
    expect(read(scan(cursors, 2_100))).toMatchObject([{ fromRank: lowestRank }]);
  });

  it("make full scans less often when they are repeatedly expensive", () => {
    const cursors = drained();
    settleSlowly(cursors, scan(cursors, 1_000), 1_100);
    settleSlowly(cursors, scan(cursors, 2_100), 2_200);
    expect(read(scan(cursors, 4_199))).toMatchObject([{ fromRank: 100 }]);
    expect(read(scan(cursors, 4_200))).toMatchObject([{ fromRank: lowestRank }]);
  });

  it("read few runs of each of many lanes, and more of the lane that has them", () => {
    const cursors = new LaneCursors(1_000);
    const wanted = { slots: 500, free: 500 };
    const first = scan(cursors, 0, [plain, other], wanted);
    expect(read(first).map((one) => one.limit)).toEqual([8, 8]);
    answer(cursors, first, claimed(1, ...Array.from({ length: 8 }, (_, index) => index)), 500);
    expect(read(scan(cursors, 1, [plain, other], wanted)).map(({ lane, limit }) => [lane, limit])).toEqual([[1, 500]]);
  });

  it("read no more runs of a solo lane than there are free slots", () => {
    const cursors = new LaneCursors(1_000);
    expect(scan(cursors, 0, [solo], { slots: 10, free: 0 })).toEqual([]);
    expect(read(scan(cursors, 0, [solo], { slots: 10, free: 2 }))).toMatchObject([{ limit: 2 }]);
  });

  it("read no more runs that lost a worker before than there are workers without one", () => {
    const cursors = new LaneCursors(1_000);
    const lost = { id: 4, queue: "q", task: "a", kind: "lost", requires: "" } as const;
    expect(scan(cursors, 0, [lost], { slots: 10, free: 10, forLostRuns: 0 })).toEqual([]);
    expect(read(scan(cursors, 0, [lost], { slots: 10, free: 10, forLostRuns: 3 }))).toMatchObject([
      { limit: 3, isSolo: true },
    ]);
  });

  it("read solo runs again that got no slot because plain runs took the free ones", () => {
    const cursors = new LaneCursors(1_000);
    const scans = scan(cursors, 0, [plain, solo], { slots: 4, free: 2 });
    cursors.settle(scans, { claimed: claimed(1, 1, 2, 3, 4), slots: 4, free: 2, durationMs: 1 }, 0);
    const again = read(scan(cursors, 1, [plain, solo], { slots: 4, free: 2 }));
    expect(again.find((one) => one.isSolo)?.fromRank).toBe(lowestRank);
  });
});

describe("lane cursors of a paused queue", () => {
  it("are not scanned despite hints, and from their beginning when the queue is resumed", () => {
    let isPaused = true;
    const cursors = new LaneCursors(1_000, () => (isPaused ? "shut" : null));
    expect(scan(cursors, 0)).toEqual([]);
    cursors.hint(1, 40);
    expect(scan(cursors, 1_000)).toEqual([]);
    isPaused = false;
    cursors.refreshHolds();
    expect(read(scan(cursors, 1_001))).toMatchObject([{ fromRank: lowestRank }]);
  });

  it("close when the queue is paused, also during a scan", () => {
    let isPaused = false;
    const cursors = new LaneCursors(1_000, () => (isPaused ? "shut" : null));
    const scans = scan(cursors, 0);
    isPaused = true;
    cursors.refreshHolds();
    answer(cursors, scans, claimed(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    expect(scan(cursors, 1)).toEqual([]);
  });
});
