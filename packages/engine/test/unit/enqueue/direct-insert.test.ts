import { ManualClock } from "@carillon/core";
import type { DirectNotices, DirectRunStore, Notice, SlotOffer } from "@carillon/store";
import { describe, expect, it } from "vitest";
import { DirectInsert, SlotOffers } from "../../../src/enqueue/direct-insert.js";
import { newRun } from "../../harness/new-run.js";

const run = newRun();
const offered: SlotOffer = {
  lane: run.lane,
  namespaceId: run.namespaceId,
  gatewayId: "g",
  sessionId: "s",
  limitsRevision: 3,
  token: "t",
  count: 2,
};
const hint: Notice = { channel: "all", payload: "lanes" };

interface Stored {
  readonly offer: SlotOffer;
  readonly notices: DirectNotices;
}

interface Given {
  /** Whose offer it is: of a worker of this process, or of another node. */
  readonly isOwn?: boolean;
  /** The notice for the other node. */
  readonly notice?: Notice | null;
  /** The answer of the statement. */
  readonly answer?: () => ReturnType<DirectRunStore["insert"]>;
}

const toGateway: Notice = { channel: "to g", payload: "runs" };

/** A worker offered two slots for runs of the lane, unless the test says otherwise. */
function setUp({ isOwn = true, notice = toGateway, answer = async () => ({ at: 42, fence: 8 }) }: Given = {}) {
  const clock = new ManualClock();
  const offers = new SlotOffers(() => clock.monotonic());
  offers.put(offered);
  const stored: Stored[] = [];
  /** The calls for workers of this process, and the numbers of the notices for others. */
  const local: string[] = [];
  const numbers: number[] = [];
  const inserter = new DirectInsert({
    store: {
      insert: (_runs, offer, notices) => {
        stored.push({ offer, notices });
        return answer();
      },
    },
    offers,
    channel: {
      gatewayId: "own",
      expectLocal: (_offer, runs) => {
        if (!isOwn) return null;
        local.push(`expects ${runs.length}`);
        return {
          stored: ({ at, fence }) => void local.push(`stored at ${at} under ${fence}`),
          failed: () => void local.push("failed"),
        };
      },
      noticeFor: (_offer, number) => {
        numbers.push(number);
        return notice;
      },
    },
    queuedNoticeFor: () => hint,
  });
  /** The slots of the offer that are left. */
  const left = (): number => [2, 1].find((count) => offers.find(run, count) !== null) ?? 0;
  return { inserter, offers, stored, local, numbers, left };
}

describe("DirectInsert", () => {
  it("a direct insert stores nothing without an offer", async () => {
    const { inserter, offers, stored } = setUp();
    offers.put({ ...offered, count: 0 });
    expect(await inserter.insert([run])).toBeNull();
    expect(await inserter.insert([])).toBeNull();
    expect(stored).toEqual([]);
  });

  it("a direct insert stores nothing when no offer has enough slots, and keeps the offer", async () => {
    const { inserter, stored, left } = setUp();
    expect(await inserter.insert([run, run, run])).toBeNull();
    expect([stored, left()]).toEqual([[], 2]);
  });

  it.each([
    ["another lane", { lane: 8 }],
    ["another task", { task: "other" }],
    ["another namespace", { namespaceId: 2 }],
    ["another priority", { priority: 1 }],
    ["a policy of its own", { policy: { retry: { maxAttempts: 2 } } }],
  ])("a direct insert stores nothing when one of the runs has %s, and keeps the offer", async (_what, differs) => {
    const { inserter, stored, left } = setUp();
    expect(await inserter.insert([run, newRun(differs)])).toBeNull();
    expect([stored, left()]).toEqual([[], 2]);
  });

  it("a direct insert stores nothing when the notice would be too long, and keeps the offer", async () => {
    const { inserter, stored, local, left } = setUp({ isOwn: false, notice: null });
    const before = left();
    expect(await inserter.insert([run])).toBeNull();
    expect([stored, local]).toEqual([[], []]);
    expect(left()).toBe(before);
  });

  it("a direct insert uses slots of the offer until none is left", async () => {
    const { inserter, stored, left } = setUp();
    await inserter.insert([run]);
    expect(left()).toBe(1);
    await inserter.insert([run]);
    expect(left()).toBe(0);
    expect(await inserter.insert([run])).toBeNull();
    expect(stored).toHaveLength(2);
  });

  it("a direct insert uses slots before the runs are stored, so that a concurrent insert does not count on them", async () => {
    const { inserter, left } = setUp();
    const inserting = inserter.insert([run, run]);
    expect(left()).toBe(0);
    await inserting;
  });

  it("a direct insert prefers a worker of this process, also when another offers more slots", async () => {
    const { inserter, offers, stored } = setUp();
    const own = { ...offered, gatewayId: "own", count: 1 };
    offers.put(own);
    await inserter.insert([run]);
    await inserter.insert([run]);
    expect(stored.map(({ offer }) => offer)).toEqual([own, offered]);
  });

  it("a direct insert notifies a worker of this process by a call, before and after the runs are stored", async () => {
    const { inserter, stored, local, numbers } = setUp();
    const inserting = inserter.insert([run, run]);
    expect(local).toEqual(["expects 2"]);
    expect(await inserting).toEqual({ at: 42, isAssigned: true });
    expect(stored).toEqual([{ offer: offered, notices: { toGateway: null, ifQueued: hint } }]);
    expect([local, numbers]).toEqual([["expects 2", "stored at 42 under 8"], []]);
  });

  it("a direct insert notifies another node only by the statement, with a growing number", async () => {
    const { inserter, stored, local, numbers } = setUp({ isOwn: false });
    expect(await inserter.insert([run])).toEqual({ at: 42, isAssigned: true });
    expect(stored).toEqual([{ offer: offered, notices: { toGateway, ifQueued: hint } }]);
    await inserter.insert([run]);
    expect([local, numbers]).toEqual([[], [1, 2]]);
  });

  it("a direct insert drops the offer when the worker is gone and its runs were queued", async () => {
    const { inserter, stored, local, left } = setUp({ answer: async () => ({ at: 42, fence: null }) });
    expect(await inserter.insert([run])).toEqual({ at: 42, isAssigned: false });
    expect(stored[0]?.notices.ifQueued).toEqual(hint);
    expect([local, left()]).toEqual([["expects 1", "failed"], 0]);
  });

  it.each([true, false])(
    "a direct insert reports the error of a failed statement to the caller (own worker: %s)",
    async (isOwn) => {
      const { inserter, local, left } = setUp({
        isOwn,
        answer: () => Promise.reject(new Error("the connection broke")),
      });
      await expect(inserter.insert([run])).rejects.toThrow("the connection broke");
      expect([local, left()]).toEqual([isOwn ? ["expects 1", "failed"] : [], 1]);
    },
  );
});
