import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Json, openApiDocument } from "../../../src/openapi/document.js";
import { apiSurface, breachesOf } from "../../../../../scripts/generate/surface.mjs";

const root = new URL("../../../../../", import.meta.url);

it("keeps every line of docs/reference/api-surface.txt and requires no new members", () => {
  const promised = readFileSync(new URL("docs/reference/api-surface.txt", root), "utf8").trimEnd().split("\n");
  expect(breachesOf(promised, apiSurface(openApiDocument("0")))).toEqual([]);
});

const operation = {
  parameters: [{ name: "status", in: "query", required: false, schema: { type: "string", enum: ["a", "b"] } }],
  requestBody: { required: false, content: { "application/json": { schema: { $ref: "#/components/schemas/Ask" } } } },
  responses: { "200": { content: { "application/json": { schema: { $ref: "#/components/schemas/Got" } } } } },
};
const before = {
  paths: { "/v1/things": { post: operation } },
  components: {
    schemas: {
      Ask: { type: "object", properties: { a: { type: "string" }, b: { type: ["string", "null"] } }, required: ["a"] },
      Got: { type: "object", properties: { c: { type: "integer" } }, required: ["c"] },
    },
  },
};

/** The document with one change. */
function changed(change: (copy: typeof before) => void): { readonly [name: string]: Json } {
  const copy = structuredClone(before);
  change(copy);
  return copy;
}

const breaches = (change: (copy: typeof before) => void): string[] =>
  breachesOf(apiSurface(changed(() => undefined)), apiSurface(changed(change)));

describe("a change that breaks callers", () => {
  it.each<[string, (copy: typeof before) => void]>([
    ["an operation is removed", (copy) => Reflect.deleteProperty(copy.paths, "/v1/things")],
    ["a member of an answer is removed", (copy) => Reflect.deleteProperty(copy.components.schemas.Got.properties, "c")],
    ["a member of a request is removed", (copy) => Reflect.deleteProperty(copy.components.schemas.Ask.properties, "b")],
    ["a type is replaced", (copy) => void (copy.components.schemas.Got.properties.c.type = "string")],
    ["null is no longer accepted", (copy) => void (copy.components.schemas.Ask.properties.b.type = ["string"])],
    ["a value is no longer accepted", (copy) => void copy.paths["/v1/things"].post.parameters[0]?.schema.enum.pop()],
    ["a member becomes required", (copy) => void copy.components.schemas.Ask.required.push("b")],
    ["a body becomes required", (copy) => void (copy.paths["/v1/things"].post.requestBody.required = true)],
    ["a parameter is removed", (copy) => void copy.paths["/v1/things"].post.parameters.pop()],
  ])("reports a breach when %s", (_, change) => {
    expect(breaches(change)).not.toEqual([]);
  });
});

describe("a change that breaks no caller", () => {
  it.each<[string, (copy: typeof before) => void]>([
    [
      "a member of an answer is added",
      (copy) => Object.assign(copy.components.schemas.Got.properties, { d: { type: "string" } }),
    ],
    [
      "a member of a request is added",
      (copy) => Object.assign(copy.components.schemas.Ask.properties, { e: { type: "string" } }),
    ],
    ["a member of an answer becomes required", (copy) => void copy.components.schemas.Got.required.push("d")],
    ["a required member of a request becomes optional", (copy) => void copy.components.schemas.Ask.required.pop()],
    ["an operation is added", (copy) => Object.assign(copy.paths, { "/v1/others": { post: operation } })],
  ])("reports no breach when %s", (_, change) => {
    expect(breaches(change)).toEqual([]);
  });
});
