import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { Condition, type ConditionScope } from "@carillon/condition";

const scope: ConditionScope = { output: "dyn", status: "string", attempt: "int" };
const given = {
  output: { rows: 5, ratio: 0.5, list: [1, 2, 3], none: null, constructor: 3, text: "long ago" },
  status: "succeeded",
  attempt: 2,
};

function errorOf(source: string): CarillonError {
  try {
    throw new Error(`accepted: ${new Condition(source, scope).source}`);
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
}

describe("a condition", () => {
  it.each([
    ["output.rows > 3", true],
    ["output.rows == 5 && status == 'succeeded'", true],
    ["attempt < 2", false],
    ["has(output.missing)", false],
    ["has(output.none) && output.none == null", true],
    ["output.list.all(x, x > 0)", true],
    ["output.list.exists(x, x in [7, 8])", false],
    ["size(output.list) == 3 && output.text.startsWith('long')", true],
    ["output.constructor == 3", true],
    ["int(output.rows) + attempt == 7", true],
  ])("evaluates %s to %s", (source, holds) => {
    expect(new Condition(source, scope).holds(given)).toEqual({ ok: true, holds });
  });

  it.each([
    ["rows > 3", "character 1: Unknown variable: rows"],
    ["status + 1 == 'a'", "no such overload: string + int"],
    ["status ==", "character 10: Unexpected token: EOF"],
    ["size(output)", "its result is of type int, not true or false"],
    ["status.matches('(a+)+$')", "the function matches is not allowed"],
    ["cel.bind(a, status + status, a == '')", "the function bind is not allowed"],
    ["b'x' == bytes(status)", "the function bytes is not allowed"],
    ["output.all(a, a.all(b, b.all(c, c)))", "iterations nest more than 2 deep"],
  ])("refuses the condition %s with %s and the names that are allowed", (source, detail) => {
    const error = errorOf(source);
    expect(error.code).toBe("condition_invalid");
    expect(error.message).toContain(detail);
    expect(error.message).toContain("CEL over output, status, attempt");
  });

  it("refuses a condition that is too long or has too many nodes", () => {
    expect(errorOf(`status == "${"x".repeat(2_000)}"`).message).toContain("at most 1024 are allowed");
    expect(
      errorOf(
        Array.from({ length: 200 }, () => "attempt>1")
          .join("&&")
          .slice(0, 1_019),
      ).code,
    ).toBe("condition_invalid");
  });

  it.each([
    "output.missing == 1",
    "output.toString == 1",
    "output.__proto__ == 1",
    "output.rows + 1 > 2",
    "output.rows",
  ])("cannot evaluate %s, and reaches no prototype", (source) => {
    expect(new Condition(source, scope).holds(given)).toMatchObject({ ok: false });
  });

  it("reads only own members, also those that are named like members of a prototype", () => {
    const output: unknown = JSON.parse('{"__proto__": {"a": 1}, "constructor": {"b": 2}}');
    expect(new Condition("has(output.a)", scope).holds({ ...given, output })).toEqual({ ok: true, holds: false });
    expect(new Condition("output['__proto__'].a == 1", scope).holds({ ...given, output })).toEqual({
      ok: true,
      holds: true,
    });
  });

  it("evaluates a name without a value as null", () => {
    expect(new Condition("output == null", scope).holds({ status: "failed", attempt: 1 })).toEqual({
      ok: true,
      holds: true,
    });
  });

  it("refuses large data, at a smaller size the deeper iterations nest", () => {
    const output = Array.from({ length: 20_000 }, (_, index) => index);
    const once = new Condition("output.all(x, x >= 0)", scope).holds({ ...given, output });
    expect(once).toMatchObject({ ok: false, why: expect.stringContaining("more than 10000 values") as string });
    const twice = new Condition("output.all(x, x in output)", scope).holds({ ...given, output: output.slice(0, 600) });
    expect(twice).toMatchObject({ ok: false, why: expect.stringContaining("more than 500 values") as string });
    expect(new Condition("size(output) == 20000", scope).holds({ ...given, output })).toEqual({
      ok: true,
      holds: true,
    });
  });

  it("refuses data that nests too deep", () => {
    let output: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) output = [output];
    expect(new Condition("size(output) == 1", scope).holds({ ...given, output }).ok).toBe(false);
  });
});
