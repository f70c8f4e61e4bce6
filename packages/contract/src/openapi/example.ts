import { isObject } from "@carillon/core";
import type { TSchema } from "typebox";

/** Examples by the name of a field, for fields whose schema has none. */
const byName: Readonly<Record<string, unknown>> = {
  name: "default",
  task: "echo",
  tasks: ["echo"],
  queue: "default",
  queues: ["default"],
  key: "nightly-report",
  payload: { hello: "world" },
  output: { sent: true },
  labels: { team: "billing" },
  requires: {},
  detail: "No worker serves task echo.",
  description: "At 09:00, Monday to Friday",
  message: "The mail server refused the connection.",
  stack: null,
  type: "ConnectionError",
  actor: null,
  reason: null,
  ok: true,
  address: "10.0.0.7:8023",
  timeout: "2m",
  deadline: "30m",
  country: "DE",
  url: "https://example.com/hooks/carillon",
  fence: 1,
  slots: 10,
  lag_ms: 12,
  duration_ms: 340,
  per_second: 10,
  concurrency: 10,
  owner: "u003",
  worker_id: "wrk_01k9zq3v5e0r8t2b7n4m6x1c9d",
  next_page_token: null,
  request_id: "req_01k9zq3v5e0r8t2b7n4m6x1c9d",
  cron: "0 9 * * MON-FRI",
  time_zone: "Europe/Paris",
  attempt: 1,
  max_attempts: 3,
  priority: 4,
  version: 1,
  weight: 1,
  initial: "10s",
  max: "1h",
  factor: 2,
  jitter: "full",
  catchup_limit: 100,
  catchup_rate: 10,
  status_reason: null,
  error: null,
  finished_at: null,
  upstream: [],
  downstream: [],
  warnings: [],
  attempts: [],
  callbacks: [],
  searchable: [],
  non_retryable: [],
  facts: {},
};

interface Node {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly minimum?: number;
  readonly pattern?: string;
}

const maxDepth = 8;

/** A value that fits the schema, from the examples that are declared beside its fields. Fields that may be left out are left out. */
export function exampleOf(schema: TSchema): unknown {
  return example(schema, "", 0);
}

function example(node: Node, name: string, depth: number): unknown {
  const { examples, anyOf, properties, items } = node;
  const [given] = examples ?? [];
  if (given !== undefined) return given;
  if (node.const !== undefined) return node.const;
  if (Object.hasOwn(byName, name) && fits(node, byName[name])) return byName[name];
  if (node.enum !== undefined) return node.enum[0];
  if (node.default !== undefined) return node.default;
  // Of a field that may be null, an object would be long, and null is usual.
  if (anyOf !== undefined) {
    const [first = {}] = anyOf;
    return anyOf.some(isNull) && first.properties !== undefined ? null : example(first, name, depth + 1);
  }
  if (properties !== undefined) return objectExample(node, depth);
  if (items !== undefined) return depth > maxDepth ? [] : [example(items, name.replace(/s$/, ""), depth + 1)];
  return plain(node);
}

function objectExample({ properties = {}, required = [] }: Node, depth: number): unknown {
  const members = required.map((name) => [name, example(properties[name] ?? {}, name, depth + 1)] as const);
  return Object.fromEntries(members);
}

const isNull = ({ type }: Node): boolean => type === "null";

function fits(node: Node, value: unknown): boolean {
  const alternatives = node.anyOf ?? [node];
  return alternatives.some(({ type, enum: words, properties, pattern, items }) => {
    if (words !== undefined) return words.includes(value);
    if (pattern !== undefined && !(typeof value === "string" && new RegExp(pattern, "u").test(value))) return false;
    if (Array.isArray(value)) return type === "array" && (value.length === 0 || items?.type === "string");
    if (isObject(value)) return type === undefined || (type === "object" && properties === undefined);
    if (value === null) return type === "null" || type === undefined;
    if (typeof value === "number") return type === "integer" || type === "number";
    return type === typeof value || (type === undefined && properties === undefined);
  });
}

function plain({ type, minimum = 0 }: Node): unknown {
  switch (typeof type === "string" ? type : type?.[0]) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return minimum;
    case "boolean":
      return false;
    case "object":
      return {};
    case "array":
      return [];
    default:
      return null;
  }
}
