import * as fc from "fast-check";
import { resolved, type SchemaNode } from "./from-document.js";

/** Stands for the id of an existing thing, which is filled in when the request is sent. */
export const known = {
  job: "KNOWN-job",
  run: "KNOWN-run",
  op: "KNOWN-op",
  bkf: "KNOWN-bkf",
  wrk: "KNOWN-wrk",
} as const;

/** Valid values, by name: without them every request would fail at its first field. */
const right: Readonly<Record<string, readonly unknown[]>> = {
  task: ["echo", "sleep"],
  job_type: ["echo"],
  payload: [{ a: [1, "x", null] }, "text", 0, null],
  key: ["a.b-1", "nightly"],
  cron: ["*/5 * * * *", "0 9 * * MON", "@daily"],
  cron_expression: ["30 2 * * *"],
  every: ["15m", "PT1H"],
  at: ["2030-12-24T18:00:00+01:00"],
  run_at: ["2030-12-24T18:00:00+01:00"],
  schedule_time: ["2030-11-12T08:00:00Z"],
  delay: ["3d", "0s"],
  time_zone: ["Europe/Paris", "UTC"],
  timezone: ["Asia/Tokyo"],
  jitter: ["10s"],
  starts_at: ["2026-01-01T00:00:00Z"],
  ends_at: ["2036-12-01T00:00:00Z"],
  timeout: ["2m"],
  initial: ["10s"],
  max: ["1h"],
  window: ["1h"],
  labels: [{ team: "a" }, {}],
  label_selector: ["team=a", "team in (a,b),!x"],
  owner: ["u1"],
  user_id: ["u1"],
  queue: ["mail", "default"],
  status: ["pending", "failed,COMPLETED", "queued"],
  created_after: ["2020-01-01T00:00:00Z"],
  created_before: ["2040-01-01T00:00:00Z"],
  failed_after: ["2020-01-01T00:00:00Z"],
  failed_before: ["2040-01-01T00:00:00Z"],
  reason: ["tired"],
  until: ["2036-12-01T00:00:00Z"],
  for: ["2h"],
  from: ["2026-01-01T00:00:00Z"],
  to: ["2026-01-05T00:00:00Z"],
  duration: ["2h"],
  job_id: [known.job],
  worker_id: [known.wrk],
  ids: [[known.run], [known.run, known.run]],
  version: [1],
  page_size: [1, 50, 1_000_000],
  page_token: [],
  wait: ["1ms", "0s"],
  wait_ms: [0, 1],
  follow: ["false"],
  force: [true, false],
  dry_run: [true, false],
};

/** The edge cases of every type. */
export const edges: readonly unknown[] = [
  "",
  " ",
  "a\0b",
  "\ud800",
  "\u{1f514}",
  "x".repeat(300),
  "x".repeat(5_000),
  "1900-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "99999999d",
  "-5m",
  "* * * * * * *",
  "Mars/Olympus",
  -1,
  0,
  1.5,
  1e9,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  [],
  Array.from({ length: 1_001 }, () => "a"),
];

/** Values of another type than the schema's. */
export const others: readonly unknown[] = [null, true, 7, "text", [], {}, [[]], { a: { b: 1 } }, ["a", 1]];

const depthLimit = 5;

/** Values that fit the schema, as far as the schema is precise. */
export function fitting(node: SchemaNode, name = "", depth = 0): fc.Arbitrary<unknown> {
  const schema = resolved(node);
  const good = right[name];
  if (good !== undefined && good.length > 0) return fc.constantFrom(...good);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => fitting(one, name, depth + 1)));
  if (schema.properties !== undefined) return fittingObject(schema, depth);
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (type === "array") {
    const item = depth > depthLimit ? fc.constant("a") : fitting(schema.items ?? {}, "", depth + 1);
    return fc.array(item, { minLength: 1, maxLength: 2 });
  }
  if (type === "integer" || type === "number") {
    return fc.constantFrom(schema.minimum ?? 1, Math.min(schema.maximum ?? 3, 3));
  }
  if (type === "boolean") return fc.boolean();
  if (type === "object") return fc.constant({});
  const examples = schema.examples ?? [];
  return fc.constantFrom(...(examples.length > 0 ? examples : ["a", "echo"]));
}

function fittingObject({ properties = {}, required = [] }: SchemaNode, depth: number): fc.Arbitrary<unknown> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const most = depth > 1 ? 2 : 4;
  return fc.subarray(optional, { maxLength: Math.min(most, optional.length) }).chain((chosen) => {
    const names = [...required, ...(depth > depthLimit ? [] : chosen)];
    return fc.record(Object.fromEntries(names.map((name) => [name, fitting(properties[name] ?? {}, name, depth + 1)])));
  });
}
