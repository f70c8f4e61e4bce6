import { describe, expect, it } from "vitest";
import { LaneCursors } from "../../../src/dispatch/claims/lane-cursors.js";
import { LaneScanQueue } from "../../../src/dispatch/claims/lane-scan-queue.js";
import { BreakerProbe } from "../../../src/dispatch/claims/breaker-probe.js";
import type { Lane } from "@carillon/store";

const laneAt = (id: number): Lane => ({ id, queue: `q${id}`, task: "pay", kind: "plain", requires: "" });
const isBehind = (): boolean => true;

/** Two lanes behind one open breaker, in which runs wait. */
function twoLanes() {
  const cursors = new LaneCursors(1_000, () => "tried");
  cursors.serve(new LaneScanQueue(1_000), [laneAt(1), laneAt(2)], 1);
  const state = { waiting: new Set([1, 2]), isStrictTrying: false };
  const probe = new BreakerProbe({
    cursors,
    groups: () => [],
    lanes: { get: laneAt },
    claims: { areWaiting: async (_namespaceId, lanes) => lanes.some((lane) => state.waiting.has(lane)) },
    isStrictTrying: (isMeant) => state.isStrictTrying && isMeant(1, 1),
    wake: () => undefined,
  });
  const behind = cursors.cursorsWhere(isBehind);
  return { probe, state, behind, open: () => behind.filter((cursor) => cursor.isOpen).map((cursor) => cursor.lane.id) };
}

describe("a breaker probe", () => {
  it("admits one run, of one lane", async () => {
    const { probe, open } = twoLanes();
    expect(await probe.admitOne(isBehind)).toBe("lane");
    expect(open()).toEqual([1]);
  });

  it("admits a run of another lane when the first no longer waits, and none of the first lane", async () => {
    const { probe, state, open } = twoLanes();
    await probe.admitOne(isBehind);
    state.waiting.delete(1);
    await probe.admitOne(isBehind);
    expect(open()).toEqual([2]);
  });

  it("admits no other run while a scan may have claimed the first", async () => {
    const { probe, state, behind, open } = twoLanes();
    await probe.admitOne(isBehind);
    const scan = behind[0]?.beginScan({ limit: 10, isAlone: true, isFull: false });
    state.waiting.delete(1);
    expect([scan?.read.limit, await probe.admitOne(isBehind), open()]).toEqual([1, "lane", []]);
    const nothing = { count: 0, highest: 0, namespaceCount: 0, namespaceHighest: 0, slots: 10 };
    if (scan !== undefined) behind[0]?.settle(scan, nothing);
    await probe.admitOne(isBehind);
    expect(open()).toEqual([2]);
  });

  it("admits no other run while a claim of a strict queue may have claimed the first", async () => {
    const { probe, state, open } = twoLanes();
    state.isStrictTrying = true;
    expect([await probe.admitOne(isBehind), open()]).toEqual(["strict", []]);
  });
});
