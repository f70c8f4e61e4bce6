import { runEndEvents } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { recordSpans } from "../../../../worker/test/unit/trace/recorded-spans.js";
import {
  carillon,
  type LibraryApp,
  type LibraryOptions,
  NonRetryableError,
  RetryAfterError,
  type StandardSchema,
  task,
} from "../../../src/index.js";

let url: string;
let drop: () => Promise<void>;
let apps: LibraryApp[];

beforeEach(async () => {
  const fresh = await freshDatabase();
  ({ url } = fresh);
  drop = () => fresh.drop();
  apps = [];
});

afterEach(async () => {
  for (const app of apps) await app.stop();
  await drop();
});

function open(options: LibraryOptions = {}): LibraryApp {
  const app = carillon(options.pool === undefined ? { databaseUrl: url, ...options } : options);
  apps.push(app);
  return app;
}

/** For workers whose handlers fail: without it their errors are printed. */
const onEvent = (): void => undefined;

/** Resolves with the task of the first run that ends with this status. */
const next = (app: LibraryApp, status: keyof typeof runEndEvents) =>
  new Promise<string>((resolve) => {
    const stop = app.on(runEndEvents[status], (event) => {
      stop();
      resolve(event.task);
    });
  });

/** A schema of objects with a number n, which it doubles. */
const doubling: StandardSchema<{ n: number }, { twice: number }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "object" && value !== null && "n" in value && typeof value.n === "number"
        ? { value: { twice: value.n * 2 } }
        : { issues: [{ message: "must be a number", path: ["n"] }] },
  },
};

describe("an app over a database", () => {
  it("an app over a database continues the caller's trace in the run, for one call and for many", async () => {
    const recorded = recordSpans();
    onTestFinished(() => recorded.stop());
    const app = open();
    const given: (string | undefined)[] = [];
    const note = task({ name: "note", run: (_payload: null, ctx) => void given.push(ctx.traceparent) });
    await recorded.within("checkout", async () => {
      await app.enqueue(note, null);
      await app.enqueueMany(note, [{ payload: null }, { payload: null }]);
    });
    expect(await app.runOnce({ tasks: [note], queues: { default: 1 } })).toBe(3);
    const spans = recorded.spans();
    const [root] = spans.filter(({ name }) => name === "checkout");
    const runs = spans.filter(({ name }) => name === "run note");
    expect(runs.map(({ traceId }) => traceId)).toEqual(Array.from({ length: 3 }, () => root?.traceId));
    expect(new Set(given.map((place) => place?.slice(36, 52)))).toEqual(new Set(runs.map(({ spanId }) => spanId)));
    const asked = spans.filter(({ name }) => name === "enqueue note");
    expect(asked.map(({ parentId }) => parentId)).toEqual([root?.spanId, root?.spanId]);
  });

  it("an app over a database gives runs to a worker with the required labels and version, and not to spot workers", async () => {
    const app = open();
    const seen: string[] = [];
    const by = (name: string, versions: readonly string[]) =>
      task({ name: "report", weight: 2, versions, run: () => void seen.push(name) });
    const workers = [
      app.worker({ tasks: [by("old", ["1"])], queues: { default: 4 }, labels: { zone: "eu" }, signals: false }),
      app.worker({ tasks: [by("new", ["2"])], queues: { default: 4 }, labels: { zone: "us" }, signals: false }),
      app.worker({ tasks: [by("spot", ["3"])], queues: { default: 4 }, spot: true, signals: false }),
    ];
    for (const worker of workers) await worker.start();
    const run = async (asked: Parameters<LibraryApp["enqueue"]>[2]): Promise<void> => {
      const done = next(app, "succeeded");
      await app.enqueue("report", null, asked);
      await done;
    };
    await run({ taskVersion: "2" });
    await run({ requires: { zone: "eu" } });
    await run({ taskVersion: "3", allowSpot: true });
    expect(seen).toEqual(["new", "old", "spot"]);
  });

  it("a breaker holds the runs of a task for the time of a Retry-After, without spent attempts", async () => {
    const app = open();
    const pay = task({
      name: "pay",
      breaker: { name: "payments" },
      run: () => {
        throw new RetryAfterError("1h", "busy");
      },
    });
    const snoozed = new Promise<number>((resolve) => app.on("run.snoozed", ({ delayMs }) => resolve(delayMs)));
    await app.worker({ tasks: [pay], signals: false, onEvent }).start();
    await app.enqueue(pay, null);
    expect(await snoozed).toBeGreaterThan(3_500_000);
    const pool = new Pool({ connectionString: url, max: 1 });
    const { rows } = await pool.query("select state, state_reason, attempt from carillon.run");
    await pool.end();
    expect(rows).toEqual([{ state: "scheduled", state_reason: "breaker_open", attempt: 0 }]);
  });

  it("an app over a database creates its schema, stores a run and runs it, with one id for callers, handlers and listeners", async () => {
    const app = open();
    const seen: unknown[] = [];
    const hello = task({
      name: "hello",
      run: (payload: { who: string }, ctx) => void seen.push([payload.who, ctx.attempt, ctx.runId]),
    });
    await app.worker({ tasks: [hello], signals: false }).start();
    const done = new Promise((resolve) => app.on(Object.values(runEndEvents), resolve));
    const { id, isNew } = await app.enqueue(hello, { who: "you" });
    expect([id, isNew]).toEqual([expect.stringMatching(/^run_/), true]);
    expect(await done).toMatchObject({ type: "run.succeeded", task: "hello", runId: id });
    expect(seen).toEqual([["you", 1, id]]);
  });

  it("an app validates payloads when a run is created and again before it runs", async () => {
    const app = open();
    const seen: unknown[] = [];
    const twice = task({ name: "twice", payload: doubling, run: ({ twice: n }) => void seen.push(n) });
    await expect(app.enqueue(twice, { n: "one" } as never)).rejects.toMatchObject({
      code: "payload_invalid",
      items: [{ pointer: "/payload/n", detail: "must be a number" }],
    });
    const failed = next(app, "failed");
    const succeeded = next(app, "succeeded");
    await app.enqueue("twice", { n: "one" });
    await app.enqueue(twice, { n: 4 });
    await app.worker({ tasks: [twice], signals: false, onEvent }).start();
    await Promise.all([failed, succeeded]);
    expect(seen).toEqual([8]);
  });

  it("a batch handler is called once for many runs, and each has its own result", async () => {
    const app = open();
    const sizes: number[] = [];
    const many = task({
      name: "many",
      batchSize: 50,
      runBatch: (items: readonly { payload: number }[]) => {
        sizes.push(items.length);
        return items.map(({ payload }) => (payload % 10 === 0 ? new NonRetryableError("no tens") : payload));
      },
    });
    const enqueued = await app.enqueueMany(
      many,
      Array.from({ length: 100 }, (_, payload) => ({ payload })),
    );
    expect(enqueued.filter(({ isNew }) => isNew)).toHaveLength(100);
    const outcomes: string[] = [];
    app.on(Object.values(runEndEvents), ({ type }) => void outcomes.push(type));
    expect(await app.runOnce({ tasks: [many], queues: { default: 50 }, onEvent })).toBe(100);
    expect(outcomes.filter((type) => type === "run.failed")).toHaveLength(10);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100);
    expect(Math.max(...sizes)).toBeGreaterThan(1);
  });

  it("runOnce runs all due runs, also those that runs create, and leaves later ones", async () => {
    const app = open();
    const seen: number[] = [];
    const chain = task({
      name: "chain",
      run: async (n: number) => {
        seen.push(n);
        if (n > 0) await app.enqueue("chain", n - 1);
      },
    });
    await app.enqueue(chain, 3);
    await app.enqueue(chain, 100, { delay: "1h" });
    expect(await app.runOnce({ tasks: [chain] })).toBe(4);
    expect(seen).toEqual([3, 2, 1, 0]);
  });

  it("schedule keeps one job for each key", async () => {
    const app = open();
    const report = task({ name: "report", queue: "reports", run: () => null });
    const first = await app.schedule(report, "weekly", { cron: "0 9 * * MON", timeZone: "Europe/Paris" });
    const second = await app.schedule(report, "weekly", { every: "1h" });
    expect([first.isNew, second.isNew, second.id]).toEqual([true, false, first.id]);
    expect(first.nextRunAt?.getUTCDay()).toBe(1);
  });

  it("addJob(task, time, payload) creates a run for that time", async () => {
    const app = open();
    const seen: unknown[] = [];
    const hello = task({ name: "hello", run: (payload: unknown) => void seen.push(payload) });
    await app.addJob(hello, new Date(), "now");
    await app.addJob("hello", new Date(Date.now() + 3_600_000), "later");
    expect(await app.runOnce({ tasks: [hello] })).toBe(1);
    expect(seen).toEqual(["now"]);
  });

  it("addJob takes text and milliseconds as well, and schedule takes wall times in its time zone", async () => {
    const app = open();
    const seen: unknown[] = [];
    const hello = task({ name: "hello", run: (payload: unknown) => void seen.push(payload) });
    await app.addJob(hello, Date.now(), "milliseconds");
    await app.addJob(hello, new Date().toISOString(), "text");
    await app.addJob(hello, Date.now() + 3_600_000, "later");
    expect(await app.runOnce({ tasks: [hello] })).toBe(2);
    expect(new Set(seen)).toEqual(new Set(["milliseconds", "text"]));
    const { nextRunAt } = await app.schedule(hello, "once", { at: "2031-01-01T09:00", timeZone: "Europe/Paris" });
    expect(nextRunAt).toEqual(new Date("2031-01-01T08:00:00Z"));
    const startsAt = Date.UTC(2031, 0, 1);
    const recurring = await app.schedule(hello, "hourly", { every: "1h", startsAt });
    expect(recurring.nextRunAt).toEqual(new Date(startsAt));
  });

  it("options of a run win over those of its task, and wrong ones are refused by name", async () => {
    const app = open();
    const mail = task({
      name: "mail",
      queue: "mail",
      priority: 7,
      retry: { maxAttempts: 2 },
      timeout: "1m",
      run: () => null,
    });
    const pool = new Pool({ connectionString: url, max: 1 });
    await app.enqueue(mail, null, { priority: 9, labels: { a: "b" }, dedupe: { key: "k" } });
    expect(await app.enqueue(mail, null, { dedupe: { key: "k" } })).toMatchObject({ isNew: false });
    const { rows } = await pool.query("select queue, priority, policy, labels from carillon.run");
    await pool.end();
    expect(rows).toEqual([
      { queue: "mail", priority: 9, policy: { retry: { maxAttempts: 2 }, timeoutMs: 60_000 }, labels: { a: "b" } },
    ]);
    await expect(app.enqueue(mail, null, { delay: "soon" })).rejects.toMatchObject({ code: "duration_invalid" });
  });
});

describe("what an app takes of its surroundings", () => {
  it("an app uses three connections at most, and none after it was stopped", async () => {
    const outsider = new Pool({ connectionString: url, max: 1, application_name: "outsider" });
    const count = async (): Promise<number> =>
      (
        await outsider.query(
          "select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'carillon'",
        )
      ).rows[0].n;
    const app = open();
    const work = task({ name: "work", run: () => null });
    await app.worker({ tasks: [work], signals: false }).start();
    await Promise.all(Array.from({ length: 200 }, () => app.enqueue(work, null)));
    expect(await count()).toBeLessThanOrEqual(3);
    await app.stop();
    while ((await count()) > 0);
    await outsider.end();
  });

  it("an app may use the application's own pool, which stays open, and a schema of another name", async () => {
    const pool = new Pool({ connectionString: url, max: 3 });
    const app = open({ pool, schema: "jobs" });
    const work = task({ name: "work", run: () => "done" });
    await app.enqueue(work, null);
    expect(await app.runOnce({ tasks: [work] })).toBe(1);
    await app.stop();
    expect((await pool.query("select status from jobs.run_history")).rows).toEqual([{ status: "succeeded" }]);
    await pool.end();
  });

  it.each([1, 2])("an app works with a pool of %i, without LISTEN", async (max) => {
    const pool = new Pool({ connectionString: url, max });
    // The database may be dropped while connections of the ended pool still close.
    pool.on("error", () => undefined);
    const app = open({ pool });
    const work = task({ name: "work", run: () => null });
    await app.schedule(work, "often", { every: "1s" });
    const done = next(app, "succeeded");
    await app.worker({ tasks: [work], signals: false }).start();
    await Promise.all(Array.from({ length: 20 }, (_, n) => app.enqueue(work, n, { dedupe: { key: `${n % 7}` } })));
    expect(await done).toBe("work");
    await app.stop();
    await pool.end();
  });

  it("an app that only enqueues runs nothing; another process does", async () => {
    const web = open({ roles: ["enqueue"] });
    const work = task({ name: "work", run: () => null });
    await web.enqueue(work, null, { delay: "50ms" });
    expect(() => web.worker({ tasks: [work] })).toThrow(expect.objectContaining({ code: "config_invalid" }));
    const worker = open({ migrate: false });
    const done = next(worker, "succeeded");
    await worker.worker({ tasks: [work], signals: false }).start();
    expect(await done).toBe("work");
  });

  it("an app that only enqueues uses the defaults that a worker registered; invalid defaults are refused at the worker's start", async () => {
    const app = open();
    const mail = task({ name: "mail", queue: "mail", priority: 7, timeout: "1m", run: () => null });
    const odd = task({ name: "odd", sla: { startWithin: "2h", finishWithin: "1h" }, run: () => null });
    const start = app.worker({ tasks: [mail, odd], signals: false }).start();
    await expect(start).rejects.toMatchObject({
      code: "config_invalid",
      message:
        'task("odd"): sla.startWithin must not be longer than finishWithin, because a run starts before it ends.',
    });
    const worker = app.worker({ tasks: [mail], signals: false });
    await worker.start();
    await worker.stop();
    await open({ roles: ["enqueue"], migrate: false }).enqueue("mail", null, { priority: 9 });
    const pool = new Pool({ connectionString: url, max: 1 });
    const { rows } = await pool.query("select queue, priority, policy from carillon.run");
    await pool.end();
    expect(rows).toEqual([{ queue: "mail", priority: 9, policy: { timeoutMs: 60_000 } }]);
  });

  it("an app with migrate: false is refused if the schema is missing", async () => {
    await expect(open({ migrate: false }).enqueue("work", null)).rejects.toMatchObject({ code: "schema_too_old" });
  });

  it("an app needs exactly one place, in options or in the environment", () => {
    for (const options of [{}, { url: "http://a", databaseUrl: "postgres://a/b" }]) {
      expect(() => carillon(options as LibraryOptions)).toThrow(expect.objectContaining({ code: "config_invalid" }));
    }
  });
});

describe("runs that handlers create", () => {
  const query = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> => {
    const pool = new Pool({ connectionString: url });
    const { rows } = await pool.query<Row>(text, values);
    await pool.end();
    return rows;
  };

  const children = (parent: string) =>
    query<{ payload: string }>(
      `select payload::text from carillon.run_history
       where policy ->> 'parent' = (select id::text from carillon.run_history where task = $1) order by payload::text`,
      [parent],
    );

  it("creates each run once, although the first attempt failed after it had created some", async () => {
    const app = open();
    const leaf = task({ name: "leaf", run: ({ n }: { n: number }) => n });
    const made: boolean[][] = [];
    const parent = task({
      name: "parent",
      retry: { initial: "1ms" },
      run: async (_payload: null, ctx) => {
        const one = await ctx.enqueue(leaf, { n: 1 });
        const byKey = await ctx.enqueue(leaf, { n: 2 }, { key: "two", priority: 9 });
        if (ctx.attempt === 1) {
          made.push([one.isNew, byKey.isNew]);
          throw new Error("the first attempt fails");
        }
        const many = await ctx.enqueueMany(leaf, [{ payload: { n: 3 } }, { payload: { n: 4 }, key: "four" }]);
        made.push([one, byKey, ...many].map(({ isNew }) => isNew));
      },
    });
    await app.enqueue(parent, null);
    // Both attempts of the parent, and the leaves.
    while ((await app.runOnce({ tasks: [parent, leaf], onEvent })) > 0);
    expect(made).toEqual([
      [true, true],
      [false, false, true, true],
    ]);
    expect((await children("parent")).map(({ payload }) => payload)).toEqual([
      '{"n":1}',
      '{"n":2}',
      '{"n":3}',
      '{"n":4}',
    ]);
  });

  it("schedules itself again from its own handler, in the trace of the first run", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const app = open();
    const seen: number[] = [];
    const countdown = task({
      name: "countdown",
      run: async ({ n }: { n: number }, ctx) => {
        seen.push(n);
        if (n > 0) await ctx.enqueue("countdown", { n: n - 1 });
      },
    });
    await app.start();
    await query("select carillon.enqueue('countdown', '{\"n\": 2}', policy => $1)", [JSON.stringify({ traceparent })]);
    while ((await app.runOnce({ tasks: [countdown], onEvent })) > 0);
    expect(seen).toEqual([2, 1, 0]);
    const rows = await query<{ trace: string }>(
      "select distinct split_part(policy ->> 'traceparent', '-', 2) as trace from carillon.run_history",
    );
    expect(rows).toEqual([{ trace: "0af7651916cd43dd8448eb211c80319c" }]);
  });

  it("refuses a key beside dedupe, and a payload that its task does not take, without a retry of the key", async () => {
    const app = open();
    const strict = task({ name: "strict", payload: doubling, run: () => null });
    const errors: string[] = [];
    const parent = task({
      name: "parent",
      run: async (_payload: null, ctx) => {
        for (const attempt of [
          () => ctx.enqueue(strict, { n: 1 }, { key: "k", dedupe: { key: "d" } }),
          () => ctx.enqueue(strict, { n: "x" as unknown as number }),
          () => ctx.enqueue("carillon:x", null),
        ])
          await attempt().catch((error: Error) => errors.push(error.message));
      },
    });
    await app.enqueue(parent, null);
    await app.runOnce({ tasks: [parent, strict], onEvent });
    expect(errors).toEqual([
      "A run that a handler creates has either key or dedupe. Leave out one of the two.",
      "The payload does not fit the task strict: /payload/n: must be a number.",
      expect.stringContaining("carillon:x"),
    ]);
  });
});
