import { beforeEach, describe, expect, it } from "vitest";
import { lane, OfferingHarness, solo } from "../../harness/offering-harness.js";

let h: OfferingHarness;
beforeEach(() => {
  h = new OfferingHarness();
});

describe("free slots", () => {
  it("are offered to who stored runs that were claimed here, half of them", () => {
    h.worker("s", 9);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    const place = { lane: lane.id, namespaceId: 1, gatewayId: "g", sessionId: "s" };
    expect(h.sent).toEqual([{ to: "a", ...place, limitsRevision: 3, token: "token-1", count: 5 }]);
  });

  it("are offered to nobody who did not ask, and for no lane and no namespace that was not asked for", () => {
    h.worker("s", 10);
    h.claim();
    h.offering.asked("a", lane.id, 1);
    h.claim({ lane: 99 });
    h.claim({ namespaceId: 2 });
    expect(h.offers()).toEqual([]);
  });

  it("are offered to who asked within the last second, and not later", () => {
    h.worker("s", 10);
    h.offering.asked("a", lane.id, 1);
    h.offering.asked("b", lane.id, 1);
    h.clock.advance(1);
    h.offering.asked("b", lane.id, 1);
    h.clock.advance(1_000);
    h.claim();
    expect(h.offers()).toEqual(["b: 5 of s"]);
  });

  it("are offered only where nothing waits: nobody is overtaken", () => {
    h.worker("s", 10);
    h.offering.asked("a", lane.id, 1);
    h.bounds.hint(lane.id, 5, 1);
    h.claim();
    expect(h.offers()).toEqual([]);
  });

  it("are not offered while something waits in another lane of the group, but as soon as nothing does", () => {
    h.worker("s", 10);
    h.offering.asked("a", lane.id, 1);
    h.bounds.hint(solo.id, 5, 1);
    h.claim();
    h.offering.freed();
    expect(h.offers()).toEqual([]);
    h.lookAt(h.group);
    h.offering.freed();
    h.offering.freed();
    expect(h.offers()).toEqual(["a: 5 of s"]);
  });

  it("are not offered for a lane that is held", () => {
    h.worker("s", 10);
    h.offering.asked("a", lane.id, 1);
    h.isHeld = true;
    h.bounds.holdAgain();
    h.claim();
    expect(h.offers()).toEqual([]);
  });

  it("are not offered for a lane that is not plain", () => {
    h.worker("s", 10);
    h.offering.asked("a", solo.id, 1);
    h.claim({ lane: solo.id });
    expect(h.offers()).toEqual([]);
  });

  it("are not offered by workers of several namespaces, nor for heavy runs", () => {
    const skills = { queues: ["q"], tasks: ["a"], weight: 1 };
    const others = [
      { ...skills, namespaceIds: [1, 2] },
      { ...skills, namespaceIds: null },
      { ...skills, namespaceIds: [1], weight: 2 },
    ];
    h.offering.asked("a", lane.id, 1);
    for (const other of others) {
      h.group = h.groupOf(other);
      h.worker("s", 10);
      h.claim();
    }
    expect(h.offers()).toEqual([]);
  });

  it("are not offered by a worker that takes runs only while it polls, is asked what it holds, is cordoned or paused", () => {
    h.worker("polls", 10, { isSteady: false });
    h.worker("asked", 10).isAsked = true;
    h.worker("cordoned", 10).isCordoned = true;
    h.worker("paused", 10).isWaiting = false;
    h.offering.asked("a", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual([]);
    h.worker("free", 2);
    h.offering.freed();
    expect(h.offers()).toEqual(["a: 1 of free"]);
  });

  it("are offered as before when workers that poll claim from the same lane", () => {
    h.worker("s", 8);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    h.offers();
    h.group = h.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["a", "b"], weight: 1 });
    h.worker("polls", 8, { isSteady: false });
    h.clock.advance(501);
    h.claim();
    h.offering.used({ from: "a", lane: lane.id, namespaceId: 1 }, 1, false);
    expect(h.offers()).toEqual(["a: 4 of s"]);
  });

  it("are those of the worker that has most of them", () => {
    h.worker("few", 3);
    h.worker("many", 8);
    h.worker("some", 5);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of many"]);
  });

  it("that are offered to one are not offered to another, as long as the offer may be used", () => {
    h.worker("s", 8);
    for (const from of ["a", "b", "c"]) h.offering.asked(from, lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of s", "b: 2 of s", "c: 1 of s"]);
    h.clock.advance(1_000);
    h.offering.asked("d", lane.id, 1);
    h.claim();
    expect(h.offers().find((offer) => offer.startsWith("d"))).toBe("d: 1 of s");
    h.clock.advance(1_001);
    h.offering.asked("e", lane.id, 1);
    h.claim();
    expect(h.offers()).toEqual(["e: 4 of s"]);
  });

  it("are not offered again by every claim, but when half of them may be used or half a second is over", () => {
    h.worker("s", 8);
    h.offering.asked("a", lane.id, 1);
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

describe("an offer", () => {
  it("has a token of its own each time; the one that takes it back has the same", () => {
    h.worker("s", 8);
    for (const from of ["a", "b"]) h.offering.asked(from, lane.id, 1);
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
    h.offering.used({ from: "b", lane: lane.id, namespaceId: 1 }, 1, true);
    expect(h.sent).toMatchObject([{ to: "b", token: "token-4", count: 0 }]);
  });

  it("is renewed when it is used by half, and counts anew", () => {
    h.worker("s", 8);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    h.offers();
    const use = (count: number) => h.offering.used({ from: "a", lane: lane.id, namespaceId: 1 }, count, false);
    use(1);
    expect(h.offers()).toEqual([]);
    use(1);
    expect(h.offers()).toEqual(["a: 4 of s"]);
    use(1);
    expect(h.offers()).toEqual([]);
  });
});

describe("the first word by an offer", () => {
  const a = { from: "a", lane: lane.id, namespaceId: 1 };
  const isFirst = (number: number, token = "token-1", by = a) => h.offering.isFirst(by, token, number);
  beforeEach(() => {
    h.worker("s", 8);
    for (const from of ["a", "b"]) h.offering.asked(from, lane.id, 1);
    h.claim();
  });

  it("has a higher number than any that came before", () => {
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

  it("is not number none, which no use of an offer has", () => {
    expect(isFirst(0)).toBe(false);
  });

  it("comes by what was offered last, to who says it, for this lane and this namespace", () => {
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

  it("comes by no offer that was taken back", () => {
    h.offering.used(a, 1, true);
    expect(isFirst(1)).toBe(false);
  });

  it("comes within five seconds", () => {
    h.clock.advance(5_000);
    expect(isFirst(1)).toBe(true);
    h.clock.advance(1);
    expect(isFirst(2)).toBe(false);
  });
});

describe("lanes of which something was offered", () => {
  const since = (at: number) => h.offering.offeredSince(at).map((one) => `${one.lane} of ${one.namespaceId}`);

  it("are remembered since their last offer, each once, and forgotten when that is longer ago than is asked for", () => {
    h.worker("s", 8);
    const start = h.clock.monotonic();
    expect(since(start)).toEqual([]);
    for (const from of ["a", "b"]) h.offering.asked(from, lane.id, 1);
    h.claim();
    expect(since(start)).toEqual([`${lane.id} of 1`]);
    h.clock.advance(700);
    h.claim();
    expect(since(start + 700)).toEqual([`${lane.id} of 1`]);
    expect(since(start + 701)).toEqual([]);
    expect(since(start)).toEqual([]);
  });

  it("are not those for which there was nothing to offer", () => {
    h.offering.asked("a", lane.id, 1);
    h.claim();
    expect(since(0)).toEqual([]);
  });

  it("are remembered also when who took the offers is forgotten: what it stores may be on its way", () => {
    h.worker("s", 8);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    h.clock.advance(1_001);
    h.offering.tidy();
    expect(since(0)).toEqual([`${lane.id} of 1`]);
  });
});

describe("somebody for whom no slot was free", () => {
  it("gets an offer as soon as one is, and once", () => {
    const session = h.worker("s", 1);
    session.take([h.run()], () => false);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    h.offering.freed();
    h.offering.freed();
    expect(h.offers()).toEqual([]);
    h.end(session);
    h.offering.freed();
    h.offering.freed();
    expect(h.offers()).toEqual(["a: 1 of s"]);
  });

  it("is looked at once each time, however many wait and find nothing", () => {
    let looks = 0;
    const session = h.worker("s", 1);
    // A walk that never ends would keep the test from ending too.
    const isSteady = (): boolean => {
      if (++looks > 100) throw new Error("it goes round in circles");
      return true;
    };
    Object.defineProperty(session, "isSteady", { get: isSteady });
    session.take([h.run()], () => false);
    for (const from of ["a", "b", "c"]) h.offering.asked(from, lane.id, 1);
    h.claim();
    looks = 0;
    h.offering.freed();
    expect(looks).toBe(3);
    expect(h.offers()).toEqual([]);
    h.offering.freed();
    expect(looks).toBe(6);
  });

  it("gets none when it asked too long ago, nor when runs wait by then", () => {
    const session = h.worker("s", 1);
    session.take([h.run()], () => false);
    h.offering.asked("a", lane.id, 1);
    h.claim();
    h.end(session);
    h.clock.advance(1_001);
    h.offering.freed();
    h.offering.asked("b", lane.id, 1);
    session.take([h.run()], () => false);
    h.claim();
    h.end(session);
    h.bounds.hint(lane.id, 5, 1);
    h.offering.freed();
    expect(h.offers()).toEqual([]);
  });
});

describe("those who ask for offers", () => {
  it("are no more than a thousand at a time; those who are silent make way [INV-12]", () => {
    for (let number = 0; number < 1_001; number++) h.worker(`s ${number}`, 1);
    for (let number = 0; number < 1_000; number++) h.offering.asked(`early ${number}`, lane.id, 1);
    h.clock.advance(1_000);
    h.offering.asked("too many", lane.id, 1);
    h.claim();
    expect(h.sent).toHaveLength(1_000);
    expect(h.sent.some(({ to }) => to === "too many")).toBe(false);
    h.offers();
    h.clock.advance(1);
    h.offering.asked("late", lane.id, 1);
    h.claim();
    expect(h.sent.map(({ to }) => to)).toEqual(["late"]);
  });

  it("are forgotten when they are silent for a second, and their slots are free", () => {
    h.worker("s", 8);
    h.offering.asked("a", lane.id, 1);
    h.clock.advance(999);
    h.claim();
    expect(h.offers()).toEqual(["a: 4 of s"]);
    h.offering.asked("b", lane.id, 1);
    h.clock.advance(2);
    h.offering.tidy();
    h.claim();
    expect(h.offers()).toEqual(["b: 4 of s"]);
  });
});
