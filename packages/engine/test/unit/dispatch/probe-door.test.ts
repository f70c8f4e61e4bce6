import { describe, expect, it } from "vitest";
import { LaneBounds } from "../../../src/dispatch/claims/lane-bounds.js";
import { ProbeDoor } from "../../../src/dispatch/claims/breaker-probe.js";
import type { Lane } from "@carillon/store";

const laneAt = (id: number): Lane => ({ id, queue: `q${id}`, task: "pay", kind: "plain", requires: "" });
const isBehind = (): boolean => true;

/** Two lanes behind one open breaker, in which runs wait. */
function twoLanes() {
  const bounds = new LaneBounds(1_000, () => "tried");
  bounds.serve(bounds.agenda(), [laneAt(1), laneAt(2)], 1);
  const state = { waiting: new Set([1, 2]), isStrictTrying: false };
  const door = new ProbeDoor({
    bounds,
    groups: () => [],
    lanes: { get: laneAt },
    claims: { areWaiting: async (_namespaceId, lanes) => lanes.some((lane) => state.waiting.has(lane)) },
    isStrictTrying: (isMeant) => state.isStrictTrying && isMeant(1, 1),
    wake: () => undefined,
  });
  const spots = bounds.spotsWhere(isBehind);
  return { door, state, spots, open: () => spots.filter((spot) => spot.isOpen).map((spot) => spot.lane.id) };
}

describe("the run that is tried for a breaker", () => {
  it("is one, of one lane", async () => {
    const { door, open } = twoLanes();
    expect(await door.letOneThrough(isBehind)).toBe("lane");
    expect(open()).toEqual([1]);
  });

  it("is looked for elsewhere when it waits no longer, and no more where it waited", async () => {
    const { door, state, open } = twoLanes();
    await door.letOneThrough(isBehind);
    state.waiting.delete(1);
    await door.letOneThrough(isBehind);
    expect(open()).toEqual([2]);
  });

  it("is not joined by another while a look may have taken it", async () => {
    const { door, state, spots, open } = twoLanes();
    await door.letOneThrough(isBehind);
    const look = spots[0]?.look({ most: 10, isAlone: true, isFull: false });
    state.waiting.delete(1);
    expect([look?.read.most, await door.letOneThrough(isBehind), open()]).toEqual([1, "lane", []]);
    const nothing = { count: 0, highest: 0, countOfAll: 0, highestOfAll: 0, places: 10 };
    if (look !== undefined) spots[0]?.settle(look, nothing);
    await door.letOneThrough(isBehind);
    expect(open()).toEqual([2]);
  });

  it("is not joined by another while a strict queue's claim may have taken it", async () => {
    const { door, state, open } = twoLanes();
    state.isStrictTrying = true;
    expect([await door.letOneThrough(isBehind), open()]).toEqual(["strict", []]);
  });
});
