import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RunLister } from "../../../src/runs/run-lister.js";
import { RunReader } from "../../../src/runs/run-reader.js";
import type { BulkRequest } from "../../../src/operations/operations.js";
import { BulkTargets } from "../../../src/operations/bulk-targets.js";
import { OperationRunner } from "../../../src/operations/operation-runner.js";
import { operationsApi } from "../../../src/operations/operations-api.js";
import { shardOf } from "../../../src/catalog/shard-of.js";
import { RunChanger } from "../../../src/runs/run-changer.js";
import type { StoredOperation } from "@carillon/store";
import { newId, newRun, type StoreHarness, storeHarness, untilLockWaits } from "../../harness/store-harness.js";
import { testContext } from "../../harness/test-context.js";
import { membershipOf } from "../../../src/cluster/coordinator.js";

let h: StoreHarness;
let membership = membershipOf(newId(), new Map([[3, 1]]));

beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());
beforeEach(() => h.db.query({ text: "delete from carillon.run; delete from carillon.operation" }));

/** A node that takes steps; `beforeNote` happens between what a step does and its note. */
function nodeOf(beforeNote: () => Promise<void> = async () => undefined): OperationRunner {
  const { store } = h;
  const runs = new RunReader(store.reads);
  const lister = new RunLister(store.search, runs);
  return new OperationRunner({
    operations: {
      ...store.operations,
      async step(operation, done) {
        await beforeNote();
        return store.operations.step(operation, done);
      },
    },
    targets: new BulkTargets({ lister, runs }),
    changer: new RunChanger(testContext({ database: h.db }), { runs, rank: store.rank }),
    repeats: { retry: () => Promise.reject(new Error("nothing is retried here")) },
    failures: store.failures,
    membership: () => membership,
  });
}

const start = (request: BulkRequest): Promise<StoredOperation> =>
  h.store.operations.insert(h.db, { ...request, id: newId(), namespaceId: 1, shard: 3, actor: null });

const now = async ({ id }: StoredOperation): Promise<StoredOperation | null> => h.store.operations.find(1, id);

async function many(count: number): Promise<string[]> {
  const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
  const runs = Array.from({ length: count }, () => newRun(lane, {}));
  await h.store.runs.insert(runs);
  return runs.map((run) => run.id);
}

const live = async (): Promise<number> => (await h.db.query({ text: "select from carillon.run" })).rowCount;

async function toEnd(node: OperationRunner, operation: StoredOperation): Promise<StoredOperation | null> {
  while ((await now(operation))?.state === "running") await node.tick();
  return now(operation);
}

const all: BulkRequest = { action: "cancel", target: { filter: {} } };

describe("an operation", () => {
  it("goes through all runs that match, a page at a time, and counts them", async () => {
    await many(450);
    const operation = await start(all);
    await nodeOf().tick();
    expect(await now(operation)).toMatchObject({ state: "running", seen: 200, done: 200 });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ state: "done", seen: 450, done: 450, failed: 0 });
    expect(await live()).toBe(0);
  });

  it("goes on where its node died, and counts no run twice", async () => {
    await many(300);
    const operation = await start(all);
    const dying = nodeOf(() => Promise.reject(new Error("killed")));
    await expect(dying.tick()).rejects.toThrow("killed");
    expect([await live(), (await now(operation))?.seen]).toEqual([100, 0]);
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ state: "done", seen: 100, done: 100 });
    expect(await live()).toBe(0);
  });

  it("has each step noted by one of two nodes that took it", async () => {
    await many(10);
    const operation = await start(all);
    const late = nodeOf(async () => void (await nodeOf().tick()));
    await late.tick();
    expect(await now(operation)).toMatchObject({ state: "done", step: 1 });
  });

  it("is aborted between two steps: what it did stays done, and no more is done", async () => {
    await many(450);
    const operation = await start(all);
    await nodeOf().tick();
    await h.store.operations.abort(1, operation.id, "asked");
    await nodeOf().tick();
    expect(await now(operation)).toMatchObject({ state: "aborted", stateReason: "asked", done: 200 });
    expect(await live()).toBe(250);
  });

  it("says which of the named runs it could not do, and does the others", async () => {
    const ids = await many(3);
    const nobody = newId();
    const operation = await start({ action: "cancel", target: { ids: [...ids, nobody] } });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({
      state: "done",
      done: 3,
      failed: 1,
      failures: [{ id: nobody, code: "not_found" }],
    });
  });

  it("leaves alone what its filter does not match", async () => {
    await many(5);
    const others = await Promise.all([1, 2, 3].map(() => h.run({ owner: "somebody" })));
    const operation = await start({ action: "cancel", target: { filter: { owner: "somebody" } } });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ done: others.length });
    expect(await live()).toBe(5);
  });
});

/** The calls, over a node that takes the first steps of each at once. */
function api() {
  const runs = new RunReader(h.store.reads);
  return operationsApi({
    db: h.db,
    operations: h.store.operations,
    targets: new BulkTargets({ lister: new RunLister(h.store.search, runs), runs }),
    runner: nodeOf(),
    queues: h.store.queues,
    within: (_namespace, work) => work(1),
    newId,
    shards: 1_024,
    onStarted: () => undefined,
  });
}

describe("a purge of a queue", () => {
  const context = { actor: null };
  const set = (id: string, change: string) =>
    h.db.query({ text: `update carillon.run set ${change} where id = $1` }, [id]);
  const ids = async (table: string): Promise<string[]> => {
    const { rows } = await h.db.query<{ id: string }>({ text: `select id from carillon.${table} order by id` });
    return rows.map((row) => row.id);
  };

  it("ends what waits, for whatever, and leaves what workers have and other queues alone", async () => {
    await h.db.query({ text: "delete from carillon.run_history; delete from carillon.far_future_run" });
    await h.store.queueBook.ensure(1, ["default", "other"]);
    const [other = 0] = await h.store.lanes.ensure([{ queue: "other", task: "echo" }]);
    const claimed = await h.run({ rank: 0 });
    await h.claim(await h.session(), 1);
    const elsewhere = await h.run({ lane: other, queue: "other" });
    const [queued, gated, overlapping, retrying] = [await h.run(), await h.run(), await h.run(), await h.run()];
    await set(gated, "state = 'blocked', limits = 'g:1'");
    await set(overlapping, "state = 'blocked', state_reason = 'overlap', serial = true");
    await set(retrying, "state = 'retrying', run_at = now() + interval '1 hour'");
    const soon = await h.run({ runAt: Date.now() + 60_000 });
    const farOff = Date.now() + 86_400_000;
    const later = await h.run({ runAt: farOff, nominal: farOff });
    const { countPurge, purgeQueue } = api();
    const [whatever, undelayed] = [{ isOfDelayed: true }, { isOfDelayed: false }];
    expect(await countPurge("default", "default", whatever)).toEqual({ count: 6, isLeast: false });
    expect(await countPurge("default", "default", undelayed)).toEqual({ count: 3, isLeast: false });
    expect(await purgeQueue("default", "default", undelayed, context)).toMatchObject({ state: "done", done: 3 });
    expect(await ids("run_history")).toEqual([queued, gated, overlapping].sort());
    expect(await purgeQueue("default", "default", whatever, context)).toMatchObject({ state: "done", done: 3 });
    expect(await ids("run_history")).toEqual([queued, gated, overlapping, retrying, soon, later].sort());
    const reasons = await h.db.query({ text: "select distinct status, status_reason from carillon.run_history" });
    expect(reasons.rows).toEqual([{ status: "cancelled", status_reason: "purged" }]);
    expect(await ids("run")).toEqual([claimed, elsewhere].sort());
    expect(await purgeQueue("default", "nowhere", whatever, context)).toBeNull();
  });

  it("of many runs goes on after its call, and can be watched", async () => {
    await h.store.queueBook.ensure(1, ["default"]);
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
    await h.store.runs.insert(Array.from({ length: 1_100 }, () => newRun(lane, {})));
    const begun = await api().purgeQueue("default", "default", { isOfDelayed: true }, context);
    expect(begun).toMatchObject({ state: "running", done: 1_000 });
    membership = membershipOf(membership.nodeId, new Map([[shardOf(begun?.id ?? "", 1_024), 1]]));
    expect(await toEnd(nodeOf(), begun as StoredOperation)).toMatchObject({ state: "done", done: 1_100 });
    expect(await live()).toBe(0);
  });
});

describe("a cancellation of many runs", () => {
  it("ends one that is just being moved near its time", async () => {
    const runAt = Date.now() + 86_400_000;
    const id = await h.run({ runAt, nominal: runAt });
    const runs = new RunReader(h.store.reads);
    const changer = new RunChanger(testContext({ database: h.db }), { runs, rank: h.store.rank });
    const { cancelled } = await h.db.transaction(async (tx) => {
      expect(await h.store.changes.holdRun(tx, 1, id)).toBe("scheduled");
      const cancelling = changer.cancelMany(1, [id]);
      await untilLockWaits(h);
      return { cancelled: cancelling };
    });
    expect(await cancelled).toEqual(new Set([id]));
    expect(await runs.find(1, id)).toMatchObject({ status: "cancelled" });
  });
});
