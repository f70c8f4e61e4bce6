import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadStatements, type NewRun, type Queryable, shardStore, toRunBatch } from "@carillon/store";
import {
  gatewayId,
  newId,
  newRun,
  type StoreHarness,
  storeHarness,
  untilLockWaits,
} from "../../harness/store-harness.js";

const highPart = 2 ** 32;

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

async function voidAll(knownFences = 0, shards = h.store.shards): Promise<number> {
  const { timeline, fences } = await h.store.shards.timeline();
  await h.store.shards.rememberTimeline(timeline);
  expect(await shards.voidAll({ timeline, remembered: timeline, fences }, knownFences)).toBe(true);
  return (await shards.timeline()).fences;
}

const shardsOver = (tx: Queryable) => shardStore(tx, loadStatements("carillon"));

/** A session for the claims of the harness, which know no revision of limits. */
async function newSession(): Promise<string> {
  const id = await h.session();
  await h.db.query({ text: "update carillon.worker_session set limits_revision = 0" });
  return id;
}

/** Opens a session in a transaction of the test. */
async function openSession(tx: Queryable): Promise<void> {
  const what = { name: "test", queues: ["default"], tasks: ["echo"], slots: 10 };
  const skills = { labels: "{}", versions: "{}", weights: "{}", isSpot: false, namespaces: null };
  const open = loadStatements("carillon").get("session.open");
  await tx.query(open, open.values({ id: newId(), namespaceId: 1, nodeId: null, gatewayId, ...what, ...skills }));
}

/** Stores a run as claimed by a session; returns the fence of the claim. */
async function storeFor(sessionId: string, run: NewRun): Promise<number | null> {
  const offer = { lane: run.lane, namespaceId: 1, gatewayId, sessionId, limitsRevision: 0, token: "t", count: 1 };
  return (await h.store.directRuns.insert(toRunBatch([run]), offer, { toGateway: null, ifQueued: null })).fence;
}

async function fenceOf(id: string): Promise<number> {
  const text = { text: "select fence::float8 as fence from carillon.run where id = $1" };
  return (await h.db.query<{ fence: number }>(text, [id])).rows[0]?.fence ?? Number.NaN;
}

describe("a lost history of the database", () => {
  it("gives no session of before a claim, and the next claim of a run a fence that no earlier history can have given [INV-2]", async () => {
    const session = await h.session();
    const id = await h.run();
    // The rows as they were before a claim: that claim had fence 1 in the history that was lost.
    const fences = await voidAll();
    expect(fences).toBeGreaterThanOrEqual(highPart);
    expect(fences % highPart).toBe(0);
    expect(await h.claim(session, 1)).toEqual([]);
    const [run] = await h.claim(await newSession(), 1);
    expect(run).toMatchObject({ id, fence: fences + 1 });
    expect(await fenceOf(id)).toBe(fences + 1);
  });

  it("counts the claims of a run on, so that its first claim stays distinct from later ones [INV-2]", async () => {
    const first = await h.session();
    const id = await h.run();
    expect(await h.claim(first, 1)).toMatchObject([{ id, fence: 1 }]);
    const fences = await voidAll();
    expect(await h.store.runs.rescue([id], 3)).toMatchObject([{ id }]);
    expect(await h.claim(await newSession(), 1)).toMatchObject([{ id, fence: fences + 2 }]);
    const again = await voidAll();
    expect(again).toBeGreaterThan(fences);
    await h.store.runs.rescue([id], 3);
    expect(await h.claim(await newSession(), 1)).toMatchObject([{ id, fence: again + 3 }]);
  });

  it("raises the fences above those that the voiding node knows from a history that this server never had [INV-2]", async () => {
    const known = 5_000 * highPart;
    expect(await voidAll(known)).toBeGreaterThan(known);
  });

  it("gives no fence to a run that is stored for a worker which its lost execution had, under the same id [INV-2]", async () => {
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
    const run = newRun(lane, {});
    const first = await storeFor(await newSession(), run);
    expect(first).toBe(1);
    // The standby had not received the run: its caller repeats the call.
    await h.db.query({ text: "delete from carillon.run where id = $1" }, [run.id]);
    const fences = await voidAll();
    const session = await newSession();
    expect(await storeFor(session, run)).toBe(fences + 1);
    expect(await fenceOf(run.id)).toBe(fences + 1);
    expect(await h.store.directRuns.read(session, [run.id])).toMatchObject([{ id: run.id, fence: fences + 1 }]);
    expect(await h.store.directRuns.find([run], [session])).toMatchObject([{ id: run.id, sessionId: session }]);
    const end = { status: "succeeded", reason: null, output: "null", error: null, startedAt: Date.now() } as const;
    expect([...(await h.store.claims.finish([{ id: run.id, session, fence: 1, ...end }])).keys()]).toEqual([]);
    expect([...(await h.store.claims.finish([{ id: run.id, session, fence: fences + 1, ...end }])).keys()]).toEqual([
      run.id,
    ]);
  });

  it("ends a session that is being opened under the old floor of fences [INV-2]", async () => {
    const { voiding } = await h.db.transaction(async (tx) => {
      // The locks and the row of session.open, which has not committed yet.
      await openSession(tx);
      const voided = voidAll();
      await untilLockWaits(h);
      return { voiding: voided };
    });
    await voiding;
    expect(await h.store.sessions.list()).toEqual([]);
  });

  it("gives the new floor of fences to a session that is opened while they are raised [INV-2]", async () => {
    const { opening, fences } = await h.db.transaction(async (tx) => {
      const raised = await voidAll(0, shardsOver(tx));
      const opened = h.session();
      await untilLockWaits(h);
      return { opening: opened, fences: raised };
    });
    const id = await opening;
    const floor = { text: "select fence_floor::float8 as floor from carillon.worker_session where id = $1" };
    expect((await h.db.query(floor, [id])).rows).toEqual([{ floor: fences }]);
  });

  it("voids nothing on a server whose fences are as low as before they were raised [INV-2]", async () => {
    const session = await h.session();
    const { timeline, fences } = await h.store.shards.timeline();
    await h.store.shards.rememberTimeline(timeline);
    const seen = { timeline: "another", remembered: timeline, fences: fences + highPart };
    expect(await h.store.shards.voidAll(seen, 0)).toBe(false);
    expect(await h.store.sessions.list()).toMatchObject([{ id: session }]);
    expect((await h.store.shards.timeline()).remembered).toBe(timeline);
  });

  it("makes epochs and every revision jump, and removes every node and session [INV-3]", async () => {
    await h.session();
    const all = {
      text: "select name, value::float8 as value from carillon.revision where name <> 'fences' order by name",
    };
    const before = (await h.db.query<{ value: number }>(all)).rows;
    const epochs = await h.store.shards.list();
    await voidAll();
    const after = (await h.db.query<{ value: number }>(all)).rows;
    expect(after.map(({ value }, at) => value - (before[at]?.value ?? 0))).toEqual(before.map(() => 2 ** 20));
    expect((await h.store.shards.list()).every(({ id, epoch }) => epoch > (epochs[id]?.epoch ?? 0) + 1_000_000)).toBe(
      true,
    );
    expect([await h.store.nodes.list(), await h.store.sessions.list()]).toEqual([[], []]);
  });
});
