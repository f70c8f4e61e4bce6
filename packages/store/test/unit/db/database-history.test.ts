import { beforeEach, describe, expect, it } from "vitest";
import { DatabaseHistory, type ServerHistory } from "../../../src/db/database-history.js";
import type { DatabaseEvent } from "../../../src/db/options.js";
import type { Queryable } from "../../../src/db/queryable.js";

const on = (timeline: number, system = "s.1"): ServerHistory => ({ system, timeline });
const session: Queryable = {
  query: () => {
    throw new Error("not needed");
  },
};

let events: DatabaseEvent[];
let left: number;
let history: DatabaseHistory;
beforeEach(() => {
  events = [];
  left = 0;
  history = new DatabaseHistory((event) => void events.push(event));
  history.onLeft(() => left++);
});

describe("DatabaseHistory", () => {
  it("admits connections to servers of one timeline, and those that show none", () => {
    history.admit(on(1), "a", false);
    history.admit(on(1), "b", false);
    history.admit(null, "c", false);
    expect([left, events, history.generation]).toEqual([0, [], 0]);
  });

  it("refuses every connection from the first one of another timeline on, until the rows are settled", async () => {
    history.admit(on(1), "a", false);
    expect(() => history.admit(on(2), "b", false)).toThrow(/failed over or restored/);
    expect(() => history.admit(on(2), "b", false)).toThrow(/failed over or restored/);
    expect([left, history.isSettled, history.generation]).toEqual([1, false, 1]);
    expect(events).toEqual([{ type: "database.history_left", timeline: 1, nextTimeline: 2 }]);
    const settled: Queryable[] = [];
    history.settleBy(
      async (of) => void settled.push(of),
      () => undefined,
    );
    history.admit(on(2), "b", true);
    await history.settle(session);
    expect([settled, history.isSettled]).toEqual([[session], true]);
    history.admit(on(2), "b", false);
  });

  it("refuses calls that began before the history was left for good", async () => {
    history.admit(on(1), "a", false);
    const begun = history.generation;
    history.leave(null);
    history.admit(on(1), "a", true);
    await history.settle(session);
    expect(() => history.assertIs(begun)).toThrow(/Repeat the call/);
    history.assertIs(history.generation);
  });

  it("refuses a server of an older timeline than it has seen, also before the rows of the newer one are settled, and reports it once", () => {
    history.admit(on(1), "a", false);
    history.observe(on(2));
    expect([left, history.isSettled]).toEqual([1, false]);
    for (const isForSettling of [true, false])
      expect(() => history.admit(on(1), "a", isForSettling)).toThrow(
        "The server at a was replaced by a failover: it is on timeline 1, and this node has seen timeline 2.",
      );
    expect(events.filter(({ type }) => type === "database.server_replaced")).toEqual([
      { type: "database.server_replaced", host: "a", timeline: 1, newestTimeline: 2 },
    ]);
  });

  it("leaves the history for a database of another system with any timeline", async () => {
    history.admit(on(7), "a", false);
    expect(() => history.admit(on(1, "s.2"), "a", false)).toThrow(/failed over or restored/);
    history.admit(on(1, "s.2"), "a", true);
    await history.settle(session);
    history.admit(on(1, "s.2"), "a", false);
    expect(left).toBe(1);
  });

  it("is not settled by work during which another timeline was found", async () => {
    history.admit(on(1), "a", false);
    history.leave(on(2));
    history.settleBy(
      async () => history.leave(on(3)),
      () => undefined,
    );
    history.admit(on(2), "b", true);
    await expect(history.settle(session)).rejects.toThrow(/failed over/);
    expect(history.isSettled).toBe(false);
  });

  it("does not leave the history for an older timeline, an equal one, or another system that a survey finds", () => {
    history.admit(on(2), "a", false);
    for (const found of [on(1), on(2), on(9, "s.2"), null]) history.observe(found);
    expect([left, history.generation]).toEqual([0, 0]);
  });
});
