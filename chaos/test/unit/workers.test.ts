import { describe, expect, it } from "vitest";
import { mayHaveCost } from "../../src/judge/causes.js";
import { planRun } from "../../src/plan/plan.js";
import { SeededRandom } from "../../src/plan/random.js";
import { planWorkerFaults, workerFaultKinds } from "../../src/plan/worker-faults.js";
import { Lies } from "../../src/workers/lies.js";

const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
const seeds = Array.from({ length: 50 }, (_, seed) => seed);

describe("the worker in a process of its own", () => {
  it("meets every kind of fault in the short form, one after the other and within the load", () => {
    for (const seed of seeds) {
      const faults = planWorkerFaults(new SeededRandom(seed), { loadMs: 72_000, silenceMs: 3_000 });
      expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(workerFaultKinds));
      for (const [index, { kind, atMs, lastsMs }] of faults.entries()) {
        expect(atMs + lastsMs).toBeLessThan(faults[index + 1]?.atMs ?? 72_000);
        expect(kind !== "worker_freeze" || lastsMs > limits.workerTimeoutMs).toBe(true);
      }
    }
  });

  it("is there only when no faults are asked for by name", () => {
    const request = { seed: 1, nodes: 2, loadMs: 72_000, limits, recurring: 10 };
    expect(planRun({ ...request, kinds: null }).workerFaults).not.toBeNull();
    expect(planRun({ ...request, kinds: ["freeze"] }).workerFaults).toBeNull();
  });

  it("may lose its runs by each of them", () => {
    for (const kind of workerFaultKinds) {
      const evidence = { faults: [{ kind, node: null, from: 10, until: 20 }], aftermathMs: 5 };
      expect(mayHaveCost(evidence, { from: 24, to: 30 })).toBe(true);
      expect(mayHaveCost(evidence, { from: 26, to: 30 })).toBe(false);
    }
  });
});

describe("the worker that lies", () => {
  it("tells every lie, the same for a seed, and lets no run hang when the server has no time left to end it", () => {
    const told = (seed: number, now: number) => {
      const lies = new Lies(seed, 100);
      return Array.from({ length: 200 }, () => lies.next(now));
    };
    expect(new Set(told(3, 100))).toEqual(new Set(["none", "twice", "older", "stranger", "hang", "begin"]));
    expect(told(3, 100)).toEqual(told(3, 100));
    expect(told(3, 101)).not.toContain("hang");
  });
});
