import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { Queues } from "../../../src/catalog/queues.js";
import { createEngineStore, type EngineStore } from "../../harness/engine-store.js";
import { EagerWorker } from "../../harness/eager-worker.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  return h.close();
});

const anonymous = { actor: null };
/** The queues of a node over this store, without the node. */
function api(store: EngineStore = h.store): Queues {
  const namespaceId = async () => 1;
  const context = {
    store,
    now: Date.now,
    namespaceId,
    inNamespace: <Result>(_name: string, work: (id: number) => Promise<Result>) => work(1),
    emit: () => undefined,
  };
  return new Queues(context, store.catalog);
}

describe("queues", () => {
  it("a queue is created once, by its first use, with the default order", async () => {
    await Promise.all(Array.from({ length: 5 }, () => createEngineStore(h.db).queueCache.ensure(1, ["mail", "mail"])));
    const { rows } = await api().list("default", { pageSize: 10 });
    expect(rows).toMatchObject([{ name: "mail", order: { kind: "priority" }, pause: null, version: 1 }]);
  });

  it("a queue is created by its first change", async () => {
    await api().change("default", "mail", { order: "fifo" }, anonymous);
    expect(await api().get("default", "mail")).toMatchObject({ order: { kind: "fifo" }, version: 1 });
    expect(await api().get("default", "other")).toBeNull();
  });

  it("a changed order ranks new runs, and queued runs keep their place", async () => {
    const run = { namespaceId: 1, queue: "mail", task: "echo", dueMs: 5_000, priority: 9 };
    const before = h.store.rank(run);
    await api().change("default", "mail", { order: "fifo" }, anonymous);
    expect([before < 5_000, h.store.rank(run)]).toEqual([true, 5_000]);
  });

  it("a change of the order drops the queue's bound, unless the change sets a new one", async () => {
    const change = async (what: object) => (await api().change("default", "mail", what, anonymous)).order;
    expect(await change({ boundMs: 5 })).toEqual({ kind: "priority", boundMs: 5 });
    expect(await change({ order: "priority" })).toEqual({ kind: "priority", boundMs: 5 });
    expect(await change({ order: "edf" })).toEqual({ kind: "edf" });
    expect(await change({ order: "sjf", boundMs: 7 })).toEqual({ kind: "sjf", boundMs: 7 });
    expect(await change({ boundMs: null })).toEqual({ kind: "sjf" });
  });

  it("a queue refuses a change that names another version", async () => {
    const context = { actor: null, ifVersion: 2 };
    const change = () => api().change("default", "mail", { order: "fifo" }, context);
    await expect(change()).rejects.toMatchObject({ code: "precondition_failed" });
    await h.store.queueCache.ensure(1, ["mail"]);
    await expect(change()).rejects.toMatchObject({ code: "precondition_failed" });
  });

  it("an existing queue cannot become strict, and a strict queue stays strict", async () => {
    await api().change("default", "ledger", { order: "strict" }, anonymous);
    await h.store.queueCache.ensure(1, ["mail"]);
    const change = (name: string, order: "strict" | "fifo") => api().change("default", name, { order }, anonymous);
    await expect(change("mail", "strict")).rejects.toMatchObject({ code: "queue_order_fixed" });
    await expect(change("ledger", "fifo")).rejects.toMatchObject({ code: "queue_order_fixed" });
    expect(await change("ledger", "strict")).toMatchObject({ version: 1 });
  });

  it("a change by another node is known after the next refresh, also if it commits late", async () => {
    const other = createEngineStore(h.db);
    await other.queueCache.refresh();
    await api().change("default", "mail", { order: "fifo" }, anonymous);
    await other.queueCache.refresh();
    expect(other.queueCache.orderOf(1, "mail")).toEqual({ kind: "fifo" });
    await h.db.transaction(async (tx) => {
      const next = "nextval(pg_get_serial_sequence('carillon.queue', 'revision'))";
      const text = `update carillon.queue set order_kind = 'edf', revision = ${next}`;
      await tx.query({ text });
      await createEngineStore(h.db).queueCache.ensure(1, ["newer"]);
      await other.queueCache.refresh();
    });
    await other.queueCache.refresh();
    expect(other.queueCache.orderOf(1, "mail")).toEqual({ kind: "edf" });
  });

  it("the statistics of a queue count waiting runs, running runs and workers", async () => {
    await h.store.queueCache.ensure(1, ["default"]);
    const dueAt = Date.now() - 60_000;
    for (let index = 0; index < 5; index++) await h.run({ runAt: dueAt + index, rank: dueAt + index });
    await h.claim(await h.session(), 2);
    const stats = await api().stats("default", "default");
    expect(stats).toMatchObject({
      queued: 3,
      running: 2,
      oldestDueAt: dueAt + 2,
      workers: 1,
      slots: 10,
      isExact: true,
    });
    expect(stats?.waitMs).toBeGreaterThanOrEqual(59_000);
    expect(await api().stats("default", "other")).toBeNull();
    const many = await api().statsOfMany("default", ["default", "other"]);
    expect(many.get("default")).toMatchObject({ queued: 3, workers: 1 });
    expect(many.get("other")).toMatchObject({ queued: 0, workers: 0 });
  });

  it("nodes share the measured durations of tasks", async () => {
    const task = { namespaceId: 1, queue: "mail", task: "send" };
    h.store.durations.note(task, 1_000);
    await h.store.catalog.shareDurations(0);
    const other = createEngineStore(h.db);
    await other.catalog.shareDurations(0);
    expect(other.durations.expectedMs(1, "mail", "send")).toBe(1_000);
  });
});

describe("paused queues", () => {
  it("a gateway claims nothing from a paused queue, neither after a wakeup nor by a full scan, and continues after the resume", async () => {
    const queues = api();
    const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs: 20 } });
    gateways.push(gateway);
    h.store.queueCache.onPausesChanged(() => gateway.holdsChanged());
    await queues.pause("default", "default", { reason: "the provider is down", until: null }, { actor: "ann" });
    const paused = await EagerWorker.over(gateway);
    const free = await EagerWorker.over(gateway, { queues: ["other"] });
    const lanes = await h.store.lanes.ensure([
      { queue: "default", task: "echo" },
      { queue: "other", task: "echo" },
    ]);
    const [held = 0, other = 0] = lanes;
    const first = await h.run({ lane: held });
    gateway.hint([{ lane: held, rank: 0 }]);
    // The other queue goes on, by full scans after that of the paused one.
    for (let count = 1; count <= 3; count++) {
      await h.run({ lane: other, queue: "other" });
      await free.until(count);
    }
    expect(paused.ids).toEqual([]);
    await queues.resume("default", "default", anonymous);
    await paused.until(1);
    expect(paused.ids).toEqual([first]);
  });

  it("a second pause replaces reason, end and actor, and keeps the beginning of the first", async () => {
    const queues = api();
    const until = 5_000_000_000_000;
    const { pause } = await queues.pause("default", "mail", { reason: "holidays", until }, { actor: "ann" });
    expect(pause).toMatchObject({ reason: "holidays", actor: "ann", until });
    const again = await queues.pause("default", "mail", { reason: "moving", until: null }, { actor: "bob" });
    expect(again.pause).toEqual({ reason: "moving", actor: "bob", at: pause?.at, until: null });
    const rows = await h.db.query({ text: "select paused_until from carillon.queue where name = 'mail'" });
    expect(rows.rows).toEqual([{ paused_until: null }]);
    expect((await queues.resume("default", "mail", anonymous)).pause).toBeNull();
  });
});

describe("pauses with an end", () => {
  it("a pause ends at its end, for waiting workers and for readers of the queue", async () => {
    const queues = api();
    const tick = async (): Promise<void> => {
      await h.store.queues.resumeExpired();
      await h.store.catalog.refresh();
    };
    const { gateway } = gatewayOver(h);
    gateways.push(gateway);
    h.store.queueCache.onPausesChanged(() => gateway.holdsChanged());
    const run = await h.run({});
    const until = Date.now() + 3_600_000;
    const paused = await queues.pause("default", "default", { reason: "moving", until }, anonymous);
    expect(paused.pause).toMatchObject({ reason: "moving", until });
    const worker = await EagerWorker.over(gateway);
    await tick();
    expect(worker.ids).toEqual([]);
    await h.db.query({ text: "update carillon.queue set paused_until = clock_timestamp() - interval '1 second'" });
    await tick();
    await worker.until(1);
    expect(worker.ids).toEqual([run]);
    expect(await queues.get("default", "default")).toMatchObject({ pause: null, version: 2 });
  });
});
