import { existsSync, readFileSync } from "node:fs";
import { errorCatalogue } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { Compile } from "typebox/compile";
import { exampleOf } from "../../../src/openapi/example.js";
import { openApiDocument, SchemaComponents } from "../../../src/openapi/document.js";
import { type Answer, type Operation, takesIdempotencyKey } from "../../../src/operation.js";
import { operations } from "../../../src/operations.js";
import { errorCodes } from "../../../src/resources/problem.js";

const root = new URL("../../../../../", import.meta.url);
const declared: [string, Operation][] = Object.entries(operations);

/**
 * The keywords that check-value understands, those that readers check (formats, and rules between members), and those that only
 * explain. The fuzz test proves that readers check them.
 */
const requestKeywords = new Set(
  "format allOf anyOf oneOf if then minProperties x-minimum-duration x-maximum-duration x-carillon-rules x-each-by-itself type enum const minLength maxLength pattern minimum maximum items minItems maxItems properties required additionalProperties propertyNames maxProperties description title examples default".split(
    " ",
  ),
);

function keywordsOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties = {}, items, additionalProperties, propertyNames, ...own } = schema as Record<string, unknown>;
  const inner = [...Object.values(properties as object), items, additionalProperties, propertyNames];
  return [...Object.keys(own), ...inner.flatMap(keywordsOf)];
}

describe("the OpenAPI document", () => {
  it("equals the committed OpenAPI file (node scripts/generate/openapi.mjs writes it)", () => {
    const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as { version: string };
    const committed: unknown = JSON.parse(readFileSync(new URL("docs/reference/openapi.json", root), "utf8"));
    expect(openApiDocument(version)).toEqual(committed);
  });

  it("defines every schema that the OpenAPI document refers to", () => {
    const document = openApiDocument("0");
    const { schemas } = document["components"] as { schemas: Record<string, unknown> };
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    expect(references.length).toBeGreaterThan(10);
    expect([...new Set(references)].filter((name) => !Object.hasOwn(schemas, name))).toEqual([]);
  });

  it("lists every error code of the catalogue", () => {
    expect(errorCodes.toSorted()).toEqual(Object.keys(errorCatalogue).sort());
  });

  it("refuses two different schemas with the same title", () => {
    const components = new SchemaComponents();
    components.reference({ title: "Thing", type: "string" });
    expect(() => components.reference({ title: "Thing", type: "number" })).toThrow(
      "Two different schemas have the title Thing.",
    );
  });
});

describe("tags of the document", () => {
  const listed = openApiDocument("0")["tags"] as readonly { name: string; description: string; "x-guide": string }[];

  it.each(listed.map((tag) => [tag.name, tag] as const))(
    "the tag %s has a description and an existing guide",
    (_, tag) => {
      expect(tag.description).toMatch(/^[A-Z].*\.$/);
      expect(existsSync(new URL(tag["x-guide"], root))).toBe(true);
    },
  );
});

describe("examples in the document", () => {
  const bodies = declared.flatMap(([id, { body, bodyOptional }]) =>
    body === undefined || bodyOptional === true ? [] : [[id, body] as const],
  );
  const answers = declared.flatMap(([id, operation]) =>
    Object.entries(operation.answers).flatMap(([status, { schema, contentType }]: [string, Answer]) =>
      schema === undefined || contentType !== undefined ? [] : [[`${id} ${status}`, schema] as const],
    ),
  );

  it.each([...bodies, ...answers])("the example of %s fits its schema", (_name, schema) => {
    const validator = Compile(schema);
    const example = exampleOf(schema);
    expect(validator.Errors(example).map(({ instancePath, message }) => `${instancePath} ${message}`)).toEqual([]);
  });
});

describe("quotas in the document", () => {
  const { paths } = openApiDocument("0") as unknown as {
    paths: Record<string, Record<string, { responses: Record<string, { headers: object; "x-codes"?: string[] }> }>>;
  };
  const answersOf = ([, { path, method }]: [string, Operation]) => paths[path]?.[method.toLowerCase()]?.responses ?? {};

  it("documents quota headers for exactly the calls that a quota may refuse", () => {
    const refusable = declared.filter((one) => answersOf(one)["429"]?.["x-codes"]?.includes("rate_limited"));
    const free = declared
      .filter((one) => !refusable.includes(one))
      .map(([, { rateClass, permission }]) => [rateClass, permission]);
    expect(new Set(free.map(String))).toEqual(new Set(["worker,workers:serve", "none,public", "write,token"]));
    for (const one of refusable) {
      for (const [status, { headers }] of Object.entries(answersOf(one))) {
        const named = Object.keys(headers).filter((name) => /^(RateLimit|Retry)/.test(name));
        const expected =
          status === "429" ? ["RateLimit-Policy", "RateLimit", "Retry-After"] : ["RateLimit-Policy", "RateLimit"];
        expect([status, named]).toEqual([status, status === "429" || status < "300" ? expected : []]);
      }
    }
  });

  it("lets every POST that writes take an Idempotency-Key", () => {
    const keyed = declared.filter(([, one]) => takesIdempotencyKey(one)).map(([id]) => id);
    expect(keyed).toEqual(expect.arrayContaining(["createRun", "createRuns", "bulkRuns", "purgeQueue", "backfillJob"]));
  });
});

describe("every operation", () => {
  it.each(declared)("the operation %s has a summary, an answer, a permission and errors", (_id, operation) => {
    expect(operation.summary).toMatch(/^[A-Z][^.]+$/);
    expect(Object.values(operation.answers).every((answer) => answer.description !== "")).toBe(true);
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(operation.params?.properties ?? {})).toEqual(inPath);
    const isPublic = operation.permission === "public";
    expect(isPublic && operation.method !== "GET").toBe(false);
    expect(operation.errors.includes("database_unavailable")).toBe(!isPublic);
  });

  it.each(declared)("the operation %s uses only schema keywords that requests are checked for", (_id, operation) => {
    const used = [operation.body, operation.query].flatMap(keywordsOf);
    expect(used.filter((keyword) => !requestKeywords.has(keyword))).toEqual([]);
  });
});
