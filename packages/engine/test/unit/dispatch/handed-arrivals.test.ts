import { beforeEach, describe, expect, it } from "vitest";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { ClaimedRun } from "@carillon/store";
import { lane, OfferingHarness, solo } from "../../harness/offering-harness.js";

let h: OfferingHarness;
let session: WorkerSession;
beforeEach(() => {
  h = new OfferingHarness();
  session = h.worker("s", 8);
  h.offering.asked("a", lane.id, 1);
  h.claim();
  h.offers();
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const idsOf = (runs: readonly ClaimedRun[]): string[] => runs.map((run) => run.id);

describe("runs that were stored for a worker", () => {
  it("are its own without a claim, and without a read", () => {
    const [first, second] = h.hand("a", "s", 2);
    expect(h.taken).toEqual([`${first} by s`, `${second} by s`]);
    expect([h.reads, h.givenBack, h.rescued, h.errors]).toEqual([[], [], [], []]);
  });

  it("renew the offer when half of it is used, and not before", () => {
    h.hand("a", "s");
    expect(h.offers()).toEqual([]);
    h.hand("a", "s");
    expect(h.offers()).toEqual(["a: 3 of s"]);
    h.hand("a", "s");
    expect(h.offers()).toEqual([]);
    h.hand("a", "s");
    expect(h.offers()).toEqual(["a: 2 of s"]);
    expect(h.reads).toEqual([]);
  });

  it("renew the offer when it is older than half of its time, and not before", () => {
    h.clock.advance(500);
    h.hand("a", "s");
    expect(h.offers()).toEqual([]);
    h.clock.advance(1);
    h.hand("a", "s");
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });

  it("are a sign that somebody wants offers, as its question was", () => {
    for (let step = 0; step < 5; step++) {
      h.clock.advance(600);
      h.hand("a", "s");
      h.end(session);
      h.offering.tidy();
      expect(h.offers()).toHaveLength(1);
    }
  });

  it("are taken also from somebody who is forgotten, without an offer", async () => {
    h.clock.advance(1_001);
    h.offering.tidy();
    const [id] = h.hand("a", "s");
    await settled();
    expect(h.taken).toEqual([`${id} by s`]);
    expect(h.offers()).toEqual([]);
  });

  it("are nothing when there are none", async () => {
    h.hand("a", "gone", 0);
    h.hand("a", "s", 0);
    await settled();
    expect([h.taken, h.rescued, h.errors]).toEqual([[], [], []]);
  });
});

describe("room for runs that were stored for a worker", () => {
  it("is where nobody works, also while a claim for the same slots is under way", () => {
    for (let slot = 0; slot < 8; slot++) session.promise(h.group);
    expect(session.freeFor(h.group)).toBe(0);
    const handed = h.hand("a", "s", 9);
    expect(h.taken).toEqual(handed.slice(0, 8).map((id) => `${id} by s`));
    expect(h.givenBack).toEqual([`${handed[8]} of s`]);
  });

  it("is what is free: the others are given back, with nothing offered until there is some [INV-6]", async () => {
    const all = h.hand("a", "s", 10);
    expect(h.taken).toEqual(all.slice(0, 8).map((id) => `${id} by s`));
    await settled();
    expect(h.givenBack).toEqual(all.slice(8).map((id) => `${id} of s`));
    expect(h.offers()).toEqual(["a: 0 of s"]);
    h.offering.freed();
    expect(h.offers()).toEqual([]);
    h.end(session, 4);
    h.offering.freed();
    expect(h.offers()).toEqual(["a: 2 of s"]);
  });

  it("is not what a worker may be given ahead: somebody else could begin those", async () => {
    h.worker("far", 2, { ahead: 100 });
    const all = h.hand("a", "far", 3);
    await settled();
    expect([h.taken.length, h.givenBack]).toEqual([2, [`${all[2]} of far`]]);
  });

  it.each([
    ["the lane is held", () => ((h.isHeld = true), h.bounds.holdAgain())],
    ["the worker is paused", () => (session.isWaiting = false)],
    ["the worker is cordoned", () => (session.isCordoned = true)],
    ["its slots are kept for heavy runs", () => (session.savedFor = { weight: 2 })],
    ["nobody serves the lane any more", () => h.bounds.release(h.group.agenda)],
  ])("is none when %s: they are given back, and the offer is taken back [INV-6]", async (_why, change) => {
    change();
    const [id] = h.hand("a", "s");
    await settled();
    expect([h.taken, h.givenBack]).toEqual([[], [`${id} of s`]]);
    expect(h.offers()).toEqual(["a: 0 of s"]);
    h.offering.freed();
    expect(h.offers()).toEqual([]);
  });

  it("is none at a worker that serves other lanes, although others here serve this one [INV-6]", async () => {
    h.group = h.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["b"], weight: 1 }, [solo]);
    h.worker("other", 8);
    const [id] = h.hand("a", "other");
    await settled();
    expect([h.taken, h.givenBack]).toEqual([[], [`${id} of other`]]);
  });
});

describe("runs that find no room and cannot be given back", () => {
  it("are held meanwhile, and given back with a later look; their worker never hears of them [INV-6]", async () => {
    const { giveBack } = h;
    h.giveBack = () => Promise.reject(new Error("the connection was reset"));
    session.isCordoned = true;
    const [id = ""] = h.hand("a", "s");
    await settled();
    await h.handed.look();
    expect(h.errors).toEqual([new Error("the connection was reset"), new Error("the connection was reset")]);
    expect(session.held.has(id)).toBe(true);
    h.giveBack = giveBack;
    session.isCordoned = false;
    await h.handed.look();
    await h.handed.look();
    expect([h.givenBack, h.taken, session.held.size]).toEqual([[`${id} of s`], [], 0]);
  });
});

describe("runs that this process stores for a worker of its own", () => {
  const expectThem = (runs: readonly ClaimedRun[]) => h.handed.expect(h.word("a", runs, { by: null, runs: null }));

  it("are given when they are stored, without a read, and count against the offer", () => {
    const runs = h.storeFor("s", 2);
    const expected = expectThem(runs);
    expect(h.taken).toEqual([]);
    expected.came(runs);
    expect([h.reads, h.taken]).toEqual([[], runs.map((run) => `${run.id} by s`)]);
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });

  it("are brought by nobody else before that is answered, and by a look when nobody knows [INV-6]", async () => {
    const [came = h.run(), failed = h.run()] = h.storeFor("s", 2);
    const [first, second] = [expectThem([came]), expectThem([failed])];
    await h.handed.look();
    expect([h.looks.length, h.reads, h.taken]).toEqual([1, [], []]);
    first.came([came]);
    second.failed();
    expect(h.taken).toEqual([`${came.id} by s`]);
    h.clock.advance(10_000);
    await h.handed.look();
    expect(h.taken).toEqual([`${came.id} by s`, `${failed.id} by s`]);
  });

  it("are stored, whatever goes wrong with their delivery", () => {
    const deliver = (): never => {
      throw new Error("the handler failed");
    };
    h.worker("bad", 8, { deliver });
    const runs = h.storeFor("bad");
    const expected = expectThem(runs);
    expect(() => expected.came(runs)).not.toThrow();
    expect(h.errors).toEqual([new Error("the handler failed")]);
  });

  it("are read first when the session was asked meanwhile [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const expected = expectThem(runs);
    h.ask(session);
    h.end(session, 1);
    session.letGo(session.held.get(runs[1]?.id ?? "") ?? h.run());
    expected.came(runs);
    await settled();
    expect(h.taken).toEqual([]);
    await h.handed.look();
    expect([h.reads, h.taken]).toEqual([[idsOf(runs)], [`${runs[1]?.id} by s`]]);
  });

  it("are read first when the session was being asked as they were stored: its answer may have had them [INV-2]", async () => {
    session.isAsked = true;
    const runs = h.storeFor("s");
    const expected = expectThem(runs);
    h.answer(session);
    h.end(session);
    expected.came(runs);
    await h.handed.look();
    expect([h.reads, h.taken]).toEqual([[idsOf(runs)], []]);
  });

  it("are read first when the session is still being asked as they come [INV-2]", async () => {
    // Otherwise a look for what nobody told of would find them too.
    await h.handed.look();
    session.isAsked = true;
    const runs = h.storeFor("s");
    expectThem(runs).came(runs);
    await h.handed.look();
    expect([h.reads, h.taken]).toEqual([[], []]);
    h.answer(session);
    h.end(session);
    await h.handed.look();
    expect([h.reads, h.taken]).toEqual([[idsOf(runs)], []]);
  });

  it("are rescued when the session left meanwhile [INV-6]", async () => {
    const runs = h.storeFor("s");
    const expected = expectThem(runs);
    h.leave(session);
    expected.came(runs);
    await settled();
    expect([h.taken, h.rescued]).toEqual([[], idsOf(runs)]);
  });
});

describe("runs of a session that this gateway does not serve", () => {
  it("are rescued at once, and once more when a session's row is gone [INV-6]", async () => {
    const all = h.hand("a", "gone", 2);
    await settled();
    expect(h.rescued).toEqual(all);
    await h.handed.left();
    expect(h.rescued).toEqual([...all, ...all]);
    await h.handed.left();
    await h.handed.look();
    expect(h.rescued).toEqual([...all, ...all]);
    expect([h.taken, h.givenBack, h.errors]).toEqual([[], [], []]);
  });

  it("are rescued once more by a look, if no session leaves", async () => {
    const all = h.hand("a", "gone");
    await settled();
    await h.handed.look();
    expect(h.rescued).toEqual([...all, ...all]);
  });
});
