import { beforeEach, describe, expect, it } from "vitest";
import type { DirectNotice } from "../../../src/dispatch/direct/direct-arrivals.js";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { ClaimedRun } from "@carillon/store";
import { lane, SlotOfferHarness } from "../../harness/slot-offer-harness.js";

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

describe("a direct notice", () => {
  const usedBy = (over: Partial<NonNullable<DirectNotice["use"]>>, notice: DirectNotice): DirectNotice => {
    return { ...notice, use: notice.use && { ...notice.use, ...over } };
  };
  /** Each turns a notice into one that may be old. */
  const reasons: [why: string, change: (notice: DirectNotice) => DirectNotice][] = [
    ["it names no offer", (notice) => ({ ...notice, use: null })],
    ["its offer is not the last one", (notice) => usedBy({ token: "older" }, notice)],
    ["another node got the offer", (notice) => ({ ...notice, from: "b" })],
    ["a notice of the same number arrived before", (notice) => (h.deliver("a", "s", 1, { use: notice.use }), notice)],
    ["a later notice arrived before", (notice) => (h.deliver("a", "s"), notice)],
    [
      "its offer is older than five seconds",
      (notice) => (h.clock.advance(5_001), usedBy({ at: h.clock.now() }, notice)),
    ],
    [
      "the session was verified since",
      (notice) => (session.unconfirmed.checked(h.clock.now()), usedBy({ at: h.clock.now() + 1_000 }, notice)),
    ],
  ];

  it.each(reasons)("makes its runs be read first when %s", async (_why, change) => {
    const runs = h.storeFor("s", 2);
    const notice = change(h.notice("a", runs));
    const before = h.assigned.length;
    h.arrivals.receive(notice);
    expect(h.assigned).toHaveLength(before);
    await nextTurn();
    expect(h.reads).toEqual([idsOf(runs)]);
    expect(h.assigned.slice(before)).toEqual(runs.map((run) => `${run.id} by s`));
  });

  it.each(reasons)("assigns no run that has ended when %s [INV-2]", async (_why, change) => {
    const runs = h.storeFor("s", 2);
    const notice = change(h.notice("a", runs));
    const before = h.assigned.length;
    h.stored.delete(runs[0]?.id ?? "");
    h.arrivals.receive(notice);
    await nextTurn();
    expect(h.assigned.slice(before)).toEqual([`${runs[1]?.id} by s`]);
  });

  it("is followed without a read up to five seconds after its offer, if the session was verified more than a second before", () => {
    session.unconfirmed.checked(h.clock.now());
    h.clock.advance(5_000);
    const at = h.clock.now() - 3_999;
    const runs = h.storeFor("s");
    h.arrivals.receive(usedBy({ at }, h.notice("a", runs)));
    expect([h.reads, h.assigned]).toEqual([[], [`${runs[0]?.id} by s`]]);
  });

  it("makes its runs be read after the session was verified, not meanwhile", async () => {
    session.isBeingVerified = true;
    const [id] = h.deliver("a", "s");
    await h.arrivals.scan();
    expect([h.reads, h.assigned, h.givenBack]).toEqual([[], [], []]);
    session.isBeingVerified = false;
    await h.arrivals.scan();
    expect([h.reads, h.assigned]).toEqual([[[id]], [`${id} by s`]]);
  });

  it("makes its runs be read when this scan or the one before has found them [INV-2]", async () => {
    const runs = h.storeFor("s");
    const notice = h.notice("a", runs);
    const late = usedBy({ number: 9 }, notice);
    await h.arrivals.scan();
    expect(h.assigned).toEqual([`${runs[0]?.id} by s`]);
    h.end(session);
    for (const one of [notice, late]) {
      h.arrivals.receive(one);
      await nextTurn();
      h.arrivals.noticesMissed();
      await nextTurn();
    }
    expect(h.finds).toHaveLength(3);
    expect(h.reads).toHaveLength(3);
    expect(h.assigned).toHaveLength(1);
  });

  it("makes its runs be read when it has only their ids", async () => {
    const runs = h.storeFor("s", 2);
    h.arrivals.receive(h.notice("a", runs, { runs: null }));
    await nextTurn();
    expect(h.reads).toEqual([idsOf(runs)]);
    expect(h.assigned).toEqual(runs.map((run) => `${run.id} by s`));
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });
});

describe("direct runs that are read", () => {
  const receiveIds = (runs: readonly ClaimedRun[]) => h.arrivals.receive(h.notice("a", runs, { runs: null }));

  it("are read again when the session was verified meanwhile, and never assigned by the old answer [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const answer = h.holdAnswers();
    receiveIds(runs);
    h.verify(session);
    h.end(session, 1);
    session.release(session.held.get(runs[1]?.id ?? "") ?? h.run());
    answer();
    await nextTurn();
    expect(h.assigned).toEqual([]);
    await h.arrivals.scan();
    expect(h.reads).toEqual([idsOf(runs), idsOf(runs)]);
    expect(h.assigned).toEqual([`${runs[1]?.id} by s`]);
  });

  it("are read again when the session is still being verified", async () => {
    const runs = h.storeFor("s");
    const answer = h.holdAnswers();
    receiveIds(runs);
    session.isBeingVerified = true;
    answer();
    await nextTurn();
    await h.arrivals.scan();
    expect([h.reads.length, h.assigned]).toEqual([1, []]);
    session.isBeingVerified = false;
    await h.arrivals.scan();
    expect([h.reads.length, h.assigned]).toEqual([2, [`${runs[0]?.id} by s`]]);
  });

  it("are assigned once, however many notices of them arrive meanwhile [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const answer = h.holdAnswers();
    receiveIds(runs.slice(0, 1));
    receiveIds(runs);
    receiveIds(runs);
    expect(h.reads).toEqual([[runs[0]?.id], [runs[1]?.id]]);
    answer();
    await nextTurn();
    expect(h.assigned).toEqual(runs.map((run) => `${run.id} by s`));
    receiveIds(runs);
    await nextTurn();
    expect([h.reads.length, h.assigned.length]).toEqual([2, 2]);
  });

  it("are read again by the next scan when the read failed", async () => {
    // Otherwise a scan for runs without a notice would find them.
    await h.arrivals.scan();
    const { read } = h.store;
    h.store.read = () => Promise.reject(new Error("the connection was reset"));
    const runs = h.storeFor("s");
    receiveIds(runs);
    await nextTurn();
    expect([h.errors, h.assigned]).toEqual([[new Error("the connection was reset")], []]);
    h.store.read = read;
    await h.arrivals.scan();
    expect([h.finds.length, h.assigned]).toEqual([1, [`${runs[0]?.id} by s`]]);
  });

  it("are rescued when their session left meanwhile [INV-6]", async () => {
    const runs = h.storeFor("s");
    const answer = h.holdAnswers();
    receiveIds(runs);
    h.leave(session);
    answer();
    await nextTurn();
    expect([h.assigned, h.rescued]).toEqual([[], idsOf(runs)]);
  });
});

describe("a scan for direct runs without a notice", () => {
  it("assigns them, and leaves the offer as it is [INV-6]", async () => {
    const [mine, others] = [h.storeFor("s", 2), (h.worker("t", 1), h.storeFor("t", 2))];
    await h.arrivals.scan();
    expect(h.finds).toEqual([`lane ${lane.id} of 1`]);
    expect(h.assigned).toEqual([...mine.map((run) => `${run.id} by s`), `${others[0]?.id} by t`]);
    expect(h.givenBack).toEqual([`${others[1]?.id} of t`]);
    expect(h.offers()).toEqual([]);
  });

  it("ignores runs that are held, under way, or ended since [INV-2]", async () => {
    const [held] = h.deliver("a", "s");
    const [expected, read, ended] = [h.storeFor("s"), h.storeFor("s"), h.storeFor("s")];
    h.arrivals.expect(h.notice("a", expected, { use: null, runs: null }));
    const answer = h.holdAnswers();
    h.arrivals.receive(h.notice("a", read, { runs: null }));
    h.answers = Promise.resolve();
    const { find } = h.store;
    h.store.find = async (...of) => {
      const found = await find(...of);
      for (const { id } of ended) h.stored.delete(id);
      return found;
    };
    await h.arrivals.scan();
    expect(h.reads).toEqual([idsOf(read), idsOf(ended)]);
    expect([h.assigned, h.givenBack]).toEqual([[`${held} by s`], []]);
    answer();
    await nextTurn();
    expect(h.assigned).toEqual([`${held} by s`, `${read[0]?.id} by s`]);
  });

  it("is made every ten seconds, for a minute after the last offer", async () => {
    const times: number[] = [];
    for (let second = 0; second <= 75; second++) {
      const before = h.finds.length;
      await h.arrivals.scan();
      if (h.finds.length > before) times.push(second);
      h.clock.advance(1_000);
    }
    expect(times).toEqual([0, 10, 20, 30, 40, 50, 60]);
  });

  it("is made at once when notices may have been missed", async () => {
    await h.arrivals.scan();
    const runs = h.storeFor("s");
    await h.arrivals.scan();
    expect(h.assigned).toEqual([]);
    h.arrivals.noticesMissed();
    await nextTurn();
    expect(h.assigned).toEqual([`${runs[0]?.id} by s`]);
  });

  it("reports an error when it fails, and is made again later", async () => {
    const { find } = h.store;
    h.store.find = () => Promise.reject(new Error("the connection was reset"));
    h.arrivals.noticesMissed();
    await nextTurn();
    expect(h.errors).toEqual([new Error("the connection was reset")]);
    h.store.find = find;
    h.clock.advance(10_000);
    const runs = h.storeFor("s");
    await h.arrivals.scan();
    expect(h.assigned).toEqual([`${runs[0]?.id} by s`]);
  });

  it("takes at most a twentieth of the time [INV-12]", async () => {
    const { find } = h.store;
    h.store.find = (...of) => (h.clock.advance(1_000), find(...of));
    await h.arrivals.scan();
    h.clock.advance(20_000);
    await h.arrivals.scan();
    expect(h.finds).toHaveLength(2);
    h.clock.advance(19_999);
    await h.arrivals.scan();
    expect(h.finds).toHaveLength(2);
    h.clock.advance(1);
    await h.arrivals.scan();
    expect(h.finds).toHaveLength(3);
  });

  it("is not made where no slot was offered, nor for workers that poll", async () => {
    const idle = new SlotOfferHarness();
    idle.worker("s", 8);
    await idle.arrivals.scan();
    expect(idle.finds).toEqual([]);
    h.leave(session);
    h.worker("polls", 8, { isInProcess: false });
    await h.arrivals.scan();
    expect(h.finds).toEqual([]);
  });
});
