import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { type HandedOver, HandOver } from "../../../src/enqueue/direct-insert.js";
import { Offers } from "../../../src/enqueue/slot-offers.js";
import type { HandedNotices, Notice, Offer } from "@carillon/store";
import { newRun } from "../../harness/new-run.js";

const run = newRun();
const offered: Offer = {
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
  readonly offer: Offer;
  readonly notices: HandedNotices;
}

interface Given {
  /** Whose offer it is: of a worker of this process, or of another node. */
  readonly isOwn?: boolean;
  /** What the other node is told. */
  readonly notice?: Notice | null;
  /** What comes of the statement. */
  readonly answer?: () => Promise<HandedOver>;
}

const there: Notice = { channel: "to g", payload: "them" };

/** Somebody offered to take two runs of the lane, unless the test says otherwise. */
function setUp({ isOwn = true, notice = there, answer = async () => ({ at: 42, isHanded: true }) }: Given = {}) {
  const clock = new ManualClock();
  const offers = new Offers(() => clock.monotonic());
  offers.put(offered);
  const stored: Stored[] = [];
  /** What this process is told of runs for its workers, and with which numbers others are told. */
  const local: string[] = [];
  const numbers: number[] = [];
  const handOver = new HandOver({
    store: {
      insert: (_runs, offer, notices) => {
        stored.push({ offer, notices });
        return answer();
      },
    },
    offers,
    arrivalOf: (_offer, runs) => {
      if (!isOwn) return null;
      local.push(`expects ${runs.length}`);
      return { came: (at) => void local.push(`came at ${at}`), failed: () => void local.push("failed") };
    },
    noticeOf: (_offer, number) => {
      numbers.push(number);
      return notice;
    },
    hintOf: () => hint,
    ownGateway: () => "own",
  });
  /** How many runs the offer would still take. */
  const left = (): number => [2, 1].find((count) => offers.find(run, count) !== null) ?? 0;
  return { handOver, offers, stored, local, numbers, left };
}

describe("runs that may be handed over", () => {
  it("are not stored when nobody offered to take them", async () => {
    const { handOver, offers, stored } = setUp();
    offers.put({ ...offered, count: 0 });
    expect(await handOver.insert([run])).toBeNull();
    expect(await handOver.insert([])).toBeNull();
    expect(stored).toEqual([]);
  });

  it("are not stored when nobody takes as many, and the offer stands", async () => {
    const { handOver, stored, left } = setUp();
    expect(await handOver.insert([run, run, run])).toBeNull();
    expect([stored, left()]).toEqual([[], 2]);
  });

  it.each([
    ["another lane", { lane: 8 }],
    ["another task", { task: "other" }],
    ["another namespace", { namespaceId: 2 }],
    ["another priority", { priority: 1 }],
    ["a policy of its own", { policy: { retry: { maxAttempts: 2 } } }],
  ])("are not stored when one of them has %s, and the offer stands", async (_what, differs) => {
    const { handOver, stored, left } = setUp();
    expect(await handOver.insert([run, newRun(differs)])).toBeNull();
    expect([stored, left()]).toEqual([[], 2]);
  });

  it("are not stored when there is too much to tell, and the offer stands as it did", async () => {
    const { handOver, stored, local, left } = setUp({ isOwn: false, notice: null });
    const before = left();
    expect(await handOver.insert([run])).toBeNull();
    expect([stored, local]).toEqual([[], []]);
    expect(left()).toBe(before);
  });

  it("use the offer up, and one that is used up takes no more", async () => {
    const { handOver, stored, left } = setUp();
    await handOver.insert([run]);
    expect(left()).toBe(1);
    await handOver.insert([run]);
    expect(left()).toBe(0);
    expect(await handOver.insert([run])).toBeNull();
    expect(stored).toHaveLength(2);
  });

  it("use the offer up before they are stored: what comes meanwhile may not count on it", async () => {
    const { handOver, left } = setUp();
    const inserting = handOver.insert([run, run]);
    expect(left()).toBe(0);
    await inserting;
  });

  it("go to a worker of this process, if one takes them, also when another takes more", async () => {
    const { handOver, offers, stored } = setUp();
    const own = { ...offered, gatewayId: "own", count: 1 };
    offers.put(own);
    await handOver.insert([run]);
    await handOver.insert([run]);
    expect(stored.map(({ offer }) => offer)).toEqual([own, offered]);
  });

  it("of a worker of this process are told by a call, before and with when they were stored", async () => {
    const { handOver, stored, local, numbers } = setUp();
    const inserting = handOver.insert([run, run]);
    expect(local).toEqual(["expects 2"]);
    expect(await inserting).toEqual({ at: 42, isHanded: true });
    expect(stored).toEqual([{ offer: offered, notices: { handed: null, queued: hint } }]);
    expect([local, numbers]).toEqual([["expects 2", "came at 42"], []]);
  });

  it("of another node's worker are told of by the statement alone, with a number that grows", async () => {
    const { handOver, stored, local, numbers } = setUp({ isOwn: false });
    expect(await handOver.insert([run])).toEqual({ at: 42, isHanded: true });
    expect(stored).toEqual([{ offer: offered, notices: { handed: there, queued: hint } }]);
    await handOver.insert([run]);
    expect([local, numbers]).toEqual([[], [1, 2]]);
  });

  it("are queued when the worker is gone: they did not come, and its offer counts no more", async () => {
    const { handOver, stored, local, left } = setUp({ answer: async () => ({ at: 42, isHanded: false }) });
    expect(await handOver.insert([run])).toEqual({ at: 42, isHanded: false });
    expect(stored[0]?.notices.queued).toEqual(hint);
    expect([local, left()]).toEqual([["expects 1", "failed"], 0]);
  });

  it.each([true, false])(
    "may be stored or not when the statement fails: who asked is told (own: %s)",
    async (isOwn) => {
      const { handOver, local, left } = setUp({
        isOwn,
        answer: () => Promise.reject(new Error("the connection broke")),
      });
      await expect(handOver.insert([run])).rejects.toThrow("the connection broke");
      expect([local, left()]).toEqual([isOwn ? ["expects 1", "failed"] : [], 1]);
    },
  );
});
