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

const nobody = { actor: null };
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

describe("a queue", () => {
  it("is made with its first use, once, in the usual order", async () => {
    await Promise.all(Array.from({ length: 5 }, () => createEngineStore(h.db).queueBook.ensure(1, ["mail", "mail"])));
    const { rows } = await api().list("default", { pageSize: 10 });
    expect(rows).toMatchObject([{ name: "mail", order: { kind: "priority" }, pause: null, version: 1 }]);
  });

  it("is made by the first change of it", async () => {
    await api().change("default", "mail", { order: "fifo" }, nobody);
    expect(await api().get("default", "mail")).toMatchObject({ order: { kind: "fifo" }, version: 1 });
    expect(await api().get("default", "other")).toBeNull();
  });

  it("ranks what is made from its change on by its order; what is queued keeps its place", async () => {
    const run = { namespaceId: 1, queue: "mail", task: "echo", dueMs: 5_000, priority: 9 };
    const before = h.store.rank(run);
    await api().change("default", "mail", { order: "fifo" }, nobody);
    expect([before < 5_000, h.store.rank(run)]).toEqual([true, 5_000]);
  });

  it("loses its own bound with another order, unless the change says one", async () => {
    const change = async (what: object) => (await api().change("default", "mail", what, nobody)).order;
    expect(await change({ boundMs: 5 })).toEqual({ kind: "priority", boundMs: 5 });
    expect(await change({ order: "priority" })).toEqual({ kind: "priority", boundMs: 5 });
    expect(await change({ order: "edf" })).toEqual({ kind: "edf" });
    expect(await change({ order: "sjf", boundMs: 7 })).toEqual({ kind: "sjf", boundMs: 7 });
    expect(await change({ boundMs: null })).toEqual({ kind: "sjf" });
  });

  it("refuses a change that is meant for another version", async () => {
    const context = { actor: null, ifVersion: 2 };
    const change = () => api().change("default", "mail", { order: "fifo" }, context);
    await expect(change()).rejects.toMatchObject({ code: "precondition_failed" });
    await h.store.queueBook.ensure(1, ["mail"]);
    await expect(change()).rejects.toMatchObject({ code: "precondition_failed" });
  });

  it("cannot become strict, or cease to be, once it exists", async () => {
    await api().change("default", "ledger", { order: "strict" }, nobody);
    await h.store.queueBook.ensure(1, ["mail"]);
    const change = (name: string, order: "strict" | "fifo") => api().change("default", name, { order }, nobody);
    await expect(change("mail", "strict")).rejects.toMatchObject({ code: "queue_order_fixed" });
    await expect(change("ledger", "fifo")).rejects.toMatchObject({ code: "queue_order_fixed" });
    expect(await change("ledger", "strict")).toMatchObject({ version: 2 });
  });

  it("that changed through another node is known after the next look, a change that commits late included", async () => {
    const other = createEngineStore(h.db);
    await other.queueBook.refresh();
    await api().change("default", "mail", { order: "fifo" }, nobody);
    await other.queueBook.refresh();
    expect(other.queueBook.orderOf(1, "mail")).toEqual({ kind: "fifo" });
    await h.db.transaction(async (tx) => {
      const next = "nextval(pg_get_serial_sequence('carillon.queue', 'revision'))";
      const text = `update carillon.queue set order_kind = 'edf', revision = ${next}`;
      await tx.query({ text });
      await createEngineStore(h.db).queueBook.ensure(1, ["newer"]);
      await other.queueBook.refresh();
    });
    await other.queueBook.refresh();
    expect(other.queueBook.orderOf(1, "mail")).toEqual({ kind: "edf" });
  });

  it("says what waits, what works and who serves it", async () => {
    await h.store.queueBook.ensure(1, ["default"]);
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

  it("tells other nodes how long its tasks take", async () => {
    const task = { namespaceId: 1, queue: "mail", task: "send" };
    h.store.durations.note(task, 1_000);
    await h.store.catalog.shareDurations(0);
    const other = createEngineStore(h.db);
    await other.catalog.shareDurations(0);
    expect(other.durations.expectedMs(1, "mail", "send")).toBe(1_000);
  });
});

describe("a paused queue", () => {
  it("hands out nothing, neither by a hint nor by a full look, and goes on where it was when it is resumed", async () => {
    const queues = api();
    const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs: 20 } });
    gateways.push(gateway);
    h.store.queueBook.onPausesChanged(() => gateway.holdsChanged());
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
    // The other queue goes on, by full looks after that of the paused one.
    for (let count = 1; count <= 3; count++) {
      await h.run({ lane: other, queue: "other" });
      await free.until(count);
    }
    expect(paused.ids).toEqual([]);
    await queues.resume("default", "default", nobody);
    await paused.until(1);
    expect(paused.ids).toEqual([first]);
  });

  it("is paused since its first pause, for the reason, until the end and by whom the last one says", async () => {
    const queues = api();
    const until = 5_000_000_000_000;
    const { pause } = await queues.pause("default", "mail", { reason: "holidays", until }, { actor: "ann" });
    expect(pause).toMatchObject({ reason: "holidays", actor: "ann", until });
    const again = await queues.pause("default", "mail", { reason: "moving", until: null }, { actor: "bob" });
    expect(again.pause).toEqual({ reason: "moving", actor: "bob", at: pause?.at, until: null });
    const rows = await h.db.query({ text: "select paused_until from carillon.queue where name = 'mail'" });
    expect(rows.rows).toEqual([{ paused_until: null }]);
    expect((await queues.resume("default", "mail", nobody)).pause).toBeNull();
  });
});

describe("a pause with an end", () => {
  it("ends by itself, for workers that wait and for those that look at it", async () => {
    const queues = api();
    const tick = async (): Promise<void> => {
      await h.store.queues.resumeExpired();
      await h.store.catalog.refresh();
    };
    const { gateway } = gatewayOver(h);
    gateways.push(gateway);
    h.store.queueBook.onPausesChanged(() => gateway.holdsChanged());
    const run = await h.run({});
    const until = Date.now() + 3_600_000;
    const paused = await queues.pause("default", "default", { reason: "moving", until }, nobody);
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
