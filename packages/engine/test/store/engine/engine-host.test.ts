import { freshDatabase } from "@carillon/testkit";
import { LocalTransport, Worker } from "@carillon/worker";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "../../../../store/test/store/db/support.js";
import { type Database, Engine, EngineHost, type EngineEvent, live, openDatabase } from "../../../src/index.js";
import { hostPorts, newId } from "../../harness/store-harness.js";

let drop: () => Promise<void>;
let database: Database;
let host: EngineHost;
let worker: Worker | null;
let events: EngineEvent[];
let fences: number[];
let timers: Set<unknown>;
beforeEach(async () => {
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  events = [];
  fences = [];
  timers = new Set();
  database = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
  host = newHost();
  await host.start();
  worker = null;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await worker?.stop(0);
  await host.stop();
  await database.close();
  await drop();
});

function newHost(): EngineHost {
  const node = { name: "a", address: null, version: "0" };
  const onEvent = (event: EngineEvent): void => void events.push(event);
  const limits = { leaseMs: 500 };
  return new EngineHost({ database, ...hostPorts, timers: pending, newId, node, alone: true, onEvent, limits });
}

/** Keeps in `timers` those that have neither fired nor been cleared. */
const pending = {
  setTimeout(callback: () => void, delayMs: number): unknown {
    const timer = setTimeout(() => {
      timers.delete(timer);
      callback();
    }, delayMs);
    timers.add(timer);
    return timer;
  },
  clearTimeout(timer: unknown): void {
    timers.delete(timer);
    clearTimeout(timer as NodeJS.Timeout);
  },
};

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

/** The next host starts its first engine in this way. */
function startFirstEngineBy(starting: (start: () => Promise<void>) => Promise<void>): void {
  const { start } = Engine.prototype;
  vi.spyOn(Engine.prototype, "start").mockImplementationOnce(function (this: Engine) {
    return starting(() => start.call(this));
  });
}

it("a start in which the history is left keeps the engine of the next history, and ends its own [INV-2]", async () => {
  await host.stop();
  host = newHost();
  let next: Engine | null = null;
  startFirstEngineBy(async (start) => {
    await start();
    database.history.leave(null);
    await eventually(async () => host.held !== null);
    next = host.held;
  });
  await host.start();
  expect(host.held).toBe(next);
  await enqueue();
  await host.stop();
  expect(timers.size).toBe(0);
});

it("a start that fails since the history was left stops the engine that replaced its own", async () => {
  await host.stop();
  host = newHost();
  startFirstEngineBy(async (start) => {
    database.history.leave(null);
    await eventually(async () => host.held !== null);
    await start();
  });
  await expect(host.start()).rejects.toMatchObject({ code: "database_unavailable" });
  expect((await database.query({ text: "select 1 from carillon.shard where owner is not null" })).rowCount).toBe(0);
  expect(timers.size).toBe(0);
});

it("a start that fails ends a replacement that is repeated because it fails, too", async () => {
  await host.stop();
  host = newHost();
  const replacementFailed = new Error("the replacement does not start");
  vi.spyOn(Engine.prototype, "start").mockRejectedValue(replacementFailed);
  startFirstEngineBy(async () => {
    database.history.leave(null);
    await eventually(async () => events.some((event) => "error" in event && event.error === replacementFailed));
    throw new Error("the first engine does not start");
  });
  await expect(host.start()).rejects.toThrow("the first engine does not start");
  expect(timers.size).toBe(0);
});

it("a worker whose listener fails and an engine that does not stop are reported, and the engine is replaced", async () => {
  const old = host.engine;
  const lost: string[] = [];
  const listenerFailed = new Error("the listener failed");
  const stopFailed = new Error("the engine did not stop");
  for (const name of ["a", "b"])
    await old.gateway.open({
      namespace: "default",
      name,
      queues: ["default"],
      tasks: ["note"],
      slots: 1,
      nodeId: old.nodeId,
      onAssign: () => undefined,
      onStop: () => undefined,
      onLost: () => {
        lost.push(name);
        if (name === "a") throw listenerFailed;
      },
    });
  const { stop } = Engine.prototype;
  vi.spyOn(Engine.prototype, "stop").mockImplementationOnce(async function (this: Engine) {
    await stop.call(this);
    throw stopFailed;
  });
  database.history.leave(null);
  await eventually(async () => host.held !== null && host.held !== old);
  await enqueue();
  expect(lost).toEqual(["a", "b"]);
  expect(events).toContainEqual({ type: "loop.failed", loop: "workers", error: listenerFailed });
  expect(events).toContainEqual({ type: "loop.failed", loop: "coordinator", error: stopFailed });
});
