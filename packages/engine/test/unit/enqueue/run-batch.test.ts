import { describe, expect, it } from "vitest";
import { jsonArray } from "../../../../store/src/db/parameters.js";
import { type NewRun, alikeRuns } from "../../../../store/src/runs/run-store.js";
import { newRun as run } from "../../harness/new-run.js";

describe("homogeneous batches", () => {
  it("the runs of a homogeneous batch share their common columns, also if their policies and labels are equal but not identical", () => {
    const { isOneKind, values } = alikeRuns([run(), run({ payload: 1, rank: 8 }), run({ labels: {}, policy: {} })]);
    expect(isOneKind).toBe(true);
    expect(values.slice(4)).toEqual([1, 7, 4, "work", "default", null, null, null]);
  });

  it.each([
    ["namespace", { namespaceId: 2 }],
    ["lane", { lane: 8 }],
    ["priority", { priority: 5 }],
    ["task", { task: "other" }],
    ["queue", { queue: "other" }],
    ["owner", { owner: "team" }],
    ["policy", { policy: { timeoutMs: 5_000 } }],
    ["labels", { labels: { team: "a" } }],
  ] satisfies [string, Partial<NewRun>][])(
    "runs that differ in their %s are no homogeneous batch",
    (_what, differs) => {
      const { isOneKind, values } = alikeRuns([run(), run(differs), run()]);
      expect(isOneKind).toBe(false);
      const numbers = values[4] as Buffer;
      expect([24, 32, 40].map((at) => numbers.readInt32BE(at))).toEqual([1, 2, 1]);
    },
  );

  it("the payloads of a batch are measured in bytes, not in characters", () => {
    const texts = ['"é🔔"', "null"];
    const array = jsonArray(texts);
    expect(array.readInt32BE(20)).toBe(Buffer.byteLength(texts[0] ?? ""));
    expect(array.subarray(24, 24 + array.readInt32BE(20)).toString()).toBe(texts[0]);
    expect(array.subarray(-8)).toEqual(Buffer.from([0, 0, 0, 4, ...Buffer.from("null")]));
  });
});
