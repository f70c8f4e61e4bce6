import { describe, expect, it } from "vitest";
import { dealPlaces } from "../../../src/dispatch/claims/slot-allocation.js";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";

const session = (id: string, free: number, ahead = 0): WorkerSession =>
  ({ id, freeFor: () => free, roomFor: () => free + ahead }) as unknown as WorkerSession;

const dealt = (sessions: readonly WorkerSession[], most: number) => {
  const places = dealPlaces(sessions, most, { weight: 1 });
  return { ids: places.order.map((index) => places.sessions[index]?.id).join(""), free: places.free };
};

describe("places", () => {
  it("go to the worker with most free slots first, until they are even", () => {
    expect(dealt([session("a", 1), session("b", 4), session("c", 3)], 100)).toEqual({ ids: "bbcbcbca", free: 8 });
  });

  it("are free slots before anything that would wait", () => {
    expect(dealt([session("a", 1, 5), session("b", 2)], 100)).toEqual({ ids: "bbaaaaaa", free: 3 });
  });

  it("are no more than a statement takes", () => {
    expect(dealt([session("a", 10, 10), session("b", 10)], 3)).toEqual({ ids: "aba", free: 3 });
  });

  it("are none for workers without room", () => {
    expect(dealt([session("a", 0)], 3)).toEqual({ ids: "", free: 0 });
  });
});
