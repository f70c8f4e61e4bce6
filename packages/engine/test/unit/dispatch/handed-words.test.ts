import { beforeEach, describe, expect, it } from "vitest";
import type { HandedWord } from "../../../src/dispatch/direct/direct-arrivals.js";
import type { WorkerSession } from "../../../src/dispatch/sessions/worker-session.js";
import type { ClaimedRun } from "@carillon/store";
import { lane, OfferingHarness } from "../../harness/offering-harness.js";

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

describe("word of runs is believed only when it is new", () => {
  const by = (over: Partial<NonNullable<HandedWord["by"]>>, word: HandedWord): HandedWord => {
    return { ...word, by: word.by && { ...word.by, ...over } };
  };
  /** Each makes of a word one that may be old. */
  const reasons: [why: string, change: (word: HandedWord) => HandedWord][] = [
    ["it names no offer", (word) => ({ ...word, by: null })],
    ["its offer is not the last one", (word) => by({ token: "older" }, word)],
    ["somebody else was made this offer", (word) => ({ ...word, from: "b" })],
    ["a word of the same number came", (word) => (h.hand("a", "s", 1, { by: word.by }), word)],
    ["a later word came", (word) => (h.hand("a", "s"), word)],
    ["its offer is older than five seconds", (word) => (h.clock.advance(5_001), by({ at: h.clock.now() }, word))],
    [
      "the session said since what it holds",
      (word) => (session.doubt.answered(h.clock.now()), by({ at: h.clock.now() + 1_000 }, word)),
    ],
  ];

  it.each(reasons)("and they are read first when %s", async (_why, change) => {
    const runs = h.storeFor("s", 2);
    const word = change(h.word("a", runs));
    const before = h.taken.length;
    h.handed.told(word);
    expect(h.taken).toHaveLength(before);
    await settled();
    expect(h.reads).toEqual([idsOf(runs)]);
    expect(h.taken.slice(before)).toEqual(runs.map((run) => `${run.id} by s`));
  });

  it.each(reasons)("and what has ended is not given again when %s [INV-2]", async (_why, change) => {
    const runs = h.storeFor("s", 2);
    const word = change(h.word("a", runs));
    const before = h.taken.length;
    h.stored.delete(runs[0]?.id ?? "");
    h.handed.told(word);
    await settled();
    expect(h.taken.slice(before)).toEqual([`${runs[1]?.id} by s`]);
  });

  it("up to five seconds after its offer, and if the session was asked more than a second before", () => {
    session.doubt.answered(h.clock.now());
    h.clock.advance(5_000);
    const at = h.clock.now() - 3_999;
    const runs = h.storeFor("s");
    h.handed.told(by({ at }, h.word("a", runs)));
    expect([h.reads, h.taken]).toEqual([[], [`${runs[0]?.id} by s`]]);
  });

  it("and they are read after a session is asked, not while it is", async () => {
    session.isAsked = true;
    const [id] = h.hand("a", "s");
    await h.handed.look();
    expect([h.reads, h.taken, h.givenBack]).toEqual([[], [], []]);
    session.isAsked = false;
    await h.handed.look();
    expect([h.reads, h.taken]).toEqual([[[id]], [`${id} by s`]]);
  });

  it("and they are read when a look has found them, this one or the one before [INV-2]", async () => {
    const runs = h.storeFor("s");
    const word = h.word("a", runs);
    const late = { ...word, by: word.by && { ...word.by, number: 9 } };
    await h.handed.look();
    expect(h.taken).toEqual([`${runs[0]?.id} by s`]);
    h.end(session);
    for (const one of [word, late]) {
      h.handed.told(one);
      await settled();
      h.handed.missed();
      await settled();
    }
    expect(h.looks).toHaveLength(3);
    expect(h.reads).toHaveLength(3);
    expect(h.taken).toHaveLength(1);
  });

  it("and they are read when it has ids alone", async () => {
    const runs = h.storeFor("s", 2);
    h.handed.told(h.word("a", runs, { runs: null }));
    await settled();
    expect(h.reads).toEqual([idsOf(runs)]);
    expect(h.taken).toEqual(runs.map((run) => `${run.id} by s`));
    expect(h.offers()).toEqual(["a: 3 of s"]);
  });
});

describe("runs that are read", () => {
  const tellIds = (runs: readonly ClaimedRun[]) => h.handed.told(h.word("a", runs, { runs: null }));

  it("are read again when the session was asked meanwhile, and never given by the old answer [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const answer = h.holdAnswers();
    tellIds(runs);
    h.ask(session);
    h.end(session, 1);
    session.letGo(session.held.get(runs[1]?.id ?? "") ?? h.run());
    answer();
    await settled();
    expect(h.taken).toEqual([]);
    await h.handed.look();
    expect(h.reads).toEqual([idsOf(runs), idsOf(runs)]);
    expect(h.taken).toEqual([`${runs[1]?.id} by s`]);
  });

  it("are read again also when the session is still being asked", async () => {
    const runs = h.storeFor("s");
    const answer = h.holdAnswers();
    tellIds(runs);
    session.isAsked = true;
    answer();
    await settled();
    await h.handed.look();
    expect([h.reads.length, h.taken]).toEqual([1, []]);
    session.isAsked = false;
    await h.handed.look();
    expect([h.reads.length, h.taken]).toEqual([2, [`${runs[0]?.id} by s`]]);
  });

  it("are given once, however often they are told of meanwhile [INV-2]", async () => {
    const runs = h.storeFor("s", 2);
    const answer = h.holdAnswers();
    tellIds(runs.slice(0, 1));
    tellIds(runs);
    tellIds(runs);
    expect(h.reads).toEqual([[runs[0]?.id], [runs[1]?.id]]);
    answer();
    await settled();
    expect(h.taken).toEqual(runs.map((run) => `${run.id} by s`));
    tellIds(runs);
    await settled();
    expect([h.reads.length, h.taken.length]).toEqual([2, 2]);
  });

  it("are read again with the next look when that failed", async () => {
    // Otherwise a look for what nobody told of would find them.
    await h.handed.look();
    const { read } = h.store;
    h.store.read = () => Promise.reject(new Error("the connection was reset"));
    const runs = h.storeFor("s");
    tellIds(runs);
    await settled();
    expect([h.errors, h.taken]).toEqual([[new Error("the connection was reset")], []]);
    h.store.read = read;
    await h.handed.look();
    expect([h.looks.length, h.taken]).toEqual([1, [`${runs[0]?.id} by s`]]);
  });

  it("are rescued when the session left meanwhile [INV-6]", async () => {
    const runs = h.storeFor("s");
    const answer = h.holdAnswers();
    tellIds(runs);
    h.leave(session);
    answer();
    await settled();
    expect([h.taken, h.rescued]).toEqual([[], idsOf(runs)]);
  });
});

describe("a look", () => {
  it("brings what nobody told of, and leaves the offer as it is [INV-6]", async () => {
    const [mine, others] = [h.storeFor("s", 2), (h.worker("t", 1), h.storeFor("t", 2))];
    await h.handed.look();
    expect(h.looks).toEqual([`lane ${lane.id} of 1`]);
    expect(h.taken).toEqual([...mine.map((run) => `${run.id} by s`), `${others[0]?.id} by t`]);
    expect(h.givenBack).toEqual([`${others[1]?.id} of t`]);
    expect(h.offers()).toEqual([]);
  });

  it("leaves alone what is held, what is under way, and what ended since [INV-2]", async () => {
    const [held] = h.hand("a", "s");
    const [expected, read, ended] = [h.storeFor("s"), h.storeFor("s"), h.storeFor("s")];
    h.handed.expect(h.word("a", expected, { by: null, runs: null }));
    const answer = h.holdAnswers();
    h.handed.told(h.word("a", read, { runs: null }));
    h.answers = Promise.resolve();
    const { find } = h.store;
    h.store.find = async (...of) => {
      const found = await find(...of);
      for (const { id } of ended) h.stored.delete(id);
      return found;
    };
    await h.handed.look();
    expect(h.reads).toEqual([idsOf(read), idsOf(ended)]);
    expect([h.taken, h.givenBack]).toEqual([[`${held} by s`], []]);
    answer();
    await settled();
    expect(h.taken).toEqual([`${held} by s`, `${read[0]?.id} by s`]);
  });

  it("is made every ten seconds, for a minute after the last offer", async () => {
    const times: number[] = [];
    for (let second = 0; second <= 75; second++) {
      const before = h.looks.length;
      await h.handed.look();
      if (h.looks.length > before) times.push(second);
      h.clock.advance(1_000);
    }
    expect(times).toEqual([0, 10, 20, 30, 40, 50, 60]);
  });

  it("is made at once when word may have been missed", async () => {
    await h.handed.look();
    const runs = h.storeFor("s");
    await h.handed.look();
    expect(h.taken).toEqual([]);
    h.handed.missed();
    await settled();
    expect(h.taken).toEqual([`${runs[0]?.id} by s`]);
  });

  it("that fails when word may have been missed is told of, and made again later", async () => {
    const { find } = h.store;
    h.store.find = () => Promise.reject(new Error("the connection was reset"));
    h.handed.missed();
    await settled();
    expect(h.errors).toEqual([new Error("the connection was reset")]);
    h.store.find = find;
    h.clock.advance(10_000);
    const runs = h.storeFor("s");
    await h.handed.look();
    expect(h.taken).toEqual([`${runs[0]?.id} by s`]);
  });

  it("takes at most a twentieth of the time [INV-12]", async () => {
    const { find } = h.store;
    h.store.find = (...of) => (h.clock.advance(1_000), find(...of));
    await h.handed.look();
    h.clock.advance(20_000);
    await h.handed.look();
    expect(h.looks).toHaveLength(2);
    h.clock.advance(19_999);
    await h.handed.look();
    expect(h.looks).toHaveLength(2);
    h.clock.advance(1);
    await h.handed.look();
    expect(h.looks).toHaveLength(3);
  });

  it("is not made where nothing was offered, nor for workers that poll", async () => {
    const idle = new OfferingHarness();
    idle.worker("s", 8);
    await idle.handed.look();
    expect(idle.looks).toEqual([]);
    h.leave(session);
    h.worker("polls", 8, { isSteady: false });
    await h.handed.look();
    expect(h.looks).toEqual([]);
  });
});
