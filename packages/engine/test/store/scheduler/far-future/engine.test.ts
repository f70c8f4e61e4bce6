import { isRunEnd, type JobSpec } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { LocalTransport, Worker } from "@carillon/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, Engine, type EngineEvent, openDatabase } from "../../../../src/index.js";
import { hostPorts, newId } from "../../../harness/store-harness.js";

/** Short, so that a test need not wait: a job is stored in far_future_run half a second ahead and promoted a quarter of a second ahead. */
const farFutureLimits = { horizonMs: 500, leadMs: 250, scanIntervalMs: 20 };

let database: Database;
let drop: () => Promise<void>;
let engines: Engine[];
let workers: Worker[];
let events: EngineEvent[];
let watchers: { holds: () => boolean; resolve: () => void }[];

beforeEach(async () => {
  [engines, workers, events, watchers] = [[], [], [], []];
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
});

afterEach(async () => {
  for (const worker of workers) await worker.stop(0);
  for (const engine of engines) await engine.stop();
  await database.close();
  await drop();
});

function onEvent(event: EngineEvent): void {
  events.push(event);
  for (const watcher of watchers) if (watcher.holds()) watcher.resolve();
}

function until(holds: () => boolean): Promise<void> {
  return holds() ? Promise.resolve() : new Promise((resolve) => watchers.push({ holds, resolve }));
}

async function startEngine(farFuture: object = farFutureLimits): Promise<Engine> {
  const node = { name: "test", address: null, version: "0" };
  const engine = new Engine({ database, ...hostPorts, newId, node, alone: true, onEvent, limits: { farFuture } });
  await engine.start();
  engines.push(engine);
  return engine;
}

async function startWorker(engine: Engine): Promise<void> {
  const transport = new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId });
  const timers = { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate };
  const tasks = [{ name: "work", run: (payload: unknown) => payload }];
  const worker = new Worker({ transport, timers, tasks, name: "w", queues: ["default"], slots: 5 });
  workers.push(worker);
  await worker.start();
}

const once = (fromNowMs: number): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: { n: 1 },
  schedule: { kind: "at", at: Math.ceil(database.clock.now()) + fromNowMs },
  policy: {},
  labels: {},
});

const countFarFuture = async (): Promise<number> =>
  (await database.query({ text: "select from carillon.far_future_run" })).rowCount;

describe("far-future jobs", () => {
  it("a far-future job is shown as scheduled, is promoted in time, and starts at its time, not before [INV-5]", async () => {
    const engine = await startEngine();
    await startWorker(engine);
    const job = await engine.jobs.create("default", once(800));
    expect(job).toMatchObject({ state: "active", lastRun: { status: "scheduled" } });
    expect(await countFarFuture()).toBe(1);
    await until(() => events.filter(isRunEnd).length === 1);
    expect(await countFarFuture()).toBe(0);
    const run = await engine.runs.get("default", job.id);
    expect(run).toMatchObject({ status: "succeeded", output: { n: 1 }, createdAt: job.createdAt });
    expect(run?.startedAt).toBeGreaterThanOrEqual(job.nextRunAt ?? Number.POSITIVE_INFINITY);
    expect(events.find((event) => event.type === "runs.promoted")).toMatchObject({ count: 1 });
  });

  it("far-future jobs that became due while every node was stopped run after the start, and the others keep waiting [INV-6]", async () => {
    const before = await startEngine({ ...farFutureLimits, horizonMs: 1_000 });
    const specs = [3_600_000, 7_200_000, 86_400_000].map(once);
    const jobs = await Promise.all(specs.map((spec) => before.jobs.create("default", spec)));
    await before.stop();
    await database.query({ text: "update carillon.far_future_run set run_at = run_at - interval '3 hours'" });
    const after = await startEngine();
    await startWorker(after);
    await until(() => events.filter(isRunEnd).length === 2);
    const runs = await Promise.all(jobs.map((job) => after.runs.get("default", job.id)));
    expect(runs.map((run) => run?.status)).toEqual(["succeeded", "succeeded", "scheduled"]);
    expect(await countFarFuture()).toBe(1);
  });

  it("a far-future job that is committed after its time is found by the full scan [INV-6]", async () => {
    const engine = await startEngine({ ...farFutureLimits, fullScanIntervalMs: 50 });
    await startWorker(engine);
    const job = await engine.jobs.create("default", once(86_400_000));
    await database.query({ text: "update carillon.far_future_run set run_at = now() - interval '1 minute'" });
    await until(() => events.filter(isRunEnd).length === 1);
    expect((await engine.runs.get("default", job.id))?.status).toBe("succeeded");
  });
});
