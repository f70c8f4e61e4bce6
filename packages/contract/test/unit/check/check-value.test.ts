import * as fc from "fast-check";
import { Type, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { checkValue } from "../../../src/check/check-value.js";
import { isReadByParser } from "../../../src/formats.js";
import { Findings } from "../../../src/check/findings.js";
import { JobCreate } from "../../../src/resources/job-create.js";
import { JobPatch } from "../../../src/resources/job-patch.js";
import { JobListQuery } from "../../../src/resources/job.js";
import { RunListQuery } from "../../../src/resources/run.js";

function faultsOf(schema: TSchema, value: unknown): string[] {
  const findings = new Findings();
  checkValue(schema, value, { findings });
  try {
    findings.raise();
    return [];
  } catch (error) {
    return (error as { items: { pointer: string; detail: string }[] }).items.map(
      (item) => `${item.pointer}: ${item.detail}`,
    );
  }
}

const Thing = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 3, pattern: "^[a-z]*$" }),
    size: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 2 })),
    inner: Type.Optional(Type.Object({ on: Type.Optional(Type.Boolean()) }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);

describe("checking a value against its schema", () => {
  it("shows an example of the right value, or that an object takes no fields", () => {
    expect(faultsOf(JobCreate, { task: "echo", timeout: 30 })).toEqual([
      '/timeout: Must be a string such as "2m", not 30.',
    ]);
    const Nothing = Type.Object({}, { additionalProperties: false });
    expect(faultsOf(Nothing, { wait: 1 })).toEqual(['/wait: "wait" is not a field. There are none here.']);
  });

  it("reports every fault of a value at once, each with its pointer", () => {
    expect(faultsOf(Thing, { name: "A", size: 10, tags: ["a", 5], inner: { on: "yes", "a/b~c": 1 } })).toEqual([
      '/name: Must be of the form ^[a-z]*$, not "A".',
      "/size: Must be at most 9, not 10.",
      "/tags/1: Must be a string, not 5.",
      '/inner/on: Must be true or false, not "yes".',
      '/inner/a~1b~0c: "a/b~c" is not a field. The fields here are on.',
    ]);
  });

  it("reports a required member that is missing", () => {
    expect(faultsOf(Thing, {})).toEqual(["/name: name is required."]);
  });

  it("asks a caller who sends null to leave the member out", () => {
    expect(faultsOf(Thing, { name: null })).toEqual(["/name: Must be a string. Leave it out instead of sending null."]);
  });

  it("suggests the field that a misspelled one resembles", () => {
    expect(faultsOf(Thing, { name: "a", szie: 1 })).toEqual(['/szie: "szie" is not a field. Did you mean size?']);
  });

  it("measures the length of a text in characters, not in UTF-16 code units", () => {
    const Short = Type.String({ maxLength: 3 });
    expect(faultsOf(Short, "🔔🔔🔔")).toEqual([]);
    expect(faultsOf(Short, "🔔🔔🔔🔔")).toEqual([": Is 4 characters long; at most 3 are allowed."]);
  });

  it("returns the sound part of a value with faults", () => {
    const findings = new Findings();
    expect(checkValue(Thing, { name: "abc", size: -1, inner: { on: true, off: 1 } }, { findings })).toEqual({
      name: "abc",
      inner: { on: true },
    });
    expect(findings.size).toBe(2);
  });

  it.each([
    ["Thing", Thing],
    ["JobCreate", JobCreate],
    ["JobPatch", JobPatch],
    ["JobListQuery", JobListQuery],
    ["RunListQuery", RunListQuery],
  ])("agrees with TypeBox's own validator on %s", (_name, schema) => {
    const oracle = Compile(checkedPart(schema));
    const values = fc.oneof(fc.jsonValue(), nearlyValid(schema));
    fc.assert(
      fc.property(values, (value) => (faultsOf(schema, value).length === 0) === oracle.Check(value)),
      { numRuns: 1_000 },
    );
  });
});

const rulesOfReaders = new Set(["allOf", "anyOf", "oneOf", "if", "then", "else"]);

/** The schema without what readers check: rules between members, and texts that a parser reads. */
function checkedPart<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(checkedPart) as Node;
  if (typeof node !== "object" || node === null) return node;
  const isParsed = "format" in node && isReadByParser(String(node.format));
  const kept = Object.entries(node).filter(
    ([name]) => !rulesOfReaders.has(name) && !(isParsed && (name === "pattern" || name === "format")),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, checkedPart(member)])) as Node;
}

/** Objects with the schema's own members and values around their bounds. */
function nearlyValid(schema: TSchema): fc.Arbitrary<unknown> {
  const { properties } = schema as { properties: Record<string, object> };
  const value = fc.oneof(
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      9,
      10,
      -1,
      1.5,
      "",
      "a",
      "abc",
      "abcd",
      "A-1",
      "exponential",
      "full",
      "and",
    ),
    fc.string({ maxLength: 210, unit: "grapheme" }),
    fc.array(fc.constantFrom("a", 1), { maxLength: 3 }),
    fc.record(
      { on: fc.boolean(), max_attempts: fc.integer({ min: -1, max: 3 }), cron: fc.string() },
      { requiredKeys: [] },
    ),
    fc.dictionary(fc.constantFrom("a", "team", "-x", "a b"), fc.constantFrom("v", "", 5, "\n"), { maxKeys: 3 }),
  );
  const known = Object.fromEntries(Object.keys(properties).map((name) => [name, value]));
  return fc.record(known, { requiredKeys: [] });
}
