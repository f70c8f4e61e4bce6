import { beforeEach, describe, expect, it } from "vitest";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { ClaimedRun } from "@carillon/store";
import { lane, SlotOfferHarness, solo } from "../../harness/slot-offer-harness.js";

let h: SlotOfferHarness;
let session: WorkerSession;
beforeEach(() => {
  h = new SlotOfferHarness();
  session = h.worker("s", 8);
  h.offerer.requested("a", lane.id, 1);
  h.claim();
  h.offers();
});

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const idsOf = (runs: readonly ClaimedRun[]): string[] => runs.map((run) => run.id);

describe("direct arrivals: runs that were stored for a worker", () => {
  it("assigns runs of a new notice without a claim and without a read", () => {
    const [first, second] = h.deliver("a", "s", 2);
    expect(h.assigned).toEqual([`${first} by s`, `${second} by s`]);
    expect([h.reads, h.givenBack, h.rescued, h.errors]).toEqual([[], [], [], []]);
  });

  it("renews an offer when half of it is used, and not before", () => {
    h.deliver("a", "s");
    expect(h.offers()).toEqual([]);
    h.deliver("a", "s");
    expect(h.offers()).toEqual(["a: 3 of s"]);
    h.deliver("a", "s");
    expect(h.offers()).toEqual([]);
    h.deliver("a", "s");
    expect(h.offers()).toEqual(["a: 2 of s"]);
    expect(h.reads).toEqual([]);
  });

  it("renews an offer when it is older than half of its lifetime, and not before", () => {
    h.clock.advance(500);
    h.deliver("a", "s");
    expect(h.offers()).toEqual([]);
    h.clock.advance(1);
    h.deliver("a", "s");
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });

  it("takes direct runs as a request for more offers", () => {
    for (let step = 0; step < 5; step++) {
      h.clock.advance(600);
      h.deliver("a", "s");
      h.end(session);
      h.offerer.expireRequests();
      expect(h.offers()).toHaveLength(1);
    }
  });

  it("assigns runs of a requester that was forgotten, and offers it nothing", async () => {
    h.clock.advance(1_001);
    h.offerer.expireRequests();
    const [id] = h.deliver("a", "s");
    await nextTurn();
    expect(h.assigned).toEqual([`${id} by s`]);
    expect(h.offers()).toEqual([]);
  });

  it("ignores a notice without runs", async () => {
    h.deliver("a", "gone", 0);
    h.deliver("a", "s", 0);
    await nextTurn();
    expect([h.assigned, h.rescued, h.errors]).toEqual([[], [], []]);
  });
});

describe("direct arrivals: room for runs", () => {
  it("fills slots without a run, also while a claim for the same slots is under way", () => {
    for (let slot = 0; slot < 8; slot++) session.beginClaim(h.group);
    expect(session.freeFor(h.group)).toBe(0);
    const ids = h.deliver("a", "s", 9);
    expect(h.assigned).toEqual(ids.slice(0, 8).map((id) => `${id} by s`));
    expect(h.givenBack).toEqual([`${ids[8]} of s`]);
  });

  it("gives back runs beyond the free slots, and offers nothing until a slot is free [INV-6]", async () => {
    const all = h.deliver("a", "s", 10);
    expect(h.assigned).toEqual(all.slice(0, 8).map((id) => `${id} by s`));
    await nextTurn();
    expect(h.givenBack).toEqual(all.slice(8).map((id) => `${id} of s`));
    expect(h.offers()).toEqual(["a: 0 of s"]);
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual([]);
    h.end(session, 4);
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual(["a: 2 of s"]);
  });

  it("lets no direct run wait at a worker, because another worker could start it", async () => {
    h.worker("far", 2, { ahead: 100 });
    const all = h.deliver("a", "far", 3);
    await nextTurn();
    expect([h.assigned.length, h.givenBack]).toEqual([2, [`${all[2]} of far`]]);
  });

  it.each([
    ["the lane is held", () => ((h.isHeld = true), h.cursors.refreshHolds())],
    ["the worker is paused", () => (session.isWaiting = false)],
    ["the worker is cordoned", () => (session.isCordoned = true)],
    ["its slots are reserved for heavy runs", () => (session.reservedFor = { weight: 2 })],
    ["no worker serves the lane any more", () => h.cursors.release(h.group.scans)],
  ])("gives runs back and withdraws the offer when %s [INV-6]", async (_why, change) => {
    change();
    const [id] = h.deliver("a", "s");
    await nextTurn();
    expect([h.assigned, h.givenBack]).toEqual([[], [`${id} of s`]]);
    expect(h.offers()).toEqual(["a: 0 of s"]);
    h.offerer.slotsFreed();
    expect(h.offers()).toEqual([]);
  });

  it("gives runs back that were stored for a worker of other lanes, although others here serve theirs [INV-6]", async () => {
    h.group = h.groupOf({ namespaceIds: [1], queues: ["q"], tasks: ["b"], weight: 1 }, [solo]);
    h.worker("other", 8);
    const [id] = h.deliver("a", "other");
    await nextTurn();
    expect([h.assigned, h.givenBack]).toEqual([[], [`${id} of other`]]);
  });
});

describe("direct arrivals: runs that cannot be given back", () => {
  it("holds runs without room until a later scan gives them back, without notifying their worker [INV-6]", async () => {
    const { giveBack } = h;
    h.giveBack = () => Promise.reject(new Error("the connection was reset"));
    session.isCordoned = true;
    const [id = ""] = h.deliver("a", "s");
    await nextTurn();
    await h.arrivals.scan();
    expect(h.errors).toEqual([new Error("the connection was reset"), new Error("the connection was reset")]);
    expect(session.held.has(id)).toBe(true);
    h.giveBack = giveBack;
    session.isCordoned = false;
    await h.arrivals.scan();
    await h.arrivals.scan();
    expect([h.givenBack, h.assigned, session.held.size]).toEqual([[`${id} of s`], [], 0]);
  });
});

describe("direct arrivals: runs that this process stores for a worker of its own", () => {
  const expectRuns = (runs: readonly ClaimedRun[]) => h.arrivals.expect(h.notice("a", runs, { use: null, runs: null }));

  it("assigns local runs when they are stored, without a read, and counts them against the offer", () => {
    const runs = h.storeFor("s", 2);
    const expected = expectRuns(runs);
    expect(h.assigned).toEqual([]);
    expected.stored(runs);
    expect([h.reads, h.assigned]).toEqual([[], runs.map((run) => `${run.id} by s`)]);
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });

  it("assigns local runs by no scan before the answer, and by a scan when the answer was lost [INV-6]", async () => {
    const [stored = h.run(), failed = h.run()] = h.storeFor("s", 2);
    const [first, second] = [expectRuns([stored]), expectRuns([failed])];
    await h.arrivals.scan();
    expect([h.finds.length, h.reads, h.assigned]).toEqual([1, [], []]);
    first.stored([stored]);
    second.failed();
    expect(h.assigned).toEqual([`${stored.id} by s`]);
    h.clock.advance(10_000);
    await h.arrivals.scan();
    expect(h.assigned).toEqual([`${stored.id} by s`, `${failed.id} by s`]);
  });

  it("reports no error to the caller when the delivery of a stored run fails", () => {
    const deliver = (): never => {
      throw new Error("the handler failed");
    };
    h.worker("bad", 8, { deliver });
    const runs = h.storeFor("bad");
    const expected = expectRuns(runs);
    expect(() => expected.stored(runs)).not.toThrow();
    expect(h.errors).toEqual([new Error("the handler failed")]);
  });

  it("reads local runs first when the session was verified meanwhile [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const expected = expectRuns(runs);
    h.verify(session);
    h.end(session, 1);
    session.release(session.held.get(runs[1]?.id ?? "") ?? h.run());
    expected.stored(runs);
    await nextTurn();
    expect(h.assigned).toEqual([]);
    await h.arrivals.scan();
    expect([h.reads, h.assigned]).toEqual([[idsOf(runs)], [`${runs[1]?.id} by s`]]);
  });

  it("reads local runs first when the session was being verified as they were stored [INV-2]", async () => {
    session.isBeingVerified = true;
    const runs = h.storeFor("s");
    const expected = expectRuns(runs);
    h.finishVerification(session);
    h.end(session);
    expected.stored(runs);
    await h.arrivals.scan();
    expect([h.reads, h.assigned]).toEqual([[idsOf(runs)], []]);
  });

  it("reads local runs first when the session is still being verified as they are stored [INV-2]", async () => {
    // Otherwise a scan for runs without a notice would find them too.
    await h.arrivals.scan();
    session.isBeingVerified = true;
    const runs = h.storeFor("s");
    expectRuns(runs).stored(runs);
    await h.arrivals.scan();
    expect([h.reads, h.assigned]).toEqual([[], []]);
    h.finishVerification(session);
    h.end(session);
    await h.arrivals.scan();
    expect([h.reads, h.assigned]).toEqual([[idsOf(runs)], []]);
  });

  it("rescues local runs whose session left meanwhile [INV-6]", async () => {
    const runs = h.storeFor("s");
    const expected = expectRuns(runs);
    h.leave(session);
    expected.stored(runs);
    await nextTurn();
    expect([h.assigned, h.rescued]).toEqual([[], idsOf(runs)]);
  });
});

describe("direct arrivals: runs of a session that this gateway does not serve", () => {
  it("rescues runs of an unknown session at once, and once more when a session's row is gone [INV-6]", async () => {
    const all = h.deliver("a", "gone", 2);
    await nextTurn();
    expect(h.rescued).toEqual(all);
    await h.arrivals.sessionClosed();
    expect(h.rescued).toEqual([...all, ...all]);
    await h.arrivals.sessionClosed();
    await h.arrivals.scan();
    expect(h.rescued).toEqual([...all, ...all]);
    expect([h.assigned, h.givenBack, h.errors]).toEqual([[], [], []]);
  });

  it("rescues runs of an unknown session once more by a scan, if no session leaves", async () => {
    const all = h.deliver("a", "gone");
    await nextTurn();
    await h.arrivals.scan();
    expect(h.rescued).toEqual([...all, ...all]);
  });
});
