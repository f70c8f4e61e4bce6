import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";
import { newRun, type StoreHarness, storeHarness } from "../../harness/store-harness.js";
import { EagerWorker } from "../../harness/eager-worker.js";
import { gatewayOver } from "../../harness/gateway-harness.js";

let h: StoreHarness;
let lane: number;
const gateways: Gateway[] = [];
const workers: EagerWorker[] = [];
beforeEach(async () => {
  h = await storeHarness();
  lane = (await h.store.lanes.ensure([{ queue: "default", task: "echo" }]))[0] ?? 0;
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
  for (const gateway of gateways.splice(0)) gateway.stop();
  await h.close();
});

function gatewayWith(claimBatch: number, fullScanIntervalMs = 3_600_000): Gateway {
  const { gateway } = gatewayOver(h, { limits: { claimBatch, fullScanIntervalMs } });
  gateways.push(gateway);
  return gateway;
}

async function workerOver(gateway: Gateway, over: Partial<WorkerRegistration>): Promise<EagerWorker> {
  const worker = await EagerWorker.over(gateway, over);
  workers.push(worker);
  return worker;
}

async function namespaceOf(name: string, weight: number, runs: number): Promise<number> {
  await h.store.namespaces.create(name, weight);
  const namespaceId = (await h.store.namespaces.find(name)) ?? 0;
  await fill(namespaceId, runs);
  await h.store.namespaceCache.refresh();
  return namespaceId;
}

async function fill(namespaceId: number, count: number, over: object = {}): Promise<void> {
  if (count === 0) return;
  await h.store.queueCache.ensure(namespaceId, ["default"]);
  await h.store.runs.insert(Array.from({ length: count }, () => newRun(lane, { namespaceId, ...over })));
}

/** How many of the first so many runs that began were of each namespace. */
async function sharesOfFirst(count: number): Promise<Map<number, number>> {
  const text = `select namespace_id, count(*)::int as count
    from (select namespace_id from carillon.run_history order by started_at, id limit ${count}) r group by 1`;
  const { rows } = await h.db.query<{ namespace_id: number; count: number }>({ text });
  return new Map(rows.map((row) => [row.namespace_id, row.count]));
}

const forAll = { namespaces: ["*"] };

describe("fairness between namespaces", () => {
  it("workers that serve several namespaces give each namespace its share by weight, over two gateways with uneven demand", async () => {
    const heavy = await namespaceOf("heavy", 3, 3_000);
    const light = await namespaceOf("light", 1, 3_000);
    const other = await namespaceOf("other", 1, 3_000);
    const both = await Promise.all([
      workerOver(gatewayWith(50), { ...forAll, slots: 40, ahead: 0 }),
      workerOver(gatewayWith(50), { ...forAll, slots: 7, ahead: 0 }),
    ]);
    await Promise.race(both.map((worker) => worker.until(2_500)));
    const shares = await sharesOfFirst(2_000);
    expect(shares.get(heavy)).toBeGreaterThan(1_080);
    expect(shares.get(heavy)).toBeLessThan(1_320);
    for (const id of [light, other]) expect(Math.abs((shares.get(id) ?? 0) - 400)).toBeLessThan(40);
  });

  it("workers that serve several namespaces start runs of a new namespace before older ones of others", async () => {
    const busy = await namespaceOf("busy", 1, 3_000);
    const gateway = gatewayWith(50);
    const worker = await workerOver(gateway, { ...forAll, slots: 10, ahead: 0 });
    await worker.until(500);
    const newcomer = await namespaceOf("newcomer", 1, 0);
    const run = newRun(lane, { namespaceId: newcomer });
    await h.store.runs.insert([run]);
    const before = worker.ids.length;
    gateway.hint([run]);
    while (!worker.ids.includes(run.id)) await new Promise((resolve) => setImmediate(resolve));
    expect(worker.ids.indexOf(run.id) - before).toBeLessThan(100);
    expect(busy).toBeGreaterThan(0);
  });

  it("workers that serve several namespaces start runs of a namespace in rank order, over its lanes", async () => {
    const [other = 0] = await h.store.lanes.ensure([{ queue: "default", task: "other" }]);
    const first = await namespaceOf("first", 1, 0);
    const second = await namespaceOf("second", 1, 0);
    const runs = Array.from({ length: 40 }, (_, index) =>
      newRun(index % 3 === 0 ? other : lane, { namespaceId: index % 2 === 0 ? first : second, rank: index }),
    );
    for (const id of [first, second]) await h.store.queueCache.ensure(id, ["default"]);
    await h.store.runs.insert(runs);
    const worker = await workerOver(gatewayWith(10), { ...forAll, tasks: ["echo", "other"], slots: 4, ahead: 0 });
    await worker.until(40);
    for (const id of [first, second]) {
      const expected = runs.filter((run) => run.namespaceId === id).map((run) => run.id);
      const began = worker.ids.filter((runId) => expected.includes(runId));
      // Two statements may be under way, each with up to four.
      const moved = began.map((runId, index) => Math.abs(expected.indexOf(runId) - index));
      expect(Math.max(...moved)).toBeLessThanOrEqual(4);
    }
  });

  it("workers that serve several namespaces give an unused share to the other namespaces", async () => {
    await namespaceOf("idle", 1_000, 0);
    await namespaceOf("small", 1_000, 3);
    await namespaceOf("busy", 1, 200);
    const worker = await workerOver(gatewayWith(50), { ...forAll, slots: 10 });
    await worker.until(203);
    expect(new Set(worker.ids).size).toBe(203);
  });

  it("workers that serve several namespaces use the changed weight of a namespace", async () => {
    const first = await namespaceOf("first", 1, 2_000);
    const second = await namespaceOf("second", 1, 2_000);
    await h.store.namespaces.change("first", { weight: 9 }, null);
    await h.store.namespaceCache.refresh();
    const worker = await workerOver(gatewayWith(50), { ...forAll, slots: 10, ahead: 0 });
    await worker.until(1_100);
    const shares = await sharesOfFirst(1_000);
    expect(Math.abs((shares.get(first) ?? 0) - 900)).toBeLessThan(30);
    expect(Math.abs((shares.get(second) ?? 0) - 100)).toBeLessThan(30);
  });

  it("workers that serve several namespaces take runs of the namespaces that they name, and of no others [INV-7]", async () => {
    const mine = await namespaceOf("mine", 1, 5);
    await namespaceOf("yours", 1, 5);
    const theirs = await namespaceOf("theirs", 1, 5);
    const worker = await workerOver(gatewayWith(50), { namespaces: ["mine", "theirs"], slots: 20 });
    await worker.until(10);
    const own = await workerOver(gatewayWith(50, 20), { namespace: "yours" });
    await own.until(5);
    expect(worker.ids).toHaveLength(10);
    const shares = await sharesOfFirst(10);
    expect([shares.get(mine), shares.get(theirs)]).toEqual([5, 5]);
  });

  it("workers that serve several namespaces cannot register for a namespace that does not exist", async () => {
    const open = workerOver(gatewayWith(50), { namespaces: ["nowhere"] });
    await expect(open).rejects.toMatchObject({ code: "not_found" });
  });

  it("workers that serve several namespaces serve the same namespaces at another gateway that takes them over", async () => {
    const worker = await EagerWorker.over(gatewayWith(50), { ...forAll, slots: 20 });
    const id = await namespaceOf("late", 1, 0);
    const assignedIds: string[] = [];
    const next = gatewayWith(50);
    await next.adopt(worker.session, {
      onAssign: (assigned) => void assignedIds.push(...assigned.map((run) => run.runId)),
      onStop: () => undefined,
      onLost: () => undefined,
    });
    await fill(id, 5);
    await next.scan();
    next.resume(worker.session);
    while (assignedIds.length < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(assignedIds).toHaveLength(5);
  });
});
