import { describe, expect, it } from "vitest";
import { allocateSlots } from "../../../src/dispatch/claims/slot-allocation.js";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";

const session = (id: string, free: number, ahead = 0): WorkerSession =>
  ({ id, freeFor: () => free, roomFor: () => free + ahead }) as unknown as WorkerSession;

const allocated = (sessions: readonly WorkerSession[], max: number) => {
  const slots = allocateSlots(sessions, max, { weight: 1 });
  return { ids: slots.order.map((index) => slots.sessions[index]?.id).join(""), free: slots.free };
};

describe("slot allocation", () => {
  it("begins with the worker with the most free slots, until all have as many", () => {
    expect(allocated([session("a", 1), session("b", 4), session("c", 3)], 100)).toEqual({ ids: "bbcbcbca", free: 8 });
  });

  it("fills free slots before runs wait at a worker", () => {
    expect(allocated([session("a", 1, 5), session("b", 2)], 100)).toEqual({ ids: "bbaaaaaa", free: 3 });
  });

  it("allocates no more slots than one statement takes", () => {
    expect(allocated([session("a", 10, 10), session("b", 10)], 3)).toEqual({ ids: "aba", free: 3 });
  });

  it("allocates no slot of a worker without room", () => {
    expect(allocated([session("a", 0)], 3)).toEqual({ ids: "", free: 0 });
  });
});
