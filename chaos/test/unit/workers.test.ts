import { describe, expect, it } from "vitest";
import { mayExplainRetry } from "../../src/judge/causes.js";
import { planRun } from "../../src/plan/plan.js";
import { SeededRandom } from "../../src/plan/random.js";
import { planWorkerFaults, workerFaultKinds } from "../../src/plan/worker-faults.js";
import { FalseReports } from "../../src/workers/rogue-worker.js";

const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
const seeds = Array.from({ length: 50 }, (_, seed) => seed);

describe("the regular external worker", () => {
  it("a plan has every kind of worker fault in the short form, one after the other and within the load", () => {
    for (const seed of seeds) {
      const faults = planWorkerFaults(new SeededRandom(seed), { loadMs: 72_000, workerTimeoutMs: 3_000 });
      expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(workerFaultKinds));
      for (const [index, { kind, atMs, lastsMs }] of faults.entries()) {
        expect(atMs + lastsMs).toBeLessThan(faults[index + 1]?.atMs ?? 72_000);
        expect(kind !== "worker_freeze" || lastsMs > limits.workerTimeoutMs).toBe(true);
      }
    }
  });

  it("a plan has external workers only if no fault kinds are requested by name", () => {
    const request = { seed: 1, nodes: 2, loadMs: 72_000, limits, recurring: 10 };
    expect(planRun({ ...request, kinds: null }).workerFaults).not.toBeNull();
    expect(planRun({ ...request, kinds: ["freeze"] }).workerFaults).toBeNull();
  });

  it("every worker fault explains a repeated attempt", () => {
    for (const kind of workerFaultKinds) {
      const evidence = { faults: [{ kind, node: null, from: 10, until: 20 }], aftermathMs: 5 };
      expect(mayExplainRetry(evidence, { from: 24, to: 30 })).toBe(true);
      expect(mayExplainRetry(evidence, { from: 26, to: 30 })).toBe(false);
    }
  });
});

describe("the rogue worker", () => {
  it("a seed draws every false report in the same order, and no run hangs once the server has no time to end it", () => {
    const drawn = (seed: number, now: number) => {
      const falseReports = new FalseReports(seed, 100);
      return Array.from({ length: 200 }, () => falseReports.next(now));
    };
    expect(new Set(drawn(3, 100))).toEqual(new Set(["none", "duplicate", "stale", "unowned", "hang", "hang_started"]));
    expect(drawn(3, 100)).toEqual(drawn(3, 100));
    expect(drawn(3, 101)).not.toContain("hang");
  });
});
