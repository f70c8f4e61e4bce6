import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Assigned } from "../../../src/dispatch/sessions/to-assignment.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { HandOver, type HandOverOptions } from "../../../src/enqueue/direct-insert.js";
import { Offers } from "../../../src/enqueue/slot-offers.js";
import { HandOverLine } from "../../../src/dispatch/direct/direct-channel.js";
import { alikeRuns, type ClaimStore, type NewRun, type Offer } from "@carillon/store";
import { EagerWorker } from "../../harness/eager-worker.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { newRun, type StoreHarness, storeHarness, untilLockWaits } from "../../harness/store-harness.js";

/** Longer than until the next look for runs that nobody told of. */
const laterMs = 11_000;
const gateways: Gateway[] = [];
let h: StoreHarness;
let secret: Buffer;
/** Each test has a queue of its own. */
let queues = 0;
let queue = "";
let lane = 0;
let session = "";
/** How far the gateway's own clock is ahead. */
let passedMs = 0;
/** What the gateway rescued last. */
let rescued: Promise<unknown> = Promise.resolve();
/** What it reads of runs of which it heard. */
let reads: Promise<unknown>[] = [];

beforeAll(async () => {
  h = await storeHarness();
  secret = await h.store.secrets.find("direct_dispatch");
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
});
afterAll(() => h.close());

async function rowOf(id: string): Promise<unknown> {
  const text = "select state, fence::int, session_id as session, attempt::int from carillon.run where id = $1";
  return (await h.db.query({ text }, [id])).rows[0];
}

/** A moment that the test decides on. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** A node's end of the line; what is sent to it comes when the test says so. */
function lineOf(gateway: Pick<Gateway, "id" | "handed">) {
  let hear: (text: string) => void = () => undefined;
  const listen = (_channel: string, take: (text: string) => void) => {
    hear = take;
    return { stop: async () => undefined };
  };
  const offers = new Offers(() => 0);
  const onError = (error: unknown): void => {
    throw error;
  };
  const line = new HandOverLine({
    database: { listen, notify: () => undefined },
    gateway: () => gateway,
    offers,
    onError,
  });
  line.start(secret);
  return { line, offers, hear: (text: string) => hear(text) };
}

/** One with a worker of ten slots, of which it offered some; it looks when the test says so. */
async function served(claims: Partial<ClaimStore> = {}) {
  queue = `q${++queues}`;
  [lane = 0] = await h.store.lanes.ensure([{ queue, task: "echo" }]);
  [passedMs, reads] = [0, []];
  const sent: Offer[] = [];
  const given: Assigned[] = [];
  const rescue = (ids: readonly string[]): Promise<void> => {
    const done = h.store.runs.rescue(ids, 3).then((runs) => gateway.hint(runs));
    rescued = done;
    return done;
  };
  const read: typeof h.store.handed.read = (...args) => {
    const reading = h.store.handed.read(...args);
    reads.push(reading);
    return reading;
  };
  let isLost = false;
  const { gateway } = gatewayOver(h, {
    claims: {
      ...h.store.claims,
      async exchange(...args) {
        const answer = await h.store.claims.exchange(...args);
        if (!isLost || answer.claimed.length === 0) return answer;
        isLost = false;
        throw new Error("the connection was reset");
      },
      ...claims,
    },
    clock: { monotonic: () => performance.now() + passedMs },
    onQueued: (runs) => gateway.hint(runs),
    onError: () => undefined,
    handOvers: { store: { ...h.store.handed, read }, send: (_to, made) => void sent.push(made), rescue },
  });
  gateways.push(gateway);
  session = await gateway.open({
    namespace: "default",
    name: "w",
    queues: [queue],
    tasks: ["echo"],
    slots: 10,
    nodeId: null,
    onAssign: (assigned) => void given.push(...assigned),
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.resume(session);
  // One that is claimed before the hint is heard brings no offer: the next one does.
  while (sent.length === 0) {
    const one = run();
    await h.store.runs.insert([one]);
    gateway.hint([one], "me");
    await until(() => given.length > 0);
    await gateway.complete(session, given.splice(0).map(success));
  }
  const [offered] = sent;
  if (offered === undefined) throw new Error("nothing was offered");
  /** The answer to a claim is lost: the worker is to be asked what it holds. Answers the run that was claimed. */
  const raiseDoubt = async (): Promise<string> => {
    // Such that the next looks ask the worker and find nothing else.
    await gateway.look();
    isLost = true;
    const one = run();
    await h.store.runs.insert([one]);
    gateway.hint([one]);
    await until(() => !isLost);
    return one.id;
  };
  const { line, offers, hear } = lineOf(gateway);
  return { gateway, given, offered, raiseDoubt, line, offers, hear };
}

const run = (): NewRun => newRun(lane, { queue });
const success = ({ runId, fence }: Pick<Assigned, "runId" | "fence">) =>
  ({ runId, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "null" } }) as const;
const isEnded = async (id: string) => (await h.store.reads.finished(1, [id], 0)).length === 1;
const timesOf = (given: readonly Assigned[], id: string) => given.filter((one) => one.runId === id).length;

/** Whatever was read is settled. */
async function settled(): Promise<void> {
  await Promise.all(reads);
  await new Promise((resolve) => setImmediate(resolve));
}

/** Stores a run for the worker, and answers the word of it that is on its way to the gateway. */
async function store(offered: Offer, number = 1) {
  const one = run();
  const { at, isHanded } = await h.store.handed.insert(alikeRuns([one]), offered, { handed: null, queued: null });
  expect(isHanded).toBe(true);
  const none = { id: "me", handed: undefined as never };
  const sealed = lineOf(none).line.noticeOf(offered, number, [one])?.payload ?? "";
  return { id: one.id, at, sealed, word: `runs ${at} ${sealed}` };
}

/** Stores a run as the gateway's own node does. `answer`: what comes of the statement once it is committed. */
function storeHere({ line, offers }: Awaited<ReturnType<typeof served>>, offered: Offer, answer: () => Promise<void>) {
  line.send(offered.gatewayId, offered);
  const options: HandOverOptions = {
    store: {
      async insert(...args) {
        const stored = await h.store.handed.insert(...args);
        await answer();
        return stored;
      },
    },
    offers,
    noticeOf: (...args) => line.noticeOf(...args),
    arrivalOf: (...args) => line.arrivalOf(...args),
    hintOf: () => null,
    ownGateway: () => line.ownGateway,
  };
  const one = run();
  return { id: one.id, stored: new HandOver(options).insert([one]) };
}

describe("a gateway that hears of runs for its worker", () => {
  it("gives them to it under their first fence, unread, and takes their results [INV-2]", async () => {
    const { gateway, given, offered, hear } = await served();
    const { id, word } = await store(offered);
    hear(word);
    expect(given).toMatchObject([{ runId: id, fence: 1 }]);
    expect(reads).toEqual([]);
    expect([...(await gateway.complete(session, given.map(success)))]).toEqual([id]);
    expect(await isEnded(id)).toBe(true);
  });

  it("begins none again when the word is said again, while they run and after they ended [INV-2]", async () => {
    const { gateway, given, offered, hear } = await served();
    const { id, at, sealed, word } = await store(offered);
    hear(word);
    hear(word);
    await gateway.complete(session, given.map(success));
    expect(await isEnded(id)).toBe(true);
    for (const time of [at, at + 60_000, at - 60_000, "soon"]) hear(`runs ${time} ${sealed}`);
    await settled();
    expect(timesOf(given, id)).toBe(1);
  });

  it("queues them again when the worker left before the word came, and another gets them [INV-6]", async () => {
    const { gateway, given, offered, hear } = await served();
    const { id, word } = await store(offered);
    await gateway.close(session);
    const other = await EagerWorker.over(gateway, { queues: [queue] });
    hear(word);
    await other.until(1);
    await other.stop();
    expect([given, other.ids, await isEnded(id)]).toEqual([[], [id], true]);
  });

  it("queues them again as soon as the worker has left when the word came while it was leaving [INV-6]", async () => {
    const { gateway, given, offered, hear } = await served();
    const { id, word } = await store(offered);
    const { closing } = await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.worker_session where id = $1 for key share" }, [session]);
      const leaving = gateway.close(session);
      await untilLockWaits(h);
      hear(word);
      await rescued;
      // Its session's row is still there.
      expect(await rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
      return { closing: leaving };
    });
    await closing;
    expect(await rowOf(id)).toEqual({ state: "queued", fence: 1, session: null, attempt: 0 });
    expect(given).toEqual([]);
  });

  it("gets no result through when they were rescued before the word came [INV-2]", async () => {
    const { gateway, given, offered, hear } = await served();
    const { id, word } = await store(offered);
    await h.store.sessions.close(session);
    await h.store.runs.rescue([id], 3);
    const other = await h.session();
    expect((await h.claim(other, 1_000)).filter((claimed) => claimed.id === id)).toMatchObject([{ fence: 2 }]);
    hear(word);
    expect([...(await gateway.complete(session, given.map(success)))]).toEqual([]);
    expect(await rowOf(id)).toEqual({ state: "running", fence: 2, session: other, attempt: 0 });
  });
});

describe("a gateway that looks for runs that nobody told of", () => {
  it("finds those whose word was lost on a living connection, and begins them once [INV-2] [INV-6]", async () => {
    const { gateway, given, offered } = await served();
    const { id } = await store(offered);
    await gateway.look();
    expect(given).toMatchObject([{ runId: id, fence: 1 }]);
    passedMs += laterMs;
    await gateway.look();
    await gateway.complete(session, given.map(success));
    passedMs += laterMs;
    await gateway.look();
    await settled();
    expect([timesOf(given, id), await isEnded(id)]).toEqual([1, true]);
  });

  it("finds them at once when its connection was lost, and begins none twice when the word comes after all [INV-6]", async () => {
    const { gateway, given, offered, hear } = await served();
    // The next look of itself is not due.
    await gateway.look();
    const { id, word } = await store(offered);
    gateway.handed.missed();
    await until(() => given.length > 0);
    await gateway.complete(session, given.map(success));
    hear(word);
    await settled();
    expect([timesOf(given, id), await isEnded(id)]).toEqual([1, true]);
  });

  it("finds those that its own node stored when the answer to that was lost, and not before [INV-6]", async () => {
    const node = await served();
    const { gateway, given, offered } = node;
    const committed = gate();
    const lost = gate();
    const { id, stored } = storeHere(node, offered, async () => {
      committed.open();
      await lost.opened;
      throw new Error("the connection was reset");
    });
    const refused = stored.catch((error: unknown) => error);
    await committed.opened;
    // Until it is answered, the answer may bring them.
    await gateway.look();
    await settled();
    expect(given).toEqual([]);
    lost.open();
    expect(await refused).toMatchObject({ message: "the connection was reset" });
    expect(await rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
    passedMs += laterMs;
    await gateway.look();
    expect(given).toMatchObject([{ runId: id, fence: 1 }]);
    passedMs += laterMs;
    await gateway.look();
    expect(timesOf(given, id)).toBe(1);
  });
});

describe("a gateway that asks what its worker holds", () => {
  /** The question is under way until the test says so; it was answered by the database before, or will be after. */
  function question(when: "answered" | "unanswered") {
    const [asked, answer] = [gate(), gate()];
    const held: ClaimStore["held"] = async (sessions) => {
      const before = when === "answered" ? await h.store.claims.held(sessions) : null;
      asked.open();
      await answer.opened;
      return before ?? h.store.claims.held(sessions);
    };
    return { held, isAsked: asked.opened, answer: answer.open };
  }

  it("begins once, and gives back nothing of, what the word and the answer both bring [INV-2]", async () => {
    const { held, isAsked, answer } = question("answered");
    const back: string[] = [];
    const { gateway, given, offered, raiseDoubt, hear } = await served({
      held,
      giveBack(of, runs) {
        back.push(...runs.map((one) => one.id));
        return h.store.claims.giveBack(of, runs);
      },
    });
    const claimed = await raiseDoubt();
    const { id, word } = await store(offered);
    const looking = gateway.look();
    await isAsked;
    hear(word);
    answer();
    await looking;
    // A look does not wait for a question that waits for claims.
    await until(() => given.length > 1);
    await gateway.look();
    await settled();
    expect(given.map((one) => one.runId).sort()).toEqual([claimed, id].sort());
    expect(back).toEqual([]);
  });

  it("begins none again of which it hears after the answer brought them and they ended [INV-2]", async () => {
    const { gateway, given, offered, raiseDoubt, hear } = await served();
    await raiseDoubt();
    const { id, word } = await store(offered);
    await gateway.look();
    await until(() => timesOf(given, id) > 0);
    await gateway.complete(session, given.map(success));
    hear(word);
    await settled();
    expect([timesOf(given, id), await isEnded(id)]).toEqual([1, true]);
  });

  it("gives those to it that were stored after the answer, when they are read [INV-6]", async () => {
    const { gateway, given, offered, raiseDoubt, hear } = await served();
    await raiseDoubt();
    await gateway.look();
    await until(() => given.length > 0);
    const { id, word } = await store(offered);
    hear(word);
    await until(() => timesOf(given, id) > 0);
    expect(reads).not.toEqual([]);
  });

  it("begins none again when the word, which came meanwhile, is said again with another time [INV-2]", async () => {
    const { held, isAsked, answer } = question("answered");
    const { gateway, given, offered, raiseDoubt, hear } = await served({ held });
    await raiseDoubt();
    const { id, at, sealed, word } = await store(offered);
    const looking = gateway.look();
    await isAsked;
    hear(word);
    answer();
    await looking;
    await until(() => timesOf(given, id) > 0);
    await gateway.complete(session, given.map(success));
    expect(await isEnded(id)).toBe(true);
    hear(`runs ${at + 60_000} ${sealed}`);
    await settled();
    expect(timesOf(given, id)).toBe(1);
  });

  it("begins none again that its own node was storing when it was asked [INV-2]", async () => {
    const { held, isAsked, answer } = question("unanswered");
    const node = await served({ held });
    const { gateway, given, offered, raiseDoubt } = node;
    await raiseDoubt();
    const looking = gateway.look();
    await isAsked;
    const [committed, told] = [gate(), gate()];
    const { id, stored } = storeHere(node, offered, async () => {
      committed.open();
      await told.opened;
    });
    await committed.opened;
    answer();
    await looking;
    await until(() => timesOf(given, id) > 0);
    await gateway.complete(session, given.map(success));
    told.open();
    expect(await stored).toMatchObject({ isHanded: true });
    passedMs += laterMs;
    await gateway.look();
    await settled();
    expect([timesOf(given, id), await isEnded(id)]).toEqual([1, true]);
  });

  it("begins nothing that it is giving back [INV-2]", async () => {
    const giving = gate();
    const { gateway, given, offered, raiseDoubt, hear } = await served({
      async giveBack(...args) {
        await giving.opened;
        return h.store.claims.giveBack(...args);
      },
    });
    const claimed = await raiseDoubt();
    const { id, word } = await store(offered);
    await gateway.pause(session);
    hear(word);
    await gateway.look();
    await until(() => given.length > 0);
    expect(given.map((one) => one.runId)).toEqual([claimed]);
    expect(await rowOf(id)).toMatchObject({ state: "running", fence: 1, session });
    giving.open();
    gateway.resume(session);
    while (timesOf(given, id) === 0) await gateway.look();
    expect(given.filter((one) => one.runId === id)).toMatchObject([{ fence: 2 }]);
    expect(await rowOf(id)).toMatchObject({ state: "running", fence: 2, session });
  });
});
