import { freshDatabase } from "@carillon/testkit";
import { LocalTransport, Worker } from "@carillon/worker";
import { afterEach, beforeEach, expect, it } from "vitest";
import { eventually } from "../../../../store/test/store/db/support.js";
import { type Database, EngineHost, type EngineEvent, live, openDatabase } from "../../../src/index.js";
import { hostPorts, newId } from "../../harness/store-harness.js";

let drop: () => Promise<void>;
let database: Database;
let host: EngineHost;
let worker: Worker | null;
let events: EngineEvent[];
let fences: number[];
beforeEach(async () => {
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  events = [];
  fences = [];
  database = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
  const node = { name: "a", address: null, version: "0" };
  const onEvent = (event: EngineEvent): void => void events.push(event);
  host = new EngineHost({ database, ...hostPorts, newId, node, alone: true, onEvent, limits: { leaseMs: 500 } });
  await host.start();
  worker = null;
});
afterEach(async () => {
  await worker?.stop(0);
  await host.stop();
  await database.close();
  await drop();
});

const enqueue = () =>
  host.engine.enqueuer.enqueue("default", {
    task: "note",
    payload: null,
    queue: "default",
    priority: 4,
    runAt: null,
    policy: {},
    labels: {},
  });

async function startWorker(): Promise<void> {
  worker = new Worker({
    transport: new LocalTransport(
      live(() => host.engine.gateway),
      { namespace: "default", nodeId: () => host.engine.nodeId },
    ),
    timers: { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate },
    tasks: [{ name: "note", run: (_payload, { fence }) => void fences.push(fence) }],
    name: "w",
    queues: ["default"],
    slots: 1,
  });
  await worker.start();
}

/** As after a failover: the rows name another timeline than the server. */
const loseHistory = () =>
  database.query({ text: "update carillon.setting set value = '1.1.00000001' where name = 'database_timeline'" });

it("a new engine takes over after the history was lost, its worker registers again, and the old engine reaches the rows no more [INV-2]", async () => {
  await startWorker();
  const old = host.engine;
  const before = old.nodeId;
  await enqueue();
  await eventually(async () => fences.length === 1);
  await loseHistory();
  await eventually(async () => host.held !== null && host.held !== old);
  expect(host.engine.nodeId).not.toBe(before);
  await expect(old.namespaces.list({ pageSize: 1 })).rejects.toMatchObject({ code: "database_unavailable" });
  await eventually(async () => enqueue().then(() => true));
  await eventually(async () => fences.length >= 2);
  expect(fences[0]).toBe(1);
  expect(fences[1]).toBeGreaterThan(2 ** 32);
  expect(events.filter(({ type }) => type === "database.timeline_changed")).toHaveLength(1);
});

it("a call during the replacement is refused as database_unavailable, and a handle of before stays refused [INV-2]", async () => {
  const handle = database.inHistory();
  database.history.leave(null);
  await expect(database.query({ text: "select 1" })).rejects.toMatchObject({ code: "database_unavailable" });
  await database.waitUntilUp();
  expect((await database.query({ text: "select 1 as one" })).rows).toEqual([{ one: 1 }]);
  for (const call of [handle, handle.hot, handle.reserved])
    await expect(call.query({ text: "select 1" })).rejects.toMatchObject({ code: "database_unavailable" });
  await expect(handle.transaction(async () => undefined)).rejects.toMatchObject({ code: "database_unavailable" });
  await eventually(async () => host.held !== null);
});
