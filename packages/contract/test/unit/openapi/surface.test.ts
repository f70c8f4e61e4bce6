import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../src/openapi/document.js";
import { type Json } from "../../../src/openapi/schema-components.js";
import { apiSurface, breachesOf } from "../../../src/openapi/surface.js";
const root = new URL("../../../../../", import.meta.url);

it("keeps what callers rely on: nothing of docs/reference/api-surface.txt is gone, and nothing more is asked for", () => {
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

describe("a change breaks callers", () => {
  it.each<[string, (copy: typeof before) => void]>([
    ["an operation is gone", (copy) => Reflect.deleteProperty(copy.paths, "/v1/things")],
    ["a member of an answer is gone", (copy) => Reflect.deleteProperty(copy.components.schemas.Got.properties, "c")],
    ["a member of a request is gone", (copy) => Reflect.deleteProperty(copy.components.schemas.Ask.properties, "b")],
    ["a type is another", (copy) => void (copy.components.schemas.Got.properties.c.type = "string")],
    ["null is no longer taken", (copy) => void (copy.components.schemas.Ask.properties.b.type = ["string"])],
    ["a value is no longer taken", (copy) => void copy.paths["/v1/things"].post.parameters[0]?.schema.enum.pop()],
    ["a member must be given", (copy) => void copy.components.schemas.Ask.required.push("b")],
    ["a body must be given", (copy) => void (copy.paths["/v1/things"].post.requestBody.required = true)],
    ["a parameter is gone", (copy) => void copy.paths["/v1/things"].post.parameters.pop()],
  ])("when %s", (_, change) => {
    expect(breaches(change)).not.toEqual([]);
  });
});

describe("a change breaks nobody", () => {
  it.each<[string, (copy: typeof before) => void]>([
    [
      "a member of an answer is new",
      (copy) => Object.assign(copy.components.schemas.Got.properties, { d: { type: "string" } }),
    ],
    [
      "a member of a request is new",
      (copy) => Object.assign(copy.components.schemas.Ask.properties, { e: { type: "string" } }),
    ],
    ["an answer always has a member", (copy) => void copy.components.schemas.Got.required.push("d")],
    ["nothing must be given any more", (copy) => void copy.components.schemas.Ask.required.pop()],
    ["an operation is new", (copy) => Object.assign(copy.paths, { "/v1/others": { post: operation } })],
  ])("when %s", (_, change) => {
    expect(breaches(change)).toEqual([]);
  });
});
