import { describe, expect, it } from "vitest";
import { comparable, difference, missing, tableOf } from "../../acceptance/compare.mjs";

describe("the comparison of answers", () => {
  it("finds no difference between answers that differ only in ids, instants, durations and names of the way", () => {
    const one = { id: "job_01k9zq3v5e0r8t2b7n4m6x1c9d", key: "curl-cron", lag_ms: 3, at: "2026-01-01T00:00:00.123Z" };
    const other = { at: "2027-01-01T00:00:00Z", lag_ms: 9, key: "cli-cron", id: "job_02k9zq3v5e0r8t2b7n4m6x1c9d" };
    expect(difference(comparable(one, "curl"), comparable(other, "cli"))).toBeNull();
  });

  it.each([
    [{ a: [1, 2] }, { a: [1, 3] }, "/a/1: 2 and 3"],
    [{ a: null }, {}, "/a: null and undefined"],
    [{ a: [] }, { a: {} }, "/a: [] and {}"],
    [{ id: "job_01k9zq3v5e0r8t2b7n4m6x1c9d" }, { id: "run_01k9zq3v5e0r8t2b7n4m6x1c9d" }, '/id: "<job>" and "<run>"'],
  ])("reports the first difference between %j and %j", (one, other, finding) => {
    expect(difference(comparable(one, "curl"), comparable(other, "cli"))).toBe(finding);
  });

  it("reports the first expected part that an answer lacks, and accepts further members", () => {
    expect(missing({ a: { b: 1, c: 2 } }, { a: { b: 1 } })).toBeNull();
    expect(missing([1, 2], { length: 2 })).toBeNull();
    expect(missing({ a: 1 }, { a: { b: 1 } })).toBe("/a: 1");
    expect(missing({ a: 1 }, { a: 2 })).toBe("/a: 1, not 2");
  });

  it("prints a table with the findings below each row", () => {
    expect(tableOf(["curl", "cli"], [{ title: "pause", cells: [null, "/a: 1 and 2"], seconds: 1 }])).toBe(
      ["action  curl  cli   ", "pause   ok    NOT     1.0 s", "    cli: /a: 1 and 2"].join("\n"),
    );
  });
});
