import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NamespaceTurns } from "../../../src/dispatch/claims/namespace-turns.js";

const weights = new Map([
  [1, 3],
  [2, 1],
  [3, 1],
]);
const byWeight = (): NamespaceTurns => new NamespaceTurns((id) => weights.get(id) ?? 1);

/** Shares so many slots at a time, and claims a run for each. */
function serve(turns: NamespaceTurns, waiting: readonly number[], sizes: readonly number[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const slots of sizes) {
    const shared = turns.share(new Set(waiting), slots);
    turns.settle(shared, shared.quotas);
    for (const [id, quota] of shared.quotas) sums.set(id, (sums.get(id) ?? 0) + quota);
  }
  return sums;
}

const shares = (sums: ReadonlyMap<number, number>): number[] => [1, 2, 3].map((id) => sums.get(id) ?? 0);

describe("turns of namespaces", () => {
  it("give each namespace its share by weight, to the run, for any number of slots", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 100 }), (sizes) => {
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const [a = 0, b = 0, c = 0] = shares(serve(byWeight(), [1, 2, 3], sizes));
        expect(a + b + c).toBe(total);
        expect(Math.abs(a - total * 0.6)).toBeLessThan(2);
        expect(Math.abs(b - total * 0.2)).toBeLessThan(2);
      }),
    );
  });

  it("give every namespace its share when there is one slot at a time", () => {
    const turns = byWeight();
    const ones = Array.from({ length: 10 }, () => 1);
    expect(shares(serve(turns, [1, 2, 3], ones))).toEqual([6, 2, 2]);
  });

  it("give a new namespace its share at once, and no more for the time before", () => {
    const turns = byWeight();
    serve(turns, [1, 2], [1_000]);
    expect(shares(serve(turns, [1, 2, 3], [5]))).toEqual([3, 1, 1]);
    expect(shares(serve(turns, [1, 2, 3], [500]))).toEqual([300, 100, 100]);
  });

  it("credit no namespace with slots that no run was claimed for", () => {
    const turns = byWeight();
    for (let round = 0; round < 50; round++) {
      turns.settle(turns.share(new Set([1, 2, 3]), 100), new Map());
    }
    expect(shares(serve(turns, [1, 2, 3], [500]))).toEqual([300, 100, 100]);
  });

  it("compensate the others for runs that one namespace got beyond its share", () => {
    const turns = byWeight();
    turns.settle(turns.share(new Set([1, 2, 3]), 50), new Map([[2, 50]]));
    // Namespace 2 has had 50 of its 110, of 550 together.
    expect(shares(serve(turns, [1, 2, 3], [500]))).toEqual([330, 60, 110]);
  });

  it("share whole slots while two statements are under way", () => {
    const turns = byWeight();
    const waiting = new Set([1, 2, 3]);
    const [first, second] = [turns.share(waiting, 1), turns.share(waiting, 4)];
    turns.settle(second, second.quotas);
    turns.settle(first, first.quotas);
    const sums = [1, 2, 3].map((id) => (first.quotas.get(id) ?? 0) + (second.quotas.get(id) ?? 0));
    expect(sums).toEqual([3, 1, 1]);
  });

  it("share nothing when no namespace has runs", () => {
    expect(byWeight().share(new Set(), 10).quotas.size).toBe(0);
  });

  it("use a changed weight from the next statement on", () => {
    const changing = new Map([
      [1, 1],
      [2, 1],
    ]);
    const turns = new NamespaceTurns((id) => changing.get(id) ?? 1);
    serve(turns, [1, 2], [100]);
    changing.set(1, 9);
    expect(shares(serve(turns, [1, 2], [100]))).toEqual([90, 10, 0]);
  });
});
