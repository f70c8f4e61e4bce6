import { beforeEach, describe, expect, it } from "vitest";
import { lane, SlotOfferHarness, solo } from "../../harness/slot-offer-harness.js";

let h: SlotOfferHarness;
beforeEach(() => {
  h = new SlotOfferHarness();
});

describe("the slot offerer", () => {
  it("offers half of the free slots to a node whose runs were claimed here", () => {
    h.worker("s", 9);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    const place = { lane: lane.id, namespaceId: 1, gatewayId: "g", sessionId: "s" };
    expect(h.sent).toEqual([{ to: "a", ...place, limitsRevision: 3, token: "token-1", count: 5 }]);
  });

  it("offers nothing without a request, and nothing for another lane or namespace", () => {
    h.worker("s", 10);
    h.claim();
    h.offerer.requested("a", lane.id, 1);
    h.claim({ lane: 99 });
    h.claim({ namespaceId: 2 });
    expect(h.offers()).toEqual([]);
  });

  it("offers slots for a second after a request, and not later", () => {
    h.worker("s", 10);
    h.offerer.requested("a", lane.id, 1);
    h.offerer.requested("b", lane.id, 1);
    h.clock.advance(1);
    h.offerer.requested("b", lane.id, 1);
    h.clock.advance(1_000);
    h.claim();
    expect(h.offers()).toEqual(["b: 5 of s"]);
  });

  it("offers no slot while a run waits in the lane, so that none is overtaken", () => {
    h.worker("s", 10);
    h.offerer.requested("a", lane.id, 1);
    h.cursors.hint(lane.id, 5, 1);
    h.claim();
    expect(h.offers()).toEqual([]);
  });

  it("offers no slot while a run waits in another lane of the group, but as soon as none does", () => {
    h.worker("s", 10);
    h.offerer.requested("a", lane.id, 1);
    h.cursors.hint(solo.id, 5, 1);
    h.claim();
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual([]);
    h.scan(h.group);
    h.offerer.slotsFreed();
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual(["a: 5 of s"]);
  });

  it("offers no slot for a held lane", () => {
    h.worker("s", 10);
    h.offerer.requested("a", lane.id, 1);
    h.isHeld = true;
    h.cursors.refreshHolds();
    h.claim();
    expect(h.offers()).toEqual([]);
  });

  it("offers no slot for a lane that is not plain", () => {
    h.worker("s", 10);
    h.offerer.requested("a", solo.id, 1);
    h.claim({ lane: solo.id });
    expect(h.offers()).toEqual([]);
  });

  it("offers no slot of workers of several namespaces, nor for heavy runs", () => {
    const skills = { queues: ["q"], tasks: ["a"], weight: 1 };
    const others = [
      { ...skills, namespaceIds: [1, 2] },
      { ...skills, namespaceIds: null },
      { ...skills, namespaceIds: [1], weight: 2 },
    ];
    h.offerer.requested("a", lane.id, 1);
    for (const other of others) {
      h.group = h.groupOf(other);
      h.worker("s", 10);
      h.claim();
    }
    expect(h.offers()).toEqual([]);
  });

  it("offers no slot of a worker that polls, is being verified, is cordoned or paused", () => {
    h.worker("polls", 10, { isInProcess: false });
    h.worker("verified", 10).isBeingVerified = true;
    h.worker("cordoned", 10).isCordoned = true;
    h.worker("paused", 10).isWaiting = false;
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual([]);
    h.worker("free", 2);
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual(["a: 1 of free"]);
  });

  it("offers as before when workers that poll claim from the same lane", () => {
    h.worker("s", 8);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.offers();
    h.group = h.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["a", "b"], weight: 1 });
    h.worker("polls", 8, { isInProcess: false });
    h.clock.advance(501);
    h.claim();
    h.offerer.used({ from: "a", lane: lane.id, namespaceId: 1 }, 1, false);
    expect(h.offers()).toEqual(["a: 4 of s"]);
  });

  it("offers slots of the worker with the most free ones", () => {
    h.worker("few", 3);
    h.worker("many", 8);
    h.worker("some", 5);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of many"]);
  });

  it("offers no slot twice as long as the first offer may be used", () => {
    h.worker("s", 8);
    for (const from of ["a", "b", "c"]) h.offerer.requested(from, lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of s", "b: 2 of s", "c: 1 of s"]);
    h.clock.advance(1_000);
    h.offerer.requested("d", lane.id, 1);
    h.claim();
    expect(h.offers().find((offer) => offer.startsWith("d"))).toBe("d: 1 of s");
    h.clock.advance(1_001);
    h.offerer.requested("e", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["e: 4 of s"]);
  });

  it("renews an offer when half of it is used or half a second is over, not by every claim", () => {
    h.worker("s", 8);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.offers();
    h.clock.advance(500);
    h.claim();
    expect(h.offers()).toEqual([]);
    h.clock.advance(1);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of s"]);
  });
});

describe("a slot offer", () => {
  it("has a token of its own; the message that withdraws it has the same", () => {
    h.worker("s", 8);
    for (const from of ["a", "b"]) h.offerer.requested(from, lane.id, 1);
    h.claim();
    h.clock.advance(501);
    h.claim();
    expect(h.sent.map(({ to, token }) => `${to} ${token}`)).toEqual([
      "a token-1",
      "b token-2",
      "a token-3",
      "b token-4",
    ]);
    h.sent.splice(0);
    h.offerer.used({ from: "b", lane: lane.id, namespaceId: 1 }, 1, true);
    expect(h.sent).toMatchObject([{ to: "b", token: "token-4", count: 0 }]);
  });

  it("is renewed when half of it is used, and counts from zero again", () => {
    h.worker("s", 8);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.offers();
    const use = (count: number) => h.offerer.used({ from: "a", lane: lane.id, namespaceId: 1 }, count, false);
    use(1);
    expect(h.offers()).toEqual([]);
    use(1);
    expect(h.offers()).toEqual(["a: 4 of s"]);
    use(1);
    expect(h.offers()).toEqual([]);
  });
});

describe("the first notice of a use of an offer", () => {
  const a = { from: "a", lane: lane.id, namespaceId: 1 };
  const isFirst = (number: number, token = "token-1", use = a) => h.offerer.isFirstUse(use, token, number);
  beforeEach(() => {
    h.worker("s", 8);
    for (const from of ["a", "b"]) h.offerer.requested(from, lane.id, 1);
    h.claim();
  });

  it("has a higher number than every notice before", () => {
    expect([1, 2, 2, 1, 5, 4, 6].map((number) => isFirst(number))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it("is not number 0, which no use of an offer has", () => {
    expect(isFirst(0)).toBe(false);
  });

  it("uses the last offer to its sender for this lane and this namespace", () => {
    expect(isFirst(1, "token-2")).toBe(false);
    expect(isFirst(1, "token-1", { ...a, from: "b" })).toBe(false);
    expect(isFirst(1, "token-1", { ...a, from: "c" })).toBe(false);
    expect(isFirst(1, "token-1", { ...a, lane: solo.id })).toBe(false);
    expect(isFirst(1, "token-1", { ...a, namespaceId: 2 })).toBe(false);
    expect(isFirst(1)).toBe(true);
    h.clock.advance(501);
    h.claim();
    expect(isFirst(2)).toBe(false);
    expect(isFirst(2, "token-3")).toBe(true);
  });

  it("uses no offer that was withdrawn", () => {
    h.offerer.used(a, 1, true);
    expect(isFirst(1)).toBe(false);
  });

  it("arrives within five seconds after the offer", () => {
    h.clock.advance(5_000);
    expect(isFirst(1)).toBe(true);
    h.clock.advance(1);
    expect(isFirst(2)).toBe(false);
  });
});

describe("lanes of which slots were offered", () => {
  const since = (at: number) => h.offerer.offeredSince(at).map((one) => `${one.lane} of ${one.namespaceId}`);

  it("are remembered since their last offer, each once, and forgotten when that is longer ago than requested", () => {
    h.worker("s", 8);
    const start = h.clock.monotonic();
    expect(since(start)).toEqual([]);
    for (const from of ["a", "b"]) h.offerer.requested(from, lane.id, 1);
    h.claim();
    expect(since(start)).toEqual([`${lane.id} of 1`]);
    h.clock.advance(700);
    h.claim();
    expect(since(start + 700)).toEqual([`${lane.id} of 1`]);
    expect(since(start + 701)).toEqual([]);
    expect(since(start)).toEqual([]);
  });

  it("do not include those for which no slot was free", () => {
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    expect(since(0)).toEqual([]);
  });

  it("are remembered also when their requester is forgotten: its runs may be on their way", () => {
    h.worker("s", 8);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.clock.advance(1_001);
    h.offerer.expireRequests();
    expect(since(0)).toEqual([`${lane.id} of 1`]);
  });
});

describe("a pending requester", () => {
  it("gets one offer as soon as a slot is free", () => {
    const session = h.worker("s", 1);
    session.assign([h.run()], () => false);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.offerer.slotsFreed();
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual([]);
    h.end(session);
    h.offerer.slotsFreed();
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual(["a: 1 of s"]);
  });

  it("is tried once whenever slots are freed, however many requesters are pending", () => {
    let checks = 0;
    const session = h.worker("s", 1);
    // An endless loop would keep the test from ending.
    const isInProcess = (): boolean => {
      if (++checks > 100) throw new Error("the loop does not end");
      return true;
    };
    Object.defineProperty(session, "isInProcess", { get: isInProcess });
    session.assign([h.run()], () => false);
    for (const from of ["a", "b", "c"]) h.offerer.requested(from, lane.id, 1);
    h.claim();
    checks = 0;
    h.offerer.slotsFreed();
    expect(checks).toBe(3);
    expect(h.offers()).toEqual([]);
    h.offerer.slotsFreed();
    expect(checks).toBe(6);
  });

  it("gets no offer when its request is too old, nor while runs wait", () => {
    const session = h.worker("s", 1);
    session.assign([h.run()], () => false);
    h.offerer.requested("a", lane.id, 1);
    h.claim();
    h.end(session);
    h.clock.advance(1_001);
    h.offerer.slotsFreed();
    h.offerer.requested("b", lane.id, 1);
    session.assign([h.run()], () => false);
    h.claim();
    h.end(session);
    h.cursors.hint(lane.id, 5, 1);
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual([]);
  });
});

describe("requesters of slot offers", () => {
  it("are bounded to a thousand at a time; the oldest make room [INV-12]", () => {
    for (let number = 0; number < 1_001; number++) h.worker(`s ${number}`, 1);
    for (let number = 0; number < 1_000; number++) h.offerer.requested(`early ${number}`, lane.id, 1);
    h.clock.advance(1_000);
    h.offerer.requested("too many", lane.id, 1);
    h.claim();
    expect(h.sent).toHaveLength(1_000);
    expect(h.sent.some(({ to }) => to === "too many")).toBe(false);
    h.offers();
    h.clock.advance(1);
    h.offerer.requested("late", lane.id, 1);
    h.claim();
    expect(h.sent.map(({ to }) => to)).toEqual(["late"]);
  });

  it("are forgotten a second after their last request, and their slots are free", () => {
    h.worker("s", 8);
    h.offerer.requested("a", lane.id, 1);
    h.clock.advance(999);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of s"]);
    h.offerer.requested("b", lane.id, 1);
    h.clock.advance(2);
    h.offerer.expireRequests();
    h.claim();
    expect(h.offers()).toEqual(["b: 4 of s"]);
  });
});
