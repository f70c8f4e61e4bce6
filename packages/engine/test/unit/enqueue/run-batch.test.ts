import { describe, expect, it } from "vitest";
import { jsonArray } from "../../../../store/src/db/parameters.js";
import { type NewRun, toRunBatch } from "../../../../store/src/runs/run-store.js";
import { newRun as run } from "../../harness/new-run.js";

describe("a batch of new runs", () => {
  it("sends the shared values of its runs once, even if their policies and labels are equal but not identical", () => {
    const batch = toRunBatch([run(), run({ payload: 1, rank: 8 }), run({ labels: {}, policy: {} })]);
    const shared = { namespaceId: 1, lane: 7, priority: 4, task: "work", queue: "default" };
    expect(batch).toMatchObject({
      isHomogeneous: true,
      values: { ...shared, policy: null, labels: null, owner: null },
    });
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
  ] satisfies [string, Partial<NewRun>][])("has two kinds of runs if they differ in their %s", (_what, differs) => {
    const batch = toRunBatch([run(), run(differs), run()]);
    if (batch.isHomogeneous) throw new Error("The runs are of one kind.");
    const numbers = batch.values.kinds as Buffer;
    expect([24, 32, 40].map((at) => numbers.readInt32BE(at))).toEqual([1, 2, 1]);
  });

  it("sends the lengths of payloads in bytes, not in characters", () => {
    const texts = ['"é🔔"', "null"];
    const array = jsonArray(texts);
    expect(array.readInt32BE(20)).toBe(Buffer.byteLength(texts[0] ?? ""));
    expect(array.subarray(24, 24 + array.readInt32BE(20)).toString()).toBe(texts[0]);
    expect(array.subarray(-8)).toEqual(Buffer.from([0, 0, 0, 4, ...Buffer.from("null")]));
  });
});
