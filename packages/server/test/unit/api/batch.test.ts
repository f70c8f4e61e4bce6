import type { Effect } from "@carillon/engine";
import { describe, expect, it } from "vitest";
import { replayedItems, receiptByItem } from "../../../src/api/batch.js";

const fault = { error: new Error("not readable") };
const item = { spec: {} };
const tx = { query: () => Promise.reject(new Error("nothing is asked of it")) };

describe("effects of batches", () => {
  it("stores the effect of a batch by item, including the items that were invalid", async () => {
    const kept: Effect[] = [];
    const receipt = { keep: async (_tx: unknown, effect: Effect) => void kept.push(effect) };
    const read = [fault, item, fault, item, item];
    const [first, last] = ["a", "b"].map((id) => ({ id, isNew: true }));
    if (first === undefined || last === undefined) throw new Error("two runs");
    await receiptByItem(receipt, read)?.keep(tx, { runs: [first, null, last] });
    await receiptByItem(receipt, read)?.keep(tx, { jobs: ["a", null, "b"] });
    expect(kept).toEqual([{ runs: [null, first, null, null, last] }, { jobs: [null, "a", null, null, "b"] }]);
  });

  it("replays a batch with the same items, even if other items are valid by then", () => {
    const made = [null, "a", null, "b"];
    const now = [item, fault, fault, item];
    const outcomes = replayedItems(now, made, (id: string) => ({ id }));
    expect(outcomes[1]).toEqual({ id: "a" });
    expect(outcomes[3]).toEqual({ id: "b" });
    expect(outcomes[2]).toBe(fault);
    expect(outcomes[0]).toMatchObject({
      error: { message: "The first call with this Idempotency-Key refused this item." },
    });
  });

  it("a batch needs no receipt", () => {
    expect(receiptByItem(undefined, [item])).toBeUndefined();
  });
});
