import { describe, expect, it } from "vitest";
import { limits } from "../../../src/bounds.js";
import { Findings } from "../../../src/check/findings.js";
import { checkJsonValue, isPlainlySound } from "../../../src/check/read-body.js";

function checked(value: unknown) {
  const findings = new Findings();
  const mayGoOn = checkJsonValue(value, findings);
  return { mayGoOn, faults: findings.size };
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("checking a JSON value before it is stored", () => {
  it.each([[null], [true], ["text 🔔"], [0.1], [-1e300], [1e21], [Number.MAX_SAFE_INTEGER], [[{ a: [] }]]])(
    "accepts the value %j",
    (value) => {
      expect(checked(value)).toEqual({ mayGoOn: true, faults: 0 });
    },
  );

  it.each([
    ["NUL", "a\0b"],
    ["half a surrogate pair", "\ud83d"],
    ["the other half", "x\udd14"],
    ["a number that JSON.parse made infinite", JSON.parse("1e999")],
    ["a whole number that lost its digits", JSON.parse("12345678901234567890")],
    ["NUL in a member's name", { "a\0": 1 }],
  ])("refuses a value with %s", (_what, value) => {
    expect(checked([value])).toEqual({ mayGoOn: true, faults: 1 });
  });

  it("accepts the deepest allowed nesting and refuses one more level", () => {
    expect(checked(nested(limits.jsonDepth))).toEqual({ mayGoOn: true, faults: 0 });
    expect(checked(nested(limits.jsonDepth + 1))).toEqual({ mayGoOn: false, faults: 1 });
  });

  it("stops before it follows half a million levels of nesting", () => {
    expect(checked(JSON.parse("[".repeat(500_000) + "]".repeat(500_000)))).toEqual({ mayGoOn: false, faults: 1 });
  });

  it.each([
    ["NUL", "a\0b"],
    ["half a surrogate pair", "\ud83d"],
    ["NUL in a member's name", { "a\0": 1 }],
    ["a whole number that lost its digits", 2 ** 53],
    ["a negative one", [-(2 ** 53)]],
    ["the longest one", 1e21 - 2 ** 17],
    ["one level too many for its place in a request", nested(limits.jsonDepth)],
  ])("does not call a JSON text plainly sound that holds %s", (_what, value) => {
    expect(checked({ payload: value }).faults).toBe(1);
    expect(isPlainlySound(JSON.stringify(value))).toBe(false);
  });

  it("calls the JSON text of a usual payload plainly sound", () => {
    const value = { name: "été 🔔", "a\nb": [1, -2.5, 1e300, 999_999_999_999_999, null, true], nested: { deep: [{}] } };
    expect(isPlainlySound(JSON.stringify(value))).toBe(true);
    expect(isPlainlySound(JSON.stringify(nested(limits.jsonDepth - 1)))).toBe(true);
  });
});
