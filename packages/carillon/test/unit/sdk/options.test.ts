import type { OptionValue } from "@carillon/contract/check";
import type { transactionOptions } from "@carillon/worker";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  carillon,
  type ClientOptions,
  createClient,
  type EnqueueOptions,
  type LibraryOptions,
  type Producer,
  task,
  type TransactionOptions,
} from "../../../src/index.js";
import type { libraryOptions } from "../../../src/sdk/library-options.js";
import { TestKit, type TestKitOptions, type TestRunOptions } from "../../../src/testkit/index.js";
import type { testKitOptions, testRunOptions } from "../../../src/testkit/options.js";

const mail = task({ name: "mail", run: () => null });

/** No call may reach the server or the database: neither is there. */
const unreachable: typeof fetch = async () => {
  throw new Error("the call was sent");
};
const remote = () => carillon({ url: "http://carillon.test", fetch: unreachable });
const library = () => carillon({ databaseUrl: "postgres://127.0.0.1:1/none" });

/** Plain JavaScript: the compiler refuses most of these calls. */
type Loose = { readonly [Name in keyof Producer]: (...given: unknown[]) => unknown };

const calls: readonly [string, (app: Loose) => unknown, string, string][] = [
  [
    "schedule with timezone",
    (app) => app.schedule(mail, "daily", { cron: "0 9 * * *", timezone: "Europe/Paris" }),
    "unknown_field",
    'app.schedule("daily"): timezone is not an option. Did you mean timeZone?',
  ],
  [
    "schedule without options",
    (app) => app.schedule(mail, "daily"),
    "field_invalid",
    'app.schedule("daily"): the options must be an object such as {"cron":"0 9 * * *"}, not undefined.',
  ],
  [
    "schedule without a key",
    (app) => app.schedule(mail, { cron: "0 9 * * *" }),
    "field_invalid",
    "app.schedule(): key must be a string, not an object.",
  ],
  [
    "schedule with a misspelt member of an option",
    (app) => app.schedule(mail, "daily", { cron: "0 9 * * *", calendars: { excludes: ["de-holidays"] } }),
    "unknown_field",
    'app.schedule("daily"): calendars.excludes is not an option. Did you mean calendars.exclude?',
  ],
  [
    "schedule at a time in seconds",
    (app) => app.schedule(mail, "daily", { at: 1_893_484_800 }),
    "instant_invalid",
    'app.schedule("daily"): at is 1893484800, which looks like seconds. Multiply it by 1000: a number counts milliseconds since 1970.',
  ],
  [
    "enqueue with delayy",
    (app) => app.enqueue(mail, null, { delayy: "1h" }),
    "unknown_field",
    'app.enqueue("mail"): delayy is not an option. Did you mean delay?',
  ],
  [
    "enqueue with a date for the options",
    (app) => app.enqueue("mail", null, new Date(0)),
    "field_invalid",
    'app.enqueue("mail"): the options must be an object such as {"delay":"3d"}, not a Date.',
  ],
  [
    "enqueue with another system's name for dedupe",
    (app) => app.enqueue(mail, null, { jobId: "a" }),
    "unknown_field",
    'app.enqueue("mail"): jobId is not an option. Write dedupe: { key: "…" }.',
  ],
  [
    "enqueue without a task",
    (app) => app.enqueue(undefined, null),
    "field_invalid",
    "app.enqueue(): the task must be what task() returned, or the name of a task, not undefined.",
  ],
  [
    "enqueueMany with an unknown option in one item",
    (app) => app.enqueueMany(mail, [{ payload: 1 }, { payload: 2, delayy: "1h" }]),
    "unknown_field",
    'app.enqueueMany("mail"): [1].delayy is not an option. Did you mean [1].delay?',
  ],
  [
    "enqueueMany without a list",
    (app) => app.enqueueMany(mail, { payload: 1 }),
    "field_invalid",
    'app.enqueueMany("mail"): the items must be an array, not an object.',
  ],
  [
    "addJob without a time",
    (app) => app.addJob(mail, undefined, null),
    "instant_invalid",
    'app.addJob("mail"): the time must be a Date, text such as "2026-11-12T09:30:00+01:00", or milliseconds since 1970, not undefined.',
  ],
  [
    "addJob with an invalid Date",
    (app) => app.addJob(mail, new Date("tomorrow"), null),
    "instant_invalid",
    'app.addJob("mail"): the time must be a Date, text such as "2026-11-12T09:30:00+01:00", or milliseconds since 1970, not an invalid Date.',
  ],
  [
    "worker with concurrency",
    (app) => app.worker({ tasks: [mail], concurrency: 5 }),
    "config_invalid",
    "app.worker(): concurrency is not an option. Write queues: { default: 10 }.",
  ],
  [
    "worker with an object that task() did not make",
    (app) => app.worker({ tasks: [{ name: "mail", run: () => null }] }),
    "config_invalid",
    "app.worker(): tasks[0] must be what task() returned, not an object.",
  ],
  [
    "worker without tasks",
    (app) => app.worker({ tasks: [] }),
    "config_invalid",
    "app.worker(): tasks has 0 items; at least 1 is needed.",
  ],
  [
    "worker with two tasks of one name",
    (app) => app.worker({ tasks: [mail, mail] }),
    "config_invalid",
    'app.worker(): tasks: Two tasks are named "mail".',
  ],
  [
    "worker with a queue without slots",
    (app) => app.worker({ tasks: [mail], queues: { mail: 0 } }),
    "config_invalid",
    "app.worker(): queues.mail must be at least 1, not 0.",
  ],
];

describe.each<[string, () => unknown]>([
  ["a server", remote],
  ["a database", library],
])("an app over %s", (_place, open) => {
  it.each(calls)("refuses %s before anything is sent or stored", async (_call, go, code, message) => {
    const app = open() as Loose;
    await expect((async () => go(app))()).rejects.toMatchObject({ name: "CarillonError", code, message });
  });
});

it("an app over a server says that a transaction needs the engine in the process", async () => {
  const app = remote() as Loose;
  const tx = { query: async () => null };
  await expect(app.enqueue(mail, null, { tx })).rejects.toThrow(
    'app.enqueue("mail"): tx is not an option. It works only with the engine in this process: carillon({ databaseUrl }) or carillon({ pool }).',
  );
});

it("an app over a database takes a transaction only if it can send statements", async () => {
  const app = library() as Loose;
  await expect(app.enqueue(mail, null, { tx: "begin" })).rejects.toThrow(
    'app.enqueue("mail"): tx must be a client of pg with an open transaction',
  );
  expect(() => library().on("run.succeeded", undefined as never)).toThrow("the listener must be a function");
  await expect(library().runOnce({ task: [mail] } as never)).rejects.toThrow(
    "task is not an option. Write tasks: [hello].",
  );
});

const run = () => null;

it.each<[string, object, string]>([
  [
    "retries",
    { retries: 3, run },
    "retries is not an option. Write retry: { maxAttempts: 4 }: it counts the first attempt, too.",
  ],
  [
    "snake case",
    { retry: { max_attempts: 2 }, run },
    "retry.max_attempts is not an option. Did you mean retry.maxAttempts?",
  ],
  [
    "a schedule",
    { cron: "0 9 * * *", run },
    'cron is not an option. A task has no schedule. Write app.schedule(task, key, { cron: "0 9 * * *" }).',
  ],
  ["no handler", {}, "run is required: the function that executes the task, such as run: async (payload) => payload."],
  ["two handlers", { run, runBatch: run }, "run and runBatch exclude each other. Leave one of them out."],
  ["a batch size without a batch handler", { run, batchSize: 5 }, "batchSize needs runBatch, and there is none."],
  ["an empty batch", { runBatch: run, batchSize: 0 }, "batchSize must be at least 1, not 0."],
  ["a handler that is no function", { run: "mail.js" }, 'run must be a function, not "mail.js".'],
  [
    "a schema of another kind",
    { run, payload: { type: "object" } },
    "payload must be a Standard Schema, such as z.object({ userId: z.string() }), not an object.",
  ],
  ["a number for a duration", { run, timeout: 30 }, 'timeout must be a string such as "2m", not 30.'],
  ["an invalid duration", { run, timeout: "2 minutes" }, 'timeout: The duration "2 minutes" has a blank'],
  ["no slot", { run, weight: 0 }, "weight must be at least 1, not 0."],
  ["a limit that is a number", { run, concurrency: 5 }, 'concurrency must be an object such as {"limit":5}, not 5.'],
  ["a rate without a window", { run, rateLimit: { limit: 5 } }, "rateLimit.per is required."],
])("task() refuses %s", (_fault, options, sentence) => {
  const make = () => task({ name: "mail", ...options } as never);
  expect(make).toThrow(`task("mail"): ${sentence}`);
  expect(make).toThrow(expect.objectContaining({ code: "config_invalid" }));
});

it("the stack of a refused task begins where task() was called", () => {
  const stackOf = (): string => {
    try {
      task({ name: "mail", run, retries: 3 } as never);
      return "accepted";
    } catch (error) {
      return (error as Error).stack ?? "";
    }
  };
  expect(stackOf().split("\n")[1]).toMatch(/at stackOf .*options\.test\.ts/);
});

it.each<[object, string]>([
  [{ databseUrl: "postgres://b" }, "databseUrl is not an option. Did you mean databaseUrl?"],
  [{ connectionString: "postgres://b" }, "connectionString is not an option. Write databaseUrl."],
  [
    { databaseUrl: "postgres://b", roles: ["worker"] },
    'roles[0] must be one of enqueue, schedule, work, not "worker". Did you mean work?',
  ],
  [
    { databaseUrl: "postgres://b", token: "t" },
    "token is not an option. It belongs to an app over a server: carillon({ url, token }).",
  ],
  [{ url: "localhost:8023" }, 'url must be an address that begins with http:// or https://, not "localhost:8023".'],
  [{ url: "http://a", apiKey: "t" }, "apiKey is not an option. Write token."],
  [{ pool: {} }, "pool must be a pool of pg, not an object."],
])("carillon(%j) is refused", (options, sentence) => {
  expect(() => carillon(options as LibraryOptions)).toThrow(`carillon(): ${sentence}`);
});

describe("the client of the API", () => {
  it("refuses unknown options of a call, which would otherwise be lost", async () => {
    const client = createClient({ url: "http://carillon.test", fetch: unreachable });
    const wrong = (options: object) => options as never;
    expect(() => client.runs.create({ task: "mail" }, wrong({ idempotency_key: "a" }))).toThrow(
      "createRun(): idempotency_key is not an option. Did you mean idempotencyKey?",
    );
    expect(() => client.jobs.get("job_1", wrong({ idempotencyKey: "a" }))).toThrow(
      "getJob(): idempotencyKey is not an option.",
    );
    expect(() => client.runs.get("run_1", wrong({ timeout: 5 }))).toThrow(
      "getRun(): timeout is not an option. Did you mean timeoutMs?",
    );
    await expect(client.events.follow({}, wrong({ singal: null })).next()).rejects.toThrow(
      "events.follow(): singal is not an option. Did you mean signal?",
    );
    expect(() => createClient({ url: "http://a", baseUrl: "x" } as ClientOptions)).toThrow(
      "baseUrl is not an option. Write url.",
    );
  });
});

describe("the test kit", () => {
  it("refuses wrong options of its own", () => {
    expect(() => new TestKit({ task: [mail] } as never)).toThrow("task is not an option. Did you mean tasks?");
  });

  it.each<[string, unknown[], string]>([
    [
      "schedule",
      [mail, "k", { cron: "* * * * *", tz: "UTC" }],
      'kit.schedule("k"): tz is not an option. Write timeZone.',
    ],
    ["enqueue", [mail, null, { dedupe: { key: "k" } }], "The test kit creates every run, so leave it out."],
    [
      "run",
      [mail, null, { upstream: [{ state: "failed" }] }],
      "upstream[0].state is not an option. Did you mean upstream[0].status?",
    ],
    ["advance", [undefined], 'kit.advance(): the duration must be text such as "1h", or milliseconds, not undefined.'],
    ["advanceTo", ["tomorrow"], 'kit.advanceTo(): The time "tomorrow" cannot be parsed'],
  ])("refuses wrong options of %s as an app does", async (name, given, message) => {
    const kit = new TestKit({ tasks: [mail] });
    const loose = kit as unknown as Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
    await expect((async () => loose[name]?.(...given))()).rejects.toThrow(message);
  });
});

type Plain<Type> = { [Name in keyof Type]: Type[Name] };

it("the schemas of options allow the values that the exported types allow, and no others", () => {
  expectTypeOf<OptionValue<typeof libraryOptions>>().toEqualTypeOf<Plain<LibraryOptions>>();
  expectTypeOf<OptionValue<typeof transactionOptions>>().toEqualTypeOf<Plain<EnqueueOptions & TransactionOptions>>();
  expectTypeOf<OptionValue<typeof testKitOptions>>().toEqualTypeOf<Plain<TestKitOptions>>();
  expectTypeOf<OptionValue<typeof testRunOptions>>().toEqualTypeOf<Plain<TestRunOptions>>();
});
