import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toRunBatch, type DirectNotices, type SlotOffer } from "@carillon/store";
import {
  gatewayId,
  newId,
  newRun,
  type StoreHarness,
  storeHarness,
  untilLockWaits,
} from "../../harness/store-harness.js";

let h: StoreHarness;
let lane = 0;
let session = "";
let offer: SlotOffer;
const received: string[] = [];
let check: () => void = () => undefined;

beforeAll(async () => {
  h = await storeHarness();
  [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
  const take = (channel: string) => (payload: string) => {
    received.push(`${channel} ${payload}`);
    check();
  };
  for (const channel of ["direct", "queued", "fence"])
    await new Promise<void>((resolve) => h.db.listen(channel, take(channel), () => undefined, resolve));
});
afterAll(() => h.close());
beforeEach(async () => {
  received.length = 0;
  session = await h.session();
  offer = { lane, namespaceId: 1, gatewayId, sessionId: session, limitsRevision: 0, token: "t", count: 10 };
});

const notices: DirectNotices = {
  toGateway: { channel: "direct", payload: "them" },
  ifQueued: { channel: "queued", payload: "lanes" },
};

async function insert(over: Partial<SlotOffer> = {}, toSend = notices, count = 1) {
  const runs = Array.from({ length: count }, (_, n) => newRun(lane, { payload: { n }, rank: n }));
  const { at, fence } = await h.store.directRuns.insert(toRunBatch(runs), { ...offer, ...over }, toSend);
  return { ids: runs.map((run) => run.id), at, fence, isAssigned: fence !== null };
}

interface Row {
  readonly state: string;
  readonly fence: number;
  readonly session_id: string | null;
  readonly claimed: boolean;
  readonly attempt: number;
}

async function rows(ids: readonly string[]): Promise<Row[]> {
  const text = `select state, fence::int, session_id, claimed_at is not null as claimed, attempt::int
                from carillon.run where id = any ($1::uuid[]) order by rank`;
  return (await h.db.query<Row>({ text }, [ids])).rows;
}

const running = () => ({ state: "running", fence: 1, session_id: session, claimed: true, attempt: 0 });
const queued = { state: "queued", fence: 0, session_id: null, claimed: false, attempt: 0 };

/** The notifications so far: those of a database arrive in the order of their commits. */
async function notified(): Promise<string[]> {
  const seen = new Promise<void>((resolve) => {
    check = () => received.some((text) => text.startsWith("fence")) && resolve();
  });
  await h.db.query({ text: "select pg_notify('fence', '')" });
  await seen;
  return received.splice(0).filter((text) => !text.startsWith("fence"));
}

/** The claim that the run is stored under, or another one. */
const ends = async (id: string, fence: number, of = session): Promise<string[]> => {
  const how = { status: "succeeded", reason: null, output: "null", error: null, startedAt: Date.now() } as const;
  return [...(await h.store.claims.finish([{ id, fence, session: of, ...how }])).keys()];
};

describe("direct inserts", () => {
  it("runs that are stored for a worker belong to it from their commit on, under their first fence, and its gateway is notified [INV-6]", async () => {
    const { ids, at, isAssigned } = await insert({}, notices, 3);
    expect(isAssigned).toBe(true);
    expect(await rows(ids)).toEqual([running(), running(), running()]);
    const [notice = "", ...more] = await notified();
    const [channel, kind, when, under, what] = notice.split(" ");
    expect([channel, kind, under, what, more]).toEqual(["direct", "runs", "1", "them", []]);
    expect(Number(when)).toBe(at);
    const [held] = (await h.store.claims.held([session])).filter((run) => run.id === ids[0]);
    expect(held).toMatchObject({ id: ids[0], jobId: ids[0], fence: 1, spent: 0, losses: 0, trigger: "once", session });
    expect([held?.runAt, held?.nominal]).toEqual([at, at]);
  });

  it("the gateway is not notified of runs that it gets by a call", async () => {
    const { isAssigned } = await insert({}, { ...notices, toGateway: null });
    expect(isAssigned).toBe(true);
    expect(await notified()).toEqual([]);
  });

  it.each([
    ["is gone", async () => void (await h.store.sessions.close(session))],
    ["is served by another gateway", async () => void (await h.store.sessions.adopt(session, newId()))],
    [
      "is under limits that its gateway has not read",
      async () => {
        const text = "update carillon.worker_session set limits_revision = 1 where id = $1";
        await h.db.query({ text }, [session]);
      },
    ],
  ])("are queued when the worker %s, and every gateway is notified [INV-6]", async (_why, change) => {
    await change();
    const { ids, isAssigned } = await insert({}, notices, 2);
    expect(isAssigned).toBe(false);
    expect(await rows(ids)).toEqual([queued, queued]);
    expect(await notified()).toEqual(["queued lanes"]);
  });

  it("runs that are stored for a worker are queued without a notice when there is none to send", async () => {
    const { ids } = await insert({ sessionId: newId() }, { toGateway: notices.toGateway, ifQueued: null });
    expect(await rows(ids)).toEqual([queued]);
    expect(await notified()).toEqual([]);
  });

  it("runs that are stored for a worker are stored directly when the gateway has read the limits [INV-14]", async () => {
    const text = "update carillon.worker_session set limits_revision = 5 where id = $1";
    await h.db.query({ text }, [session]);
    expect((await insert({ limitsRevision: 5 })).isAssigned).toBe(true);
    expect((await insert({ limitsRevision: 4 })).isAssigned).toBe(false);
  });

  it("runs that are stored for a worker can be claimed by any worker when they are queued after all", async () => {
    const { ids } = await insert({ gatewayId: newId() });
    const claimed = await h.claim(await h.session(), 100);
    expect(claimed.filter((run) => ids.includes(run.id))).toMatchObject([{ id: ids[0], fence: 1 }]);
  });

  it("runs that are stored for a worker wait for a transaction that declares the worker dead, and are queued [INV-6]", async () => {
    const dying = await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.worker_session where id = $1 for update" }, [session]);
      const inserting = insert();
      await untilLockWaits(h);
      await tx.query({ text: "delete from carillon.worker_session where id = $1" }, [session]);
      return { inserting };
    });
    const { ids, isAssigned } = await dying.inserting;
    expect(isAssigned).toBe(false);
    expect(await rows(ids)).toEqual([queued]);
    expect(await notified()).toEqual(["queued lanes"]);
  });

  it("runs that are stored for a worker belong to it if a concurrent transaction finds that the worker lives", async () => {
    const living = await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.worker_session where id = $1 for update" }, [session]);
      const inserting = insert();
      await untilLockWaits(h);
      return { inserting };
    });
    expect(await rows((await living.inserting).ids)).toEqual([running()]);
  });

  it("runs that are stored for a worker are rescued with no try spent when the worker is declared dead while they are stored [INV-6]", async () => {
    const storing = await h.db.transaction(async (tx) => {
      await tx.query({ text: "select 1 from carillon.worker_session where id = $1 for key share" }, [session]);
      const closing = h.store.sessions.close(session);
      await untilLockWaits(h);
      const { ids } = await insert();
      return { ids, closing };
    });
    await storing.closing;
    const lost = (await h.store.runs.lost(100)).map((run) => run.id);
    expect(lost).toEqual(expect.arrayContaining(storing.ids));
    await h.store.runs.rescue(storing.ids, 3);
    expect(await rows(storing.ids)).toMatchObject([{ state: "queued", session_id: null, attempt: 0 }]);
  });

  it("the insert of runs for a worker does not wait for the worker's heartbeat", async () => {
    await h.db.transaction(async (tx) => {
      const text = "update carillon.worker_session set heartbeat_at = clock_timestamp() where id = $1";
      await tx.query({ text }, [session]);
      expect((await insert()).isAssigned).toBe(true);
    });
  });

  it("runs that are stored for a worker end once, under their fence and under no other [INV-2] [INV-4]", async () => {
    const { ids } = await insert();
    const [id = ""] = ids;
    expect(await ends(id, 0)).toEqual([]);
    expect(await ends(id, 2)).toEqual([]);
    expect(await ends(id, 1, await h.session())).toEqual([]);
    expect(await rows(ids)).toEqual([running()]);
    expect(await ends(id, 1)).toEqual([id]);
    expect(await ends(id, 1)).toEqual([]);
    expect(await h.store.reads.finished(1, [id], 0)).toMatchObject([{ status: "succeeded" }]);
  });

  it("runs that are stored for a worker are claimed under a later fence after they were given back, and the first fence is refused [INV-2]", async () => {
    const { ids } = await insert();
    const [id = ""] = ids;
    expect(await h.store.claims.giveBack(session, [{ id, fence: 1 }])).toMatchObject([{ id, isStopped: false }]);
    const other = await h.session();
    const claimed = (await h.claim(other, 100)).filter((run) => run.id === id);
    expect(claimed).toMatchObject([{ id, fence: 2, spent: 0 }]);
    expect(await ends(id, 1)).toEqual([]);
    expect(await ends(id, 2, other)).toEqual([id]);
  });

  it("runs that are stored for a worker are not stored twice under one id", async () => {
    const run = newRun(lane, {});
    await h.store.directRuns.insert(toRunBatch([run]), offer, notices);
    await expect(h.store.directRuns.insert(toRunBatch([run]), offer, notices)).rejects.toMatchObject({ code: "23505" });
    expect(await rows([run.id])).toEqual([running()]);
  });
});

describe("reads of direct runs", () => {
  const read = async (of: string, ids: readonly string[]) =>
    (await h.store.directRuns.read(of, ids)).map((run) => run.id).sort();
  const find = async (of: readonly string[], where = [{ lane, namespaceId: 1 }]) =>
    (await h.store.directRuns.find(where, of)).map((run) => run.id).sort();
  /** Both answer the same. */
  const readDirect = async (ids: readonly string[]): Promise<string[]> => {
    const found = await read(session, ids);
    expect(await find([session])).toEqual(found);
    return found;
  };

  it("reads of direct runs return runs that were stored for the session, and none that it claimed [INV-2]", async () => {
    const { ids } = await insert({}, notices, 3);
    const { ids: queuedIds } = await insert({ gatewayId: newId() });
    const claimed = (await h.claim(session, 1_000)).map((run) => run.id);
    expect(claimed).toEqual(expect.arrayContaining(queuedIds));
    expect(await readDirect([...ids, ...claimed])).toEqual([...ids].sort());
    const [one] = await h.store.directRuns.read(session, ids.slice(0, 1));
    expect(one).toMatchObject({ id: ids[0], jobId: ids[0], lane, namespaceId: 1, session, fence: 1, spent: 0 });
    expect(await h.store.directRuns.find([{ lane, namespaceId: 1 }], [session])).toContainEqual({
      id: ids[0],
      sessionId: session,
      lane,
      namespaceId: 1,
    });
  });

  it("reads of direct runs return only the requested runs", async () => {
    const { ids } = await insert({}, notices, 2);
    expect(await read(session, ids.slice(1))).toEqual(ids.slice(1));
    expect(await read(session, [])).toEqual([]);
  });

  it("reads of direct runs return no run that was given back, also if the session claimed it again [INV-2]", async () => {
    const { ids } = await insert();
    const [id = ""] = ids;
    await h.store.claims.giveBack(session, [{ id, fence: 1 }]);
    expect(await readDirect(ids)).toEqual([]);
    expect((await h.claim(session, 1_000)).find((run) => run.id === id)).toMatchObject({ fence: 2 });
    expect(await readDirect(ids)).toEqual([]);
  });

  it("reads of direct runs return no run that has ended or was rescued [INV-2]", async () => {
    const { ids } = await insert({}, notices, 2);
    const [ended = "", rescued = ""] = ids;
    expect(await ends(ended, 1)).toEqual([ended]);
    expect(await readDirect(ids)).toEqual([rescued]);
    await h.store.sessions.close(session);
    await h.store.runs.rescue([rescued], 3);
    expect(await readDirect(ids)).toEqual([]);
  });

  it("reads of direct runs return no run of another session", async () => {
    const { ids } = await insert();
    const other = await h.session();
    expect(await read(other, ids)).toEqual([]);
    expect(await find([other])).toEqual([]);
    expect(await find([])).toEqual([]);
    const { ids: others } = await insert({ sessionId: other });
    expect(await find([session, other])).toEqual([...ids, ...others].sort());
  });

  it("reads of direct runs find no run of another lane or namespace", async () => {
    const { ids } = await insert();
    const [otherLane = 0] = await h.store.lanes.ensure([{ queue: "other", task: "echo" }]);
    expect(await find([session], [{ lane: otherLane, namespaceId: 1 }])).toEqual([]);
    expect(await find([session], [{ lane, namespaceId: 2 }])).toEqual([]);
    expect(await find([session], [])).toEqual([]);
    const both = [
      { lane: otherLane, namespaceId: 1 },
      { lane, namespaceId: 1 },
    ];
    expect(await find([session], both)).toEqual(ids);
  });
});
