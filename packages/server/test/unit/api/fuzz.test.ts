import { operations, type Operation } from "@carillon/contract";
import * as fc from "fast-check";
import type { InjectOptions } from "fastify";
import { expect, it } from "vitest";
import { apiUnderTest, json } from "./api-under-test.js";
import type { FakeEngine } from "./fake-engine.js";

/** The same requests in every run, so that a failure is caused by a change; FUZZ_SEED and FUZZ_RUNS give others. */
const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_112);
const numRuns = Number(process.env["FUZZ_RUNS"] ?? 5_000);

const declared: Operation[] = Object.values(operations);

const words = fc.constantFrom(
  "",
  "a",
  "echo",
  "@key",
  "job_01k9zq3v5e0r8t2b7n4m6x1c9d",
  "0190aaaa-0000-7000-8000-000000000001",
  "*/5 * * * *",
  "0 0 30 2 *",
  "15m",
  "PT1H",
  "2026-11-12T09:30:00+01:00",
  "2026-11-12T09:30:00",
  "1900-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "Europe/Paris",
  "Mars/Olympus",
  "exponential",
  "full",
  "pending",
  "a\0b",
  "\ud800",
  "x".repeat(300),
);
const scalar = fc.oneof(
  words,
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const anything = fc.oneof(scalar, fc.jsonValue(), fc.array(scalar, { maxLength: 3 }));

/** Valid values, by field: without them every request would fail at its first field. */
const right: Readonly<Record<string, readonly unknown[]>> = {
  task: ["echo", "sleep"],
  job_type: ["echo"],
  payload: [{ a: [1, "x", null] }, "text", 0],
  key: ["a.b-1", "nightly"],
  cron: ["*/5 * * * *", "0 9 * * MON", "@daily"],
  cron_expression: ["30 2 * * *"],
  every: ["15m", "PT1H"],
  at: ["2026-12-24T18:00:00+01:00"],
  schedule_time: ["2026-11-12T08:00:00Z"],
  delay: ["3d", "0s"],
  time_zone: ["Europe/Paris", "UTC"],
  timezone: ["Asia/Tokyo"],
  jitter: ["10s", "full"],
  starts_at: ["2026-12-01T00:00:00Z"],
  ends_at: ["2027-12-01T00:00:00Z"],
  timeout: ["2m"],
  initial: ["10s"],
  max: ["1h"],
  labels: [{ team: "a" }, {}],
  owner: ["u1"],
  user_id: ["u003"],
  queue: ["mail"],
  non_retryable: [["Teapot"]],
  misfire_threshold: ["5m"],
  catchup_window: ["7d"],
  exclude: [["holidays"], []],
  only: [["workdays"]],
  reason: ["tired"],
  until: ["2026-12-01T00:00:00Z", "2020-01-01T00:00:00Z"],
  for: ["2h"],
  jobs: [[{ task: "echo" }, { task: 5 }], []],
  rules: [[{ weekdays: ["SAT"] }], [{ dates: ["2026-13-01"] }], [{}]],
  from: ["2026-11-01T00:00:00Z", "2026-11-10T00:00:00Z"],
  to: ["2026-11-05T00:00:00Z", "2027-11-05T00:00:00Z"],
  duration: ["2h", "400d"],
};

interface SchemaLike {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, SchemaLike>>;
}

/** Values that mostly fit a schema, with wrong types, values out of range and unknown members mixed in. */
function around(schema: SchemaLike, name = ""): fc.Arbitrary<unknown> {
  const { properties } = schema;
  if (properties !== undefined) return objectAround(properties);
  const good = right[name] ?? schema.enum ?? (schema.const === undefined ? [1, 3] : [schema.const]);
  const edge = schema.type === "integer" ? fc.constantFrom(-1, 0, 9, 10, 1e9, 2 ** 53, 1.5) : words;
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: edge },
    { weight: 1, arbitrary: anything },
  );
}

function objectAround(properties: NonNullable<SchemaLike["properties"]>): fc.Arbitrary<unknown> {
  const names = Object.keys(properties);
  const member = (name: string) => around(properties[name] ?? {}, name);
  const known = fc
    .subarray(names, { maxLength: Math.min(3, names.length) })
    .chain((some) => fc.record(Object.fromEntries(some.map((name) => [name, member(name)]))));
  const withUnknown = fc
    .tuple(known, fc.dictionary(fc.string(), anything, { maxKeys: 2 }))
    .map(([own, other]) => ({ ...own, ...other }));
  return fc.oneof(
    { weight: 12, arbitrary: known },
    { weight: 1, arbitrary: withUnknown },
    { weight: 1, arbitrary: anything },
  );
}

const brokenJson = fc
  .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "\\", "\0", "\u{1f514}", "__proto__"))
  .map(
    ([text, at, inserted]) =>
      text.slice(0, at % (text.length + 1)) + inserted + text.slice((at % (text.length + 1)) + 1),
  );

function bodyOf(operation: Operation): fc.Arbitrary<Pick<InjectOptions, "payload" | "headers">> {
  if (operation.body === undefined) return fc.constant({});
  const isNewJob = operation.body === operations.createJob.body;
  const wellFormed = around(operation.body as SchemaLike).map(
    (value) =>
      JSON.stringify(isNewJob && typeof value === "object" && value !== null ? { task: "echo", ...value } : value) ??
      "",
  );
  const text = fc.oneof(
    { weight: 6, arbitrary: wellFormed },
    { weight: 2, arbitrary: brokenJson },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  );
  const headers = fc.oneof(
    { weight: 9, arbitrary: fc.constant(json) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { "content-type": "text/plain" },
        { "content-type": "application/json; charset=latin1" },
      ),
    },
  );
  return fc.record({ payload: text, headers });
}

const encoded = fc.oneof(
  { weight: 6, arbitrary: words.map((word) => encodeURIComponent(word.replaceAll("\ud800", ""))) },
  { weight: 1, arbitrary: fc.constantFrom("%", "%zz", "%00", "%ff", "..", "%2e%2e", "a%2Fb", "a:b", "//") },
);

function urlOf(operation: Operation): fc.Arbitrary<string> {
  const paths = [operation.path, ...(operation.aliases ?? []).map((alias) => alias.path)];
  const path = fc.tuple(fc.constantFrom(...paths), encoded).map(([pattern, id]) => pattern.replace(/\{\w+\}/, id));
  const names = Object.keys(operation.query?.properties ?? {});
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("page_size", ...names) },
    { weight: 1, arbitrary: encoded },
  );
  const value = fc.oneof(
    encoded,
    fc.integer().map(String),
    fc.constantFrom("1", "50", "1000", "queued", "failed,COMPLETED"),
  );
  const pairs = fc.array(
    fc.tuple(name, value).map((pair) => pair.join("=")),
    { maxLength: 3 },
  );
  const query = fc.oneof(
    { weight: names.length === 0 ? 9 : 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: pairs },
  );
  return fc
    .tuple(path, query)
    .map(([address, parts]) => (parts.length === 0 ? address : `${address}?${parts.join("&")}`));
}

const request: fc.Arbitrary<InjectOptions> = fc
  .oneof(fc.constant<Operation>(operations.createJob), fc.constantFrom(...declared))
  .chain((operation) => {
    const method = fc.oneof(
      { weight: 12, arbitrary: fc.constant(operation.method) },
      { weight: 1, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE") },
    );
    return fc
      .tuple(method, urlOf(operation), bodyOf(operation))
      .map(([verb, url, body]) => ({ ...body, method: verb as "GET", url }));
  });

function stateOf({ jobs, runs, calendars, windows, queues }: FakeEngine): string {
  return JSON.stringify([
    jobs.stored.map(({ id, version }) => [id, version]),
    runs.stored.length,
    [...calendars.stored.values()],
    [...windows.stored.values()],
    [...queues.stored.values()],
  ]);
}

it("answers every request, however invalid, with a declared response and never with 500", async () => {
  const api = apiUnderTest();
  await api.post("/v1/jobs", { task: "echo", schedule: { cron: "0 9 * * *" } });
  await api.post("/v1/jobs", { task: "echo", key: "key", schedule: { every: "1h" } });
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async (sent) => {
      const before = stateOf(api.engine);
      const response = await api.app.inject(sent);
      statuses.set(response.statusCode, (statuses.get(response.statusCode) ?? 0) + 1);
      const isRefused = response.statusCode >= 400;
      expect(api.violations.splice(0)).toEqual([]);
      expect({ isRefused, changed: stateOf(api.engine) !== before }).not.toEqual({ isRefused: true, changed: true });
    }),
    { numRuns, seed },
  );
  // Otherwise too few requests were nearly valid, and the test would prove little.
  const rare = [200, 201, 204, 400, 404, 405, 409, 415, 422].filter((status) => (statuses.get(status) ?? 0) <= 3);
  expect(rare).toEqual([]);
  expect([...statuses.keys()].filter((status) => status >= 500)).toEqual([]);
}, 600_000);
