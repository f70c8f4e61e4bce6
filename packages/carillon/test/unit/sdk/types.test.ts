import { describe, expect, expectTypeOf, it } from "vitest";
import {
  carillon,
  type Enqueued,
  type LibraryApp,
  NonRetryableError,
  type RemoteApp,
  RetryAfterError,
  SnoozeError,
  type StandardSchema,
  task,
  type TaskContext,
  type TaskInput,
  type TaskOutput,
} from "../../../src/index.js";

/** Takes what a form sends, and makes a number of it. */
declare const schema: StandardSchema<{ n: string }, { n: number }>;

// These are judged by the compiler: nothing here is called.
const checked = () => task({ name: "checked", payload: schema, run: ({ n }) => ({ twice: n * 2 }) });
const plain = () => task({ name: "plain", run: async (payload: { to: string }, ctx) => [payload.to, ctx.attempt] });
const untyped = () => task({ name: "untyped", run: (payload) => payload });
const batch = () =>
  task({ name: "batch", payload: schema, runBatch: (items) => items.map(({ payload }) => payload.n) });
type Of<Make extends () => unknown> = ReturnType<Make>;

describe("the types of tasks", () => {
  it("take the payload and the output from the schema and from the handler", () => {
    expectTypeOf<TaskInput<Of<typeof checked>>>().toEqualTypeOf<{ n: string }>();
    expectTypeOf<TaskOutput<Of<typeof checked>>>().toEqualTypeOf<{ twice: number }>();
    expectTypeOf<TaskInput<Of<typeof plain>>>().toEqualTypeOf<{ to: string }>();
    expectTypeOf<TaskOutput<Of<typeof plain>>>().toEqualTypeOf<(string | number)[]>();
    expectTypeOf<TaskInput<Of<typeof untyped>>>().toEqualTypeOf<unknown>();
    expectTypeOf<TaskInput<Of<typeof batch>>>().toEqualTypeOf<{ n: string }>();
    expectTypeOf<TaskOutput<Of<typeof batch>>>().toEqualTypeOf<number>();
  });

  it("refuse a handler that does not fit the schema, both kinds of handlers, and neither", () => {
    const wrong = () => [
      // @ts-expect-error the schema makes a number of it
      task({ name: "x", payload: schema, run: ({ n }: { n: string }) => n }),
      // @ts-expect-error one or the other
      task({ name: "x", run: () => 1, runBatch: () => [1] }),
      // @ts-expect-error nothing to run
      task({ name: "x" }),
      // @ts-expect-error no such backoff
      task({ name: "x", retry: { backoff: "sometimes" }, run: () => 1 }),
    ];
    expect(wrong).toBeTypeOf("function");
  });

  it("give handlers a context that says what it has", () => {
    expectTypeOf<TaskContext["signal"]>().toEqualTypeOf<AbortSignal>();
    expectTypeOf<TaskContext["idempotencyKey"]>().toEqualTypeOf<string>();
    const used = (ctx: TaskContext) => ({
      loaded: ctx.checkpoint.load<number>(),
      saved: ctx.checkpoint.save(1),
      progress: ctx.progress(0.4, "12k rows"),
      charged: ctx.step("charge", () => 5),
      once: ctx.once("key", async () => "done"),
      said: ctx.log.info("text", { rows: 1 }),
    });
    expectTypeOf<ReturnType<typeof used>>().toEqualTypeOf<{
      loaded: Promise<number | undefined>;
      saved: Promise<void>;
      progress: void;
      charged: Promise<number>;
      once: Promise<string>;
      said: void;
    }>();
  });
});

describe("the types of apps", () => {
  it("are a server's or the engine's, by what they are given", () => {
    expectTypeOf(carillon).toBeCallableWith();
    const made = () => ({
      far: carillon({ url: "http://x", token: "t" }),
      here: carillon({ databaseUrl: "postgres://x", schema: "mine", roles: ["enqueue"], migrate: false }),
      either: carillon(),
    });
    type Made = ReturnType<typeof made>;
    expectTypeOf<Made["far"]>().toEqualTypeOf<RemoteApp>();
    expectTypeOf<Made["here"]>().toEqualTypeOf<LibraryApp>();
    expectTypeOf<Made["either"]>().toEqualTypeOf<LibraryApp | RemoteApp>();
    const wrong = () => [
      // @ts-expect-error no such role
      carillon({ databaseUrl: "x", roles: ["rule"] }),
      // @ts-expect-error a server has no schema
      carillon({ url: "http://x", schema: "mine" }),
    ];
    expect(wrong).toBeTypeOf("function");
  });

  it("take the payloads of tasks and no others, and a transaction only where one can be", () => {
    const used = (
      far: RemoteApp,
      here: LibraryApp,
      tx: { query(text: string, values: unknown[]): Promise<never> },
    ) => ({
      far: far.enqueue(checked(), { n: "1" }, { delay: "3d", dedupe: { key: "k" } }),
      here: here.enqueue(plain(), { to: "x" }, { tx }),
      many: here.enqueueMany(plain(), [{ payload: { to: "x" }, priority: 9 }]),
      named: far.enqueue("elsewhere", { any: 1 }),
      old: far.addJob(plain(), new Date(0), { to: "x" }),
      weekly: here.schedule(plain(), "weekly", { cron: "0 9 * * MON", timeZone: "Europe/Paris", payload: { to: "x" } }),
      work: here.worker({ tasks: [checked(), plain(), untyped(), batch()], queues: { email: 20 } }).start(),
      listener: here.on(["run.succeeded", "run.failed"], ({ type, task: name }) => `${name} ${type}`),
    });
    expectTypeOf<ReturnType<typeof used>["far"]>().toEqualTypeOf<Promise<Enqueued>>();
    const wrong = (far: RemoteApp, here: LibraryApp) => [
      // @ts-expect-error a payload of another form
      far.enqueue(checked(), { n: 1 }),
      // @ts-expect-error a transaction is nothing that a server far away can join
      far.enqueue(plain(), { to: "x" }, { tx: {} }),
      // @ts-expect-error a payload of another form
      here.schedule(plain(), "weekly", { cron: "0 9 * * MON", payload: { too: "x" } }),
      // @ts-expect-error no such event
      here.on("run.dreamt", () => null),
      // @ts-expect-error no such option
      here.enqueue(plain(), { to: "x" }, { after: "3d" }),
    ];
    expect(wrong).toBeTypeOf("function");
  });
});

describe("what handlers throw", () => {
  it("says when to come again, as a text or in milliseconds", () => {
    expect(new RetryAfterError("30s")).toMatchObject({ afterMs: 30_000, message: "again after 30000 ms" });
    expect(new RetryAfterError(500, "full")).toMatchObject({ afterMs: 500, message: "full" });
    expect(new SnoozeError("1h30m")).toMatchObject({ afterMs: 5_400_000 });
    expect(() => new RetryAfterError("soon")).toThrow(/duration/);
    expect(new NonRetryableError("gone")).toBeInstanceOf(Error);
  });
});
