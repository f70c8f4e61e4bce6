import { WeightedRoundRobin } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const weights = fc.array(fc.double({ min: 0.1, max: 20, noNaN: true }), { minLength: 2, maxLength: 8 });
const counts = fc.array(fc.nat(30), { minLength: 1, maxLength: 8 });
const nameOf = (index: number) => `ns${index}`;
const plenty = (names: readonly string[]) => new Map(names.map((name) => [name, 1_000_000]));
const total = (shares: ReadonlyMap<string, number>) => [...shares.values()].reduce((sum, share) => sum + share, 0);

function weighted(of: readonly number[]): WeightedRoundRobin {
  const robin = new WeightedRoundRobin();
  for (const [index, weight] of of.entries()) robin.setWeight(nameOf(index), weight);
  return robin;
}

/** Adds the results of `rounds` calls of take. */
function served(robin: WeightedRoundRobin, available: ReadonlyMap<string, number>, calls: readonly number[]) {
  const sums = new Map<string, number>();
  for (const places of calls) {
    for (const [name, share] of robin.take(available, places)) sums.set(name, (sums.get(name) ?? 0) + share);
  }
  return sums;
}

describe("WeightedRoundRobin", () => {
  it("keeps shares within a tenth of the weights over 10,000 slots, for requests of any size", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 10 });
    fc.assert(
      fc.property(weights, sizes, (of, chunks) => {
        const names = of.map((_, index) => nameOf(index));
        const calls: number[] = [];
        for (let asked = 0; asked < 10_000;) {
          const chunk = Math.min(chunks[calls.length % chunks.length] ?? 1, 10_000 - asked);
          calls.push(chunk);
          asked += chunk;
        }
        const sums = served(weighted(of), plenty(names), calls);
        const perWeight = 10_000 / of.reduce((sum, weight) => sum + weight, 0);
        for (const [index, weight] of of.entries()) {
          const wanted = weight * perWeight;
          const got = sums.get(nameOf(index)) ?? 0;
          expect(Math.abs(got - wanted)).toBeLessThanOrEqual(Math.max(wanted / 10, 1));
        }
      }),
      { numRuns: 50 },
    );
  });

  it("never lets two namespaces with work drift apart by more than one run of each", () => {
    fc.assert(
      fc.property(
        weights,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 60, size: "max" }),
        (of, calls) => {
          const robin = weighted(of);
          const sums = new Map<string, number>();
          for (const places of calls) {
            for (const [name, share] of robin.take(plenty(of.map((_, index) => nameOf(index))), places)) {
              sums.set(name, (sums.get(name) ?? 0) + share);
            }
            const used = of.map((weight, index) => ({
              used: (sums.get(nameOf(index)) ?? 0) / weight,
              one: 1 / weight,
            }));
            const most = used.reduce((a, b) => (b.used - b.one > a.used - a.one ? b : a));
            const least = used.reduce((a, b) => (b.used + b.one < a.used + a.one ? b : a));
            expect(most.used - most.one).toBeLessThanOrEqual(least.used + least.one + 1e-9);
          }
        },
      ),
    );
  });

  it("leaves no slot empty while any namespace has work, and gives none more than it has", () => {
    fc.assert(
      fc.property(weights, fc.array(fc.tuple(counts, fc.nat(60)), { maxLength: 20, size: "max" }), (of, calls) => {
        const robin = weighted(of);
        for (const [have, places] of calls) {
          const available = new Map(have.map((count, index) => [nameOf(index), count]));
          const shares = robin.take(available, places);
          expect(total(shares)).toBe(Math.min(places, total(available)));
          for (const [name, share] of shares) expect(share).toBeLessThanOrEqual(available.get(name) ?? 0);
        }
      }),
    );
  });

  it("serves a new namespace within one turn of each other one, regardless of their history", () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 0, max: 3_000 }), (of, before) => {
        const robin = weighted(of);
        const old = of.map((_, index) => nameOf(index));
        served(robin, plenty(old), [before]);
        const shares = robin.take(plenty([...old, "new"]), old.length + 1);
        expect(shares.get("new") ?? 0).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it("does not starve the namespace of least weight among a hundred of great weight, one slot at a time", () => {
    const robin = new WeightedRoundRobin();
    const names = Array.from({ length: 101 }, (_, index) => nameOf(index));
    for (const name of names.slice(1)) robin.setWeight(name, 10);
    const sums = served(
      robin,
      plenty(names),
      Array.from({ length: 2 * 1_001 }, () => 1),
    );
    expect(sums.get("ns0")).toBe(2);
    expect([...sums.values()].every((share) => share >= 2)).toBe(true);
  });

  it("accumulates no credit for a namespace without work", () => {
    const robin = new WeightedRoundRobin();
    served(robin, plenty(["busy"]), [5_000]);
    const shares = robin.take(plenty(["busy", "idle"]), 100);
    expect(shares).toEqual(
      new Map([
        ["idle", 50],
        ["busy", 50],
      ]),
    );
  });

  it("keeps the served time of a namespace that leaves and returns", () => {
    const robin = new WeightedRoundRobin();
    robin.setWeight("light", 0.1);
    const both = plenty(["light", "heavy"]);
    const sums = new Map<string, number>();
    for (let call = 0; call < 110; call++) {
      const [name = ""] = robin.take(both, 1).keys();
      sums.set(name, (sums.get(name) ?? 0) + 1);
      robin.take(plenty([]), 1);
    }
    expect(sums).toEqual(
      new Map([
        ["light", 10],
        ["heavy", 100],
      ]),
    );
  });

  it("applies a change of weight immediately, also to served time", () => {
    const robin = new WeightedRoundRobin();
    robin.setWeight("a", 0.001);
    const both = plenty(["a", "b"]);
    robin.take(both, 10);
    robin.setWeight("a", 3);
    expect(robin.take(both, 400).get("a")).toBeGreaterThanOrEqual(299);
    robin.setWeight("a", 1);
    expect(Math.abs((robin.take(both, 400).get("a") ?? 0) - 200)).toBeLessThanOrEqual(1);
  });

  it("does not charge a namespace for returned slots", () => {
    const robin = new WeightedRoundRobin();
    const both = plenty(["a", "b"]);
    robin.take(new Map([["a", 50]]), 50);
    robin.giveBack("a", 50);
    expect(robin.take(both, 10)).toEqual(
      new Map([
        ["a", 5],
        ["b", 5],
      ]),
    );
    robin.giveBack("unknown", 5);
  });

  it("stays exact after more slots than the limit of the served time", () => {
    const robin = weighted([3, 1]);
    const names = plenty(["ns0", "ns1"]);
    for (let call = 0; call < 9; call++) robin.take(names, 700_001);
    const shares = robin.take(names, 4_000);
    expect(Math.abs((shares.get("ns0") ?? 0) - 3_000)).toBeLessThanOrEqual(1);
  });

  it("ignores namespaces without work, and requests without slots", () => {
    const robin = new WeightedRoundRobin();
    expect(
      robin.take(
        new Map([
          ["a", 0],
          ["b", -1],
          ["c", 0.5],
        ]),
        5,
      ),
    ).toEqual(new Map());
    expect(robin.take(plenty(["a"]), 0)).toEqual(new Map());
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses the weight %d", (weight) => {
    expect(() => new WeightedRoundRobin().setWeight("a", weight)).toThrow(RangeError);
  });
});
