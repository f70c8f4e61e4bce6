import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RunLister } from "../../../src/jobs/run-lister.js";
import { RunReader } from "../../../src/jobs/run-reader.js";
import type { BulkRequest } from "../../../src/model/operations.js";
import { BulkTargets } from "../../../src/operations/bulk-targets.js";
import { OperationRunner } from "../../../src/operations/operation-runner.js";
import { RunChanger } from "../../../src/runs/run-changer.js";
import type { StoredOperation } from "../../../src/store/entities/operations.js";
import { newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
const membership = { nodeId: newId(), epochs: new Map([[3, 1]]) };

beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());
beforeEach(() => h.db.query({ text: "delete from carillon.run; delete from carillon.operation" }));

const ignore = (): void => undefined;

/** A node that takes steps; `beforeNote` happens between what a step does and its note. */
function nodeOf(beforeNote: () => Promise<void> = async () => undefined): OperationRunner {
  const { store } = h;
  const runs = new RunReader(store.reads);
  const lister = new RunLister(store.search, runs);
  const told = { onQueued: ignore, onDueRuns: ignore, onStopped: ignore, onFreed: ignore, onEvent: ignore };
  return new OperationRunner({
    operations: {
      ...store.operations,
      async step(operation, done) {
        await beforeNote();
        return store.operations.step(operation, done);
      },
    },
    targets: new BulkTargets({ lister, runs }),
    changer: new RunChanger({ ...told, changes: store.runChanges, runs, rank: store.rank }),
    repeats: { retry: () => Promise.reject(new Error("nothing is retried here")) },
    failures: store.failures,
    membership: () => membership,
  });
}

const start = (request: BulkRequest): Promise<StoredOperation> =>
  h.store.operations.insert(h.db, { ...request, id: newId(), namespaceId: 1, shard: 3, actor: null });

const now = async ({ id }: StoredOperation): Promise<StoredOperation | null> => h.store.operations.find(1, id);

async function many(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => h.run()));
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
