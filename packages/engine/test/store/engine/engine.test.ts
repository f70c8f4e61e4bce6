import { LocalTransport, SnoozeError, type Task, Worker } from "@carillon/worker";
import { isRunEnd, type JobSpec } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, Engine, type EngineEvent, openDatabase } from "../../../src/index.js";
import { hostPorts, newId } from "../../harness/store-harness.js";

let database: Database;
let engine: Engine;
let drop: () => Promise<void>;
let events: EngineEvent[];
let watchers: { holds: () => boolean; resolve: () => void }[];
let workers: Worker[];

function onEvent(event: EngineEvent): void {
  events.push(event);
  for (const watcher of watchers) if (watcher.holds()) watcher.resolve();
  watchers = watchers.filter((watcher) => !watcher.holds());
}

/** Resolves when that many runs have ended. */
function untilEnds(times = 1): Promise<void> {
  const holds = (): boolean => events.filter(isRunEnd).length >= times;
  return holds() ? Promise.resolve() : new Promise((resolve) => watchers.push({ holds, resolve }));
}

beforeEach(async () => {
  [events, watchers, workers] = [[], [], []];
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
  const node = { name: "test", address: null, version: "0" };
  engine = new Engine({ database, ...hostPorts, newId, node, alone: true, onEvent });
  await engine.start();
});

afterEach(async () => {
  for (const worker of workers) await worker.stop(0);
  await engine.stop();
  await database.close();
  await drop();
});

async function startWorker(...tasks: Task[]): Promise<Worker> {
  return startWorkerOf(["default"], ...tasks);
}

async function startWorkerOf(queues: string[], ...tasks: Task[]): Promise<Worker> {
  const transport = new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId });
  const timers = { ...hostPorts.timers, monotonic: hostPorts.clock.monotonic, soon: setImmediate };
  const worker = new Worker({ transport, timers, tasks, name: "w", queues, slots: 5 });
  workers.push(worker);
  await worker.start();
  return worker;
}

const spec = (over: Partial<JobSpec>): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: { n: 1 },
  schedule: { kind: "at", at: database.clock.now() },
  policy: {},
  labels: {},
  ...over,
});

const echo: Task = { name: "work", run: (payload) => payload };

describe("the life of a job", () => {
  it("a job that is due now runs at once, and its id names the job and the run [INV-6]", async () => {
    await startWorker(echo);
    const created = await engine.jobs.create("default", spec({ labels: { a: "b" }, owner: "me" }));
    await untilEnds();
    const job = await engine.jobs.get("default", { id: created.id });
    const run = await engine.runs.get("default", created.id);
    expect(job).toMatchObject({
      id: created.id,
      state: "completed",
      lastRun: { status: "succeeded" },
      labels: { a: "b" },
      owner: "me",
    });
    expect(run).toMatchObject({ id: created.id, jobId: created.id, status: "succeeded", output: { n: 1 }, attempt: 1 });
    expect(run?.startedAt).toBeGreaterThanOrEqual(run?.runAt ?? Number.POSITIVE_INFINITY);
  });

  it("a delayed job does not start before its time by the database's clock [INV-5]", async () => {
    await startWorker(echo);
    const at = Math.ceil(database.clock.now()) + 300;
    const created = await engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    expect(created.lastRun?.status).toBe("scheduled");
    await untilEnds();
    const run = await engine.runs.get("default", created.id);
    expect(run?.startedAt).toBeGreaterThanOrEqual(at);
  });

  it("the cancel of a waiting run emits an event in every waiting state, and so does a replacement", async () => {
    const at = database.clock.now() + 60_000;
    const waiting = await engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    const far = await engine.jobs.create("default", spec({ schedule: { kind: "at", at: at + 3_600_000 } }));
    const manual = { schedule: { kind: "manual" }, firing: { overlap: "allow" } } as const;
    const kept = await engine.jobs.create("default", spec(manual));
    const asked = await engine.jobs.runNow("default", { id: kept.id }, {}, { actor: null });
    const run = { task: "work", queue: "default", priority: 4, payload: null, policy: {}, labels: {}, runAt: null };
    const dedupe = { key: "k", on: "replace", windowMs: null } as const;
    const receipt = { keep: async () => undefined };
    const [first, second] = [
      await engine.enqueuer.enqueue("default", { ...run, dedupe }),
      await engine.enqueuer.enqueue("default", { ...run, dedupe }),
      await engine.enqueuer.enqueueMany("default", [{ ...run, dedupe }], receipt),
    ];
    const request = { running: "signal" } as const;
    for (const { id } of [waiting, far, kept]) await engine.jobs.cancel("default", { id }, request, { actor: null });
    const ended = events.flatMap((event) => (isRunEnd(event) ? [[event.runId, event.type]] : []));
    expect(ended).toEqual([first, second, waiting, far, asked].map(({ id }) => [id, "run.cancelled"]));
  });

  it("a recurring job fires once per instant and reports its lateness [INV-1]", async () => {
    await startWorker(echo);
    const anchor = Math.ceil(database.clock.now());
    const schedule = { kind: "every", everyMs: 1_000, anchor, maxRuns: 2 } as const;
    const job = await engine.jobs.create("default", spec({ schedule }));
    await untilEnds(2);
    const { rows } = await engine.runs.list("default", { jobId: job.id }, { pageSize: 50 });
    const nominals = rows.map((run) => run.trigger.scheduledFor - anchor).toReversed();
    expect(nominals).toHaveLength(2);
    expect((nominals[1] ?? 0) - (nominals[0] ?? 0)).toBe(1_000);
    expect(nominals.every((nominal) => nominal % 1_000 === 0)).toBe(true);
    expect(events.filter((event) => event.type === "run.fired")).toHaveLength(2);
    expect((await engine.jobs.get("default", { id: job.id }))?.state).toBe("completed");
  });

  it("a failing run is retried with a higher fence until it succeeds, and keeps the records of its attempts", async () => {
    const fences: number[] = [];
    const run: Task["run"] = (_payload, context) => {
      fences.push(context.fence);
      if (context.attempt < 3) throw new Error(`attempt ${context.attempt}`);
      return "third time lucky";
    };
    await startWorker({ name: "work", run });
    const policy = { retry: { initialMs: 10, jitter: "none", backoff: "fixed" } } as const;
    const job = await engine.jobs.create("default", spec({ policy }));
    await untilEnds();
    const seen = await engine.runs.get("default", job.id);
    expect(seen).toMatchObject({ status: "succeeded", attempt: 3, output: "third time lucky" });
    expect(seen?.attempts.map((one) => one.error?.message)).toEqual(["attempt 1", "attempt 2"]);
    expect(fences).toEqual([1, 2, 3]);
  });

  it("a run whose error message PostgreSQL cannot store is retried and ends nevertheless [INV-6]", async () => {
    const run: Task["run"] = (_payload, { attempt }) => {
      if (attempt === 1) throw new Error("broken\u0000 answer \ud800");
      return { body: "\u0000\udfff" };
    };
    await startWorker({ name: "work", run });
    const policy = { retry: { initialMs: 10, jitter: "none", backoff: "fixed" } } as const;
    const job = await engine.jobs.create("default", spec({ policy }));
    await untilEnds();
    const seen = await engine.runs.get("default", job.id);
    expect(seen).toMatchObject({ status: "succeeded", attempt: 2, output: { body: "\ufffd\ufffd" } });
    expect(seen?.attempts[0]?.error?.message).toBe("broken\ufffd answer \ufffd");
  });

  it("a snoozed run waits without spending an attempt", async () => {
    let calls = 0;
    await startWorker({
      name: "work",
      run: (_payload, { attempt }) => {
        calls += 1;
        if (calls < 3) throw new SnoozeError(10);
        return attempt;
      },
    });
    const job = await engine.jobs.create("default", spec({ policy: { retry: { maxAttempts: 1 } } }));
    await untilEnds();
    expect(await engine.runs.get("default", job.id)).toMatchObject({ status: "succeeded", attempt: 1, output: 1 });
    expect(calls).toBe(3);
  });

  it("a run that failed for good shows its errors", async () => {
    await startWorker({
      name: "work",
      run: () => {
        throw new TypeError("bad input");
      },
    });
    const job = await engine.jobs.create("default", spec({ policy: { retry: { maxAttempts: 1 } } }));
    await untilEnds();
    const expected = {
      status: "failed",
      statusReason: "handler_error",
      error: { type: "TypeError", message: "bad input" },
    };
    expect(await engine.runs.get("default", job.id)).toMatchObject(expected);
  });

  it("a job is found by its key, and a second job with the same key is refused", async () => {
    await engine.jobs.create("default", spec({ key: "nightly", schedule: { kind: "manual" } }));
    const twin = async (): Promise<void> => {
      const second = engine.jobs.create("default", spec({ key: "nightly", schedule: { kind: "manual" } }));
      await expect(second).rejects.toMatchObject({ code: "key_taken" });
    };
    await Promise.all([twin(), twin(), twin()]);
    expect(await engine.jobs.get("default", { key: "nightly" })).toMatchObject({ key: "nightly", state: "active" });
  });

  it("a job for an instant long ago is refused", async () => {
    const schedule = { kind: "at", at: database.clock.now() - 2 * 86_400_000 } as const;
    await expect(engine.jobs.create("default", spec({ schedule }))).rejects.toMatchObject({
      code: "schedule_in_past",
    });
  });
});

describe("lists", () => {
  it("the list of jobs shows stored jobs and one-off jobs in pages, newest first, each once", async () => {
    const ids: string[] = [];
    const at = database.clock.now() + 3_600_000;
    for (let i = 0; i < 11; i++) {
      const schedule = i % 2 === 0 ? ({ kind: "at", at } as const) : ({ kind: "manual" } as const);
      ids.push((await engine.jobs.create("default", spec({ schedule }))).id);
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await engine.jobs.list(
        "default",
        {},
        after === undefined ? { pageSize: 4 } : { pageSize: 4, after },
      );
      seen.push(...page.rows.map((job) => job.id));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual(ids.toReversed());
  });

  it("the list of jobs filters by the status that it shows", async () => {
    await startWorker(echo);
    const done = await engine.jobs.create("default", spec({}));
    await untilEnds();
    const at = database.clock.now() + 3_600_000;
    const later = await engine.jobs.create("default", spec({ schedule: { kind: "at", at } }));
    const ids = async (status: "completed" | "scheduled"): Promise<string[]> =>
      (await engine.jobs.list("default", { status: [status] }, { pageSize: 10 })).rows.map((job) => job.id);
    expect(await ids("completed")).toEqual([done.id]);
    expect(await ids("scheduled")).toEqual([later.id]);
  });
});

describe("a worker of every queue", () => {
  it("a worker of every queue gets the runs of a queue that was created later, at once and under constant load", async () => {
    await startWorkerOf(["*"], echo);
    const first = await engine.jobs.create("default", spec({ queue: "mail" }));
    await untilEnds();
    expect((await engine.runs.get("default", first.id))?.status).toBe("succeeded");
    const later = await Promise.all(
      ["pdf", "mail", "sms"].map((queue) => engine.jobs.create("default", spec({ queue }))),
    );
    await untilEnds(4);
    const runs = await Promise.all(later.map((job) => engine.runs.get("default", job.id)));
    expect(runs.map((run) => run?.status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

describe("a worker that stops", () => {
  it("a stopping worker gives back its unfinished runs, and another worker executes them without a spent attempt [INV-6]", async () => {
    let started: () => void = () => undefined;
    const hasStarted = new Promise<void>((resolve) => (started = resolve));
    const stuck: Task = {
      name: "work",
      run: () => {
        started();
        return new Promise(() => undefined);
      },
    };
    const first = await startWorker(stuck);
    const job = await engine.jobs.create("default", spec({}));
    await hasStarted;
    await first.stop(0);
    expect((await engine.runs.get("default", job.id))?.status).toBe("queued");
    await startWorker(echo);
    await untilEnds();
    expect(await engine.runs.get("default", job.id)).toMatchObject({ status: "succeeded", attempt: 1, losses: 0 });
  });
});

describe("a node's clock", () => {
  it("is measured from the start on, and the engine emits each measurement", async () => {
    await new Promise<void>((resolve) =>
      watchers.push({ holds: () => events.some((event) => event.type === "clock.measured"), resolve }),
    );
    const measured = events.find((event) => event.type === "clock.measured");
    expect(Math.abs(measured?.skewMs ?? Number.NaN)).toBeLessThan(60_000);
    expect(measured?.uncertaintyMs).toBeGreaterThan(0);
  });
});
