import * as fc from "fast-check";
import type { DocumentedOperation } from "./from-document.js";
import { edges, fitting, known, others } from "./values.js";

export const mutations = ["none", "types", "bounds", "unknown", "encodings", "broken"] as const;
export type Mutation = (typeof mutations)[number];

/** A request before its ids are filled in. */
export interface DrawnRequest {
  readonly operation: string;
  readonly mutation: Mutation;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload?: string | Buffer;
}

const pathWords: Readonly<Record<string, readonly string[]>> = {
  jobs: [known.job, "@nightly", "@a.b-1"],
  runs: [known.run],
  "dead-letters": [known.run],
  operations: [known.op],
  backfills: [known.bkf],
  workers: [known.wrk],
  queues: ["mail", "default"],
  calendars: ["holidays"],
  "maintenance-windows": ["nights"],
};
const wrongWords = ["", "job_", "@", "x".repeat(400), "a b", "run_01k9zq3v5e0r8t2b7n4m6x1c9d", "..", "null"];
const wrongEncodings = ["%", "%zz", "%00", "%ff", "%c0%af", "..%2f..", "a%2Fb", "a:b", "//", "%ED%A0%80"];

export function requestOf(operation: DocumentedOperation, mutation: Mutation): fc.Arbitrary<DrawnRequest> {
  return fc
    .record({ url: urlOf(operation, mutation), content: contentOf(operation, mutation), key: keyHeader })
    .map(({ url, content, key }) => ({
      operation: operation.id,
      mutation,
      method: operation.method,
      url,
      ...content,
      headers: { ...content.headers, ...(operation.method === "POST" ? key : {}) },
    }));
}

const keyHeader = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Record<string, string>>({}) },
  { weight: 1, arbitrary: fc.constantFrom("k1", "k2", "k3").map((key) => ({ "idempotency-key": key })) },
  { weight: 1, arbitrary: fc.constantFrom("", "x".repeat(400)).map((key) => ({ "idempotency-key": key })) },
);

function urlOf({ path, parameters }: DocumentedOperation, mutation: Mutation): fc.Arbitrary<string> {
  const noun = path.split("/")[2] ?? "";
  const good = pathWords[noun] ?? ["a"];
  const word =
    mutation === "encodings"
      ? fc.constantFrom(...wrongEncodings)
      : mutation === "bounds"
        ? fc.constantFrom(...good, ...wrongWords.map(encodeURIComponent))
        : fc.oneof(
            { weight: 9, arbitrary: fc.constantFrom(...good) },
            { weight: 1, arbitrary: fc.constant("unserved") },
          );
  const named = parameters.filter((one) => one.in === "query");
  const pair = fc.constantFrom(...(named.length === 0 ? [null] : named)).chain((one): fc.Arbitrary<string> => {
    if (one === null) return fc.constant("");
    const value = mutation === "bounds" ? fc.constantFrom(...edges) : fitting(one.schema, one.name);
    return value.map((given) => `${one.name}=${encoded(given)}`);
  });
  const extra = mutation === "unknown" ? ["surprise=1", "page_size=1&page_size=2", "%00=1"] : [""];
  return fc.tuple(word, fc.array(pair, { maxLength: 2 }), fc.constantFrom(...extra)).map(([id, pairs, more]) => {
    const query = [...pairs, more].filter((part) => part !== "").join("&");
    return `${path.replaceAll(/\{\w+\}/g, id)}${query === "" ? "" : `?${query}`}`;
  });
}

function encoded(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return encodeURIComponent(text.replaceAll("\ud800", ""));
}

type Content = Pick<DrawnRequest, "headers" | "payload">;
const json = { "content-type": "application/json" };

function contentOf({ body }: DocumentedOperation, mutation: Mutation): fc.Arbitrary<Content> {
  if (body === undefined) {
    return mutation === "unknown"
      ? fc.constantFrom<Content>({ headers: {} }, { headers: json, payload: '{"surprise":1}' })
      : fc.constant({ headers: {} });
  }
  const value = fitting(body);
  if (mutation === "types")
    return fc
      .tuple(value, fc.nat(), fc.constantFrom(...others))
      .map(changedLeaf)
      .map(asJson);
  if (mutation === "bounds")
    return fc
      .tuple(value, fc.nat(), fc.constantFrom(...edges))
      .map(changedLeaf)
      .map(asJson);
  if (mutation === "unknown") return fc.tuple(value, fc.nat()).map(withUnknown).map(asJson);
  if (mutation === "encodings") return fc.tuple(value.map(asText), fc.nat(), fc.nat(4)).map(badlyEncoded);
  if (mutation === "broken") return fc.tuple(value.map(asText), fc.nat(), brokenBits).map(brokenText);
  return value.map(asJson);
}

function asText(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function asJson(value: unknown): Content {
  return { headers: json, payload: asText(value) };
}

/** Every position in the value, the value itself included. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))];
}

function replaced(value: unknown, [first, ...rest]: readonly string[], by: unknown): unknown {
  if (first === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, at) => (String(at) === first ? replaced(item, rest, by) : item));
  const members = value as Record<string, unknown>;
  return { ...members, [first]: replaced(members[first], rest, by) };
}

function changedLeaf([value, pick, by]: [unknown, number, unknown]): unknown {
  const places = placesOf(value);
  return replaced(value, places[pick % places.length] ?? [], by);
}

function withUnknown([value, pick]: [unknown, number]): unknown {
  const names = ["surprise", "id", "created_at", "Task", "payload ", "constructor", "toString"];
  return typeof value === "object" && value !== null ? { ...value, [names[pick % names.length] ?? "x"]: 1 } : value;
}

function badlyEncoded([text, at, how]: [string, number, number]): Content {
  const bytes = Buffer.from(text);
  const place = at % (bytes.length + 1);
  const cut = (inserted: readonly number[]): Buffer =>
    Buffer.concat([bytes.subarray(0, place), Buffer.from(inserted), bytes.subarray(place)]);
  if (how === 0) return { headers: json, payload: cut([0xff]) };
  if (how === 1) return { headers: json, payload: cut([0xed, 0xa0, 0x80]) };
  if (how === 2) return { headers: { "content-type": "text/plain" }, payload: text };
  if (how === 3) return { headers: { "content-type": "application/json; charset=utf-16" }, payload: text };
  return { headers: json, payload: Buffer.from(`\ufeff${text}`, "utf16le") };
}

const brokenBits = fc.constantFrom(
  "",
  ",",
  "}",
  '"',
  "\\",
  "\0",
  "[",
  "__proto__",
  "NaN",
  "1e999",
  '{"a":'.repeat(100),
);

function brokenText([text, at, inserted]: [string, number, string]): Content {
  const place = at % (text.length + 1);
  return { headers: json, payload: text.slice(0, place) + inserted + text.slice(place + 1) };
}
