import * as fc from "fast-check";
import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { isSound, soundPart } from "../../../src/check/check-value.js";
import { Findings } from "../../../src/check/findings.js";
import { checkOptions } from "../../../src/check/check-options.js";
import { instantOf, type Option, option } from "../../../src/check/option.js";

const schema = option.object(
  {
    delay: option.duration("3d", { minMs: 1_000, maxMs: 86_400_000 }),
    at: option.time,
    count: option.required(option.whole(1, 9)),
    ratio: option.number(0, 1),
    mode: option.oneOf(["all", "any"]),
    on: option.flag,
    done: option.callable<() => void>(),
    names: option.list(option.text({ minLength: 1 }), { maxItems: 2 }),
    labels: option.record(option.text(), { propertyNames: { type: "string", pattern: "^[a-z]+$" } }),
    inner: option.object({ maxTries: option.whole(1), minTries: option.whole(1) }, { examples: [{ maxTries: 3 }] }),
  },
  {
    title: "Options",
    hints: { tries: "Write inner: { maxTries: 3 }.", wait: (value) => `Write delay: "${String(value)}s".` },
  },
);

function refusal(value: unknown, code?: "config_invalid"): CarillonError {
  try {
    checkOptions(schema, value, { name: "app.go", subject: "mail", ...(code && { code }) });
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
  throw new Error("the options are accepted");
}

describe("the options of a call", () => {
  it.each<[string, unknown, string, string]>([
    ["a misspelt name", { count: 1, dealy: "3d" }, "unknown_field", "dealy is not an option. Did you mean delay?"],
    [
      "snake case inside an option",
      { count: 1, inner: { max_tries: 3 } },
      "unknown_field",
      "inner.max_tries is not an option. Did you mean inner.maxTries?",
    ],
    [
      "a name of another system",
      { count: 1, tries: 3 },
      "unknown_field",
      "tries is not an option. Write inner: { maxTries: 3 }.",
    ],
    [
      "a name whose value the hint needs",
      { count: 1, wait: 5 },
      "unknown_field",
      'wait is not an option. Write delay: "5s".',
    ],
    [
      "a name like none of them",
      { count: 1, colour: 1 },
      "unknown_field",
      "colour is not an option. The options are delay, at, count, ratio, mode, on, done, names, labels, inner.",
    ],
    ["a missing option", { count: undefined }, "field_missing", "count is required."],
    ["a value out of range", { count: 10 }, "field_invalid", "count must be at most 9, not 10."],
    ["a number that is none", { count: 1, ratio: Number.NaN }, "field_invalid", "ratio must be a number, not NaN."],
    ["a bigint", { count: 5n }, "field_invalid", "count must be a whole number, not 5."],
    [
      "another word",
      { count: 1, mode: "al" },
      "field_invalid",
      'mode must be one of all, any, not "al". Did you mean all?',
    ],
    [
      "a number for a duration",
      { count: 1, delay: 30 },
      "field_invalid",
      'delay must be a string such as "3d", not 30.',
    ],
    ["a duration out of range", { count: 1, delay: "2d" }, "duration_invalid", "delay must be from 1s to 1d, not 2d."],
    ["a wrong item", { count: 1, names: ["a", ""] }, "field_invalid", "names[1] must not be empty."],
    ["a text for a function", { count: 1, done: "x" }, "field_invalid", 'done must be a function, not "x".'],
    [
      "a map for an object",
      { count: 1, inner: new Map() },
      "field_invalid",
      'inner must be an object such as {"maxTries":3}, not a Map.',
    ],
    ["nothing", undefined, "field_invalid", "the options must be an object, not undefined."],
    ["a date", new Date(0), "field_invalid", "the options must be an object, not a Date."],
  ])("refuses %s by name", (_what, value, code, sentence) => {
    expect(refusal(value)).toMatchObject({ code, message: `app.go("mail"): ${sentence}` });
  });

  it("names every fault, with the pointer of each, under one code", () => {
    const error = refusal({ count: 0, inner: { max: 1 }, ratio: 2 });
    expect(error.code).toBe("bad_request");
    expect(error.message.split("\n")).toEqual([
      'app.go("mail"): 3 options are wrong.',
      "  - count must be at least 1, not 0.",
      "  - inner.max is not an option. The options are maxTries, minTries.",
      "  - ratio must be at most 1, not 2.",
    ]);
    expect(error.items.map(({ pointer }) => pointer)).toEqual(["/count", "/inner/max", "/ratio"]);
    expect(refusal({ count: 0, ratio: 2 }).code).toBe("field_invalid");
    expect(refusal({ count: 0 }, "config_invalid").code).toBe("config_invalid");
  });

  it("shows the first faults of many, and lists all in the items", () => {
    const many = option.list(option.whole(1));
    const check = () => checkOptions(many, Array(50).fill(0), { name: "app.go", noun: "the items" });
    expect(check).toThrow(/^app\.go\(\): 50 options are wrong\.\n(  - \[\d\] must be at least 1, not 0\.\n){10}  - …$/);
    expect(check).toThrow(expect.objectContaining({ items: expect.objectContaining({ length: 50 }) }));
  });

  it("counts an undefined option as left out, and accepts objects of any class", () => {
    class Given {
      readonly count = 1;
      readonly delay = undefined;
    }
    for (const value of [{ count: 1, delay: undefined, colour: undefined }, new Given()]) {
      expect(() => checkOptions(schema, value, { name: "app.go" })).not.toThrow();
    }
  });

  const values = fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("3d", "2 days", "", "all", "nothing", 0, 1, 9, 10, 0.5, -1, Number.NaN, 1e12, true, null),
    fc.constantFrom<unknown>(undefined, 5n, new Date(0), new Date("x"), ["a"], ["a", ""], ["a", "b", "c"], new Map()),
    fc.constantFrom<unknown>(
      () => undefined,
      { a: "x" },
      { "a b": "x" },
      { maxTries: 1 },
      { maxTries: 0 },
      { other: 1 },
    ),
  );
  const names = fc.constantFrom(...Object.keys(schema.properties ?? {}), "other", "tries");

  it("finds a fault exactly where the checker of requests records one", () => {
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(names, values), values), (value) => {
        expect(isSound(schema, value)).toBe(faultCount(schema, value) === 0);
      }),
      { numRuns: 2_000 },
    );
  });
});

function faultCount(of: Option<unknown>, value: unknown): number {
  const findings = new Findings();
  soundPart(of, value, "", { findings });
  return findings.size;
}

describe("a point in time", () => {
  it("is a Date, text with an offset, or milliseconds", () => {
    const at = Date.UTC(2030, 0, 1, 8);
    for (const given of [new Date(at), "2030-01-01T09:00:00+01:00", at, at + 0.5]) expect(instantOf(given)).toBe(at);
    expect(instantOf("2030-01-01T09:00", "Europe/Paris")).toBe(at);
  });

  it.each<[unknown, string]>([
    [undefined, "milliseconds since 1970, not undefined."],
    [new Date("x"), "not an invalid Date."],
    [Number.NaN, "not NaN."],
    [Number.POSITIVE_INFINITY, "not Infinity."],
    [1_893_484_800, "Is 1893484800, which looks like seconds. Multiply it by 1000"],
    ["2030-01-01T09:00", "has no offset"],
    ["tomorrow", "cannot be parsed"],
    [{}, "not an object."],
  ])("is not %s", (given, message) => {
    expect(() => instantOf(given)).toThrow(expect.objectContaining({ code: "instant_invalid" }));
    expect(() => instantOf(given)).toThrow(message);
  });
});
