import { describe, expect, it } from "vitest";
import { afterTrigger, repeatedIdOf, upstreamIdsOf } from "../../../src/runs/run-reader.js";

describe("the trigger of a run that others started", () => {
  it("names the last that was needed first, and of several all in their order", () => {
    expect(afterTrigger("b", ["b"])).toBe("after:b");
    expect(afterTrigger("b", ["a", "b", "c"])).toBe("after:b:a:b:c");
  });

  it.each([
    ["after:b", ["b"]],
    ["after:b:a:b:c", ["a", "b", "c"]],
    ["schedule", []],
    ["run_now:b", []],
    ["retry:b", []],
  ])("%s was started by %j", (trigger, ids) => {
    expect(upstreamIdsOf(trigger)).toEqual(ids);
  });

  it.each([
    ["retry:a", "a"],
    ["replay:a:b", "a"],
    ["after:a", null],
    ["once", null],
  ])("%s was made from %s", (trigger, id) => {
    expect(repeatedIdOf(trigger)).toBe(id);
  });
});
