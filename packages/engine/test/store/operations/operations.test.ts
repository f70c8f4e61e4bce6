import type { StoredOperation } from "@carillon/store";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { membershipOf, shardOf } from "../../../src/cluster/shards.js";
import { OperationRunner, type OperationRunnerDeps } from "../../../src/operations/operation-runner.js";
import { type BulkRequest, Operations } from "../../../src/operations/operations.js";
import { RunChanger } from "../../../src/runs/run-changer.js";
import { RunLister } from "../../../src/runs/run-lister.js";
import { RunReader } from "../../../src/runs/run-reader.js";
import { newId, newRun, type StoreHarness, storeHarness, untilLockWaits } from "../../harness/store-harness.js";
import { testContext } from "../../harness/test-context.js";

let h: StoreHarness;
let membership = membershipOf(newId(), new Map([[3, 1]]));

beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());
beforeEach(() => h.db.query({ text: "delete from carillon.run; delete from carillon.operation" }));

function deps(): OperationRunnerDeps {
  const { store } = h;
  const runs = new RunReader(store.reads);
  return {
    runs,
    lister: new RunLister(store.search, runs),
    changer: new RunChanger(testContext({ database: h.db }), { runs, rank: store.rank }),
    repeater: { retry: () => Promise.reject(new Error("No test retries a run.")) },
  };
}

/** A node that takes steps; `beforeRecord` runs between the changes of a step and its record. */
function nodeOf(beforeRecord: () => Promise<void> = async () => undefined): OperationRunner {
  const { operations, failures } = h.store;
  const step: typeof operations.step = async (operation, done) => {
    await beforeRecord();
    return operations.step(operation, done);
  };
  const store = { failures, operations: { ...operations, step } };
  return new OperationRunner({ store, membership: () => membership }, deps());
}

const start = (request: BulkRequest): Promise<StoredOperation> =>
  h.store.operations.insert(h.db, { ...request, id: newId(), namespaceId: 1, shard: 3, actor: null });

const current = async ({ id }: StoredOperation): Promise<StoredOperation | null> => h.store.operations.find(1, id);

async function many(count: number): Promise<string[]> {
  const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
  const runs = Array.from({ length: count }, () => newRun(lane, {}));
  await h.store.runs.insert(runs);
  return runs.map((run) => run.id);
}

const live = async (): Promise<number> => (await h.db.query({ text: "select from carillon.run" })).rowCount;

async function toEnd(node: OperationRunner, operation: StoredOperation): Promise<StoredOperation | null> {
  while ((await current(operation))?.state === "running") await node.tick();
  return current(operation);
}

const all: BulkRequest = { action: "cancel", target: { filter: {} } };

describe("a bulk operation", () => {
  it("changes all matching runs, page by page, and counts them", async () => {
    await many(450);
    const operation = await start(all);
    await nodeOf().tick();
    expect(await current(operation)).toMatchObject({ state: "running", seen: 200, done: 200 });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ state: "done", seen: 450, done: 450, failed: 0 });
    expect(await live()).toBe(0);
  });

  it("continues after its node died, and counts no run twice", async () => {
    await many(300);
    const operation = await start(all);
    const dying = nodeOf(() => Promise.reject(new Error("killed")));
    await expect(dying.tick()).rejects.toThrow("killed");
    expect([await live(), (await current(operation))?.seen]).toEqual([100, 0]);
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ state: "done", seen: 100, done: 100 });
    expect(await live()).toBe(0);
  });

  it("has each step recorded by one of two nodes that took it", async () => {
    await many(10);
    const operation = await start(all);
    const late = nodeOf(async () => void (await nodeOf().tick()));
    await late.tick();
    expect(await current(operation)).toMatchObject({ state: "done", step: 1 });
  });

  it("is aborted between two steps: its changes stay, and no more follow", async () => {
    await many(450);
    const operation = await start(all);
    await nodeOf().tick();
    await h.store.operations.abort(1, operation.id, "asked");
    await nodeOf().tick();
    expect(await current(operation)).toMatchObject({ state: "aborted", stateReason: "asked", done: 200 });
    expect(await live()).toBe(250);
  });

  it("reports the requested runs that do not exist, and changes the others", async () => {
    const ids = await many(3);
    const unknown = newId();
    const operation = await start({ action: "cancel", target: { ids: [...ids, unknown] } });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({
      state: "done",
      done: 3,
      failed: 1,
      failures: [{ id: unknown, code: "not_found" }],
    });
  });

  it("does not change runs that its filter does not match", async () => {
    await many(5);
    const others = await Promise.all([1, 2, 3].map(() => h.run({ owner: "ann" })));
    const operation = await start({ action: "cancel", target: { filter: { owner: "ann" } } });
    expect(await toEnd(nodeOf(), operation)).toMatchObject({ done: others.length });
    expect(await live()).toBe(5);
  });
});

const operationsOf = (): Operations => new Operations(testContext({ database: h.db }), deps());

describe("the purge of a queue", () => {
  const context = { actor: null };
  const set = (id: string, change: string) =>
    h.db.query({ text: `update carillon.run set ${change} where id = $1` }, [id]);
  const ids = async (table: string): Promise<string[]> => {
    const { rows } = await h.db.query<{ id: string }>({ text: `select id from carillon.${table} order by id` });
    return rows.map((row) => row.id);
  };

  it("ends all waiting runs, but neither claimed runs nor those of other queues", async () => {
    await h.db.query({ text: "delete from carillon.run_history; delete from carillon.far_future_run" });
    await h.store.queueCache.ensure(1, ["default", "other"]);
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
    const operations = operationsOf();
    const [delayed, undelayed] = [{ isOfDelayed: true }, { isOfDelayed: false }];
    expect(await operations.countPurge("default", "default", delayed)).toEqual({ count: 6, isLowerBound: false });
    expect(await operations.countPurge("default", "default", undelayed)).toEqual({ count: 3, isLowerBound: false });
    expect(await operations.purgeQueue("default", "default", undelayed, context)).toMatchObject({
      state: "done",
      done: 3,
    });
    expect(await ids("run_history")).toEqual([queued, gated, overlapping].sort());
    expect(await operations.purgeQueue("default", "default", delayed, context)).toMatchObject({
      state: "done",
      done: 3,
    });
    expect(await ids("run_history")).toEqual([queued, gated, overlapping, retrying, soon, later].sort());
    const reasons = await h.db.query({ text: "select distinct status, status_reason from carillon.run_history" });
    expect(reasons.rows).toEqual([{ status: "cancelled", status_reason: "purged" }]);
    expect(await ids("run")).toEqual([claimed, elsewhere].sort());
    expect(await operations.purgeQueue("default", "nowhere", delayed, context)).toBeNull();
  });

  it("of many runs continues after its call returns", async () => {
    await h.store.queueCache.ensure(1, ["default"]);
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo" }]);
    await h.store.runs.insert(Array.from({ length: 1_100 }, () => newRun(lane, {})));
    const begun = await operationsOf().purgeQueue("default", "default", { isOfDelayed: true }, context);
    expect(begun).toMatchObject({ state: "running", done: 1_000 });
    membership = membershipOf(membership.nodeId, new Map([[shardOf(begun?.id ?? "", 1_024), 1]]));
    expect(await toEnd(nodeOf(), begun as StoredOperation)).toMatchObject({ state: "done", done: 1_100 });
    expect(await live()).toBe(0);
  });
});

describe("the cancellation of many runs", () => {
  it("ends a far-future run that is just being promoted", async () => {
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
