import { describe, expect, it } from "vitest";
import { faultsOf, PayloadReader } from "../../../src/index.js";

function read(payload: unknown): unknown {
  const reader = new PayloadReader("demo", payload);
  const inner = reader.object("limits");
  const result = {
    name: reader.requiredText("name", { max: 5 }),
    wait: reader.duration("wait", 60_000),
    tags: reader.list("tags", 2),
    most: inner?.whole("most", 1, 3),
  };
  reader.end();
  return result;
}

describe("the payload reader", () => {
  it("reads a valid payload", () => {
    expect(read({ name: "a", wait: "2s", tags: "x", limits: { most: 3 } })).toEqual({
      name: "a",
      wait: 2_000,
      tags: ["x"],
      most: 3,
    });
  });

  it("refuses unknown rules of a text", () => {
    const reader = new PayloadReader("demo", { name: "a" });
    expect(() => reader.text("name", { maxLength: 5 } as never)).toThrow(
      'PayloadReader.text("name"): maxLength is not an option. The options are max, pattern, words.',
    );
  });

  it.each([
    [null, [["/name", "is required"]]],
    [
      "text",
      [
        ["", "must be an object"],
        ["/name", "is required"],
      ],
    ],
    [{ name: "too long" }, [["/name", "must have at most 5 characters"]]],
    [{ name: "a", limits: { most: 4 } }, [["/limits/most", "must be a whole number from 1 to 3"]]],
    [{ name: "a", limits: { mots: 1 } }, [["/limits/mots", "is not known; did you mean most?"]]],
    [{ name: "a", tags: ["x", "y", "z"] }, [["/tags", "must have at most 2 entries"]]],
    [{ name: "a", "a/b": 1 }, [["/a~1b", "is not known"]]],
  ])("reports the faults of %j and their places", (payload, expected) => {
    expect(faultsOf(read, payload).map(({ pointer, message }) => [pointer, message])).toEqual(expected);
  });
});
