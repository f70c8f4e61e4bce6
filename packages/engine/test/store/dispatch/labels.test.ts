import { requirementsOf } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { laneNameOf } from "../../../src/catalog/lanes.js";
import type { Gateway } from "../../../src/dispatch/gateway.js";
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

function gatewayWith(fullScanIntervalMs: number): Gateway {
  const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs } });
  gateways.push(gateway);
  return gateway;
}

async function laneFor(requires: Readonly<Record<string, string>>): Promise<number> {
  const name = laneNameOf({ queue: "default", task: "echo", policy: { requires } }, null);
  return (await h.store.lanes.ensure([name]))[0] ?? 0;
}

describe("required labels", () => {
  it("a run that requires labels is assigned to a worker with these labels, and never to one without", async () => {
    const gateway = gatewayWith(20);
    const lane = await laneFor({ gpu: "a100" });
    const plain = await EagerWorker.over(gateway);
    const wrong = await EagerWorker.over(gateway, { labels: { gpu: "h100" } });
    const special = await h.run({ lane });
    const usual = await h.run({});
    while (plain.ids.length + wrong.ids.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const right = await EagerWorker.over(gateway, { labels: { gpu: "a100", zone: "eu" } });
    while (!right.ids.includes(special)) await new Promise((resolve) => setImmediate(resolve));
    expect([...plain.ids, ...wrong.ids, ...right.ids].sort()).toEqual([special, usual].sort());
  });

  it("a run that requires labels starts when its hint arrives, also in a lane that was made after the worker registered", async () => {
    const gateway = gatewayWith(3_600_000);
    const worker = await EagerWorker.over(gateway, { labels: { gpu: "a100" } });
    const lane = await laneFor({ gpu: "a100" });
    const run = await h.run({ lane });
    gateway.hint([{ lane, rank: 0 }]);
    await worker.until(1);
    expect(worker.ids).toEqual([run]);
  });

  it("a run that requires labels keeps its required labels when its worker is lost", async () => {
    const lane = await laneFor({ gpu: "a100" });
    const run = await h.run({ lane });
    const session = await h.session();
    await h.claim(session, 10);
    await h.store.sessions.close(session);
    const lost = (await h.store.runs.lost(10)).map(({ id }) => id);
    const [rescued] = await h.store.runs.rescue(lost, 3);
    expect(rescued?.id).toBe(run);
    expect(h.store.lanes.get(rescued?.lane ?? 0)).toMatchObject({ requires: "gpu=a100" });
  });

  it("a run that requires labels is stored in the same lane when plain SQL inserts it", async () => {
    const policy = JSON.stringify({ requires: { zone: "eu", gpu: "a100" } });
    const text = "select run_id from carillon.enqueue('echo', policy => $1::jsonb)";
    const [row] = (await h.db.query<{ run_id: string }>({ text }, [policy])).rows;
    const found = { text: "select lane from carillon.run where id = $1" };
    const { rows } = await h.db.query<{ lane: number }>(found, [row?.run_id]);
    expect(rows[0]?.lane).toBe(await laneFor({ gpu: "a100", zone: "eu" }));
  });

  it("a run that requires labels is assigned by another node that takes its worker over with its labels", async () => {
    const [first, second] = [gatewayWith(3_600_000), gatewayWith(3_600_000)];
    const worker = await EagerWorker.over(first, { labels: { gpu: "a100" } });
    const lane = await laneFor({ gpu: "a100" });
    const given = new Promise<string>((resolve) => {
      const handlers = { onAssign: (runs: readonly { runId: string }[]) => resolve(runs[0]?.runId ?? "") };
      const rest = { onStop: () => undefined, onLost: () => undefined };
      void second.adopt(worker.session, { ...handlers, ...rest }).then(() => second.resume(worker.session));
    });
    const run = await h.run({ lane });
    second.hint([{ lane, rank: 0 }]);
    expect(await given).toBe(run);
  });
});

describe("required versions", () => {
  it("a run that requires a version of its task is assigned to a worker with this version, and never to another", async () => {
    const gateway = gatewayWith(20);
    const lane = await laneFor(requirementsOf({ version: "3" }));
    const plain = await EagerWorker.over(gateway);
    const older = await EagerWorker.over(gateway, { versions: { echo: ["2"] } });
    const pinned = await h.run({ lane });
    const usual = await h.run({});
    while (plain.ids.length + older.ids.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const newer = await EagerWorker.over(gateway, { versions: { echo: ["2", "3"] } });
    while (!newer.ids.includes(pinned)) await new Promise((resolve) => setImmediate(resolve));
    expect([...plain.ids, ...older.ids, ...newer.ids].sort()).toEqual([pinned, usual].sort());
  });
});

describe("spot workers", () => {
  it("a spot worker gets only runs that allow spot workers, also at another node", async () => {
    const [first, second] = [gatewayWith(20), gatewayWith(20)];
    const lane = await laneFor(requirementsOf({ allowsSpot: true }));
    const spot = await EagerWorker.over(first, { isSpot: true });
    const usual = await h.run({});
    const allowed = await h.run({ lane });
    await spot.until(1);
    expect(spot.ids).toEqual([allowed]);
    const given: string[] = [];
    const handlers = { onAssign: (runs: readonly { runId: string }[]) => void given.push(...runs.map((r) => r.runId)) };
    await second.adopt(spot.session, { ...handlers, onStop: () => undefined, onLost: () => undefined });
    second.resume(spot.session);
    const again = await h.run({ lane });
    while (given.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(given).toEqual([again]);
    const lasting = await EagerWorker.over(first);
    await lasting.until(1);
    expect(lasting.ids).toEqual([usual]);
  });
});

describe("abilities of workers", () => {
  it("the abilities of workers are listed of every worker that takes runs of the namespace, also of other namespaces' workers", async () => {
    await h.db.query({ text: "insert into carillon.namespace (name) values ('other')" });
    const { rows } = await h.db.query<{ id: number }>({
      text: "select id from carillon.namespace where name = 'other'",
    });
    const other = rows[0]?.id ?? 0;
    const gateway = gatewayWith(3_600_000);
    await EagerWorker.over(gateway, { labels: { who: "own" } });
    const labels = async (id: number) =>
      new Set((await h.store.sessions.kinds(id, "echo")).map((kind) => kind.labels?.["who"]));
    expect([await labels(1), await labels(other)]).toEqual([new Set(["own"]), new Set()]);
    await EagerWorker.over(gateway, { labels: { who: "all" }, namespaces: ["*"] });
    await EagerWorker.over(gateway, { labels: { who: "some" }, namespaces: ["other"] });
    expect(await labels(1)).toEqual(new Set(["all", "own"]));
    expect(await labels(other)).toEqual(new Set(["all", "some"]));
    expect(await h.store.sessions.kinds(1, "nothing")).toEqual([]);
  });
});
