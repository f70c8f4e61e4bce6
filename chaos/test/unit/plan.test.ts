import { afterEach, describe, expect, it, vi } from "vitest";
import { type FaultKind, faultKinds } from "../../src/plan/fault.js";
import { type PlanBounds, planFaults } from "../../src/plan/plan-faults.js";
import { planLines, planRun } from "../../src/plan/plan.js";
import { SeededRandom } from "../../src/plan/random.js";
import { ruleFrom } from "../../src/plan/workload.js";
import { targetsOf } from "../../src/targets/targets.js";

const limits = { leaseMs: 5_000, workerSilenceMs: 3_000 };
const bounds: PlanBounds = { nodes: 3, loadMs: 300_000, limits, kinds: null };
const short = { ...bounds, loadMs: 72_000 };
const begin = Date.UTC(2026, 0, 5, 12);
const misfire = { policy: "run_once", thresholdMs: 60_000 } as const;
const work = { workMs: 0, failsFirst: false, overlap: "allow", misfire } as const;
const seeds = Array.from({ length: 50 }, (_, seed) => seed);
const kindsOf = (seed: number, plan = bounds): Set<FaultKind> =>
  new Set(planFaults(new SeededRandom(seed), plan).map((fault) => fault.kind));

describe("a plan", () => {
  const request = { ...bounds, seed: 7, recurring: 10 };

  afterEach(() => void vi.useRealTimers());

  it("is the same to the last byte for a seed, whenever it is made, and another for another seed", () => {
    const text = (seed: number, at: number): string => {
      vi.useFakeTimers({ now: at });
      return JSON.stringify(planRun({ ...request, seed }));
    };
    expect(text(7, begin)).toBe(text(7, begin + 86_400_123));
    expect(text(7, begin)).not.toBe(text(8, begin));
  });

  it("is printed with a digest of all of it, so that equal lines are equal plans", () => {
    const plan = planRun(request);
    const [first, ...faults] = planLines(request, plan);
    expect(faults).toHaveLength(plan.faults.length);
    const workload = plan.workload.map((planned) => ({ ...planned, createAtMs: planned.createAtMs + 1 }));
    expect(planLines(request, { ...plan, workload })[0]).not.toBe(first);
  });

  it("begins with a kill, ends within the load, and never does two faults to one node at a time", () => {
    for (const seed of seeds) {
      const faults = planFaults(new SeededRandom(seed), bounds);
      expect(faults[0]?.kind).toBe("kill");
      for (const [index, fault] of faults.entries()) {
        expect(fault.atMs + fault.lastsMs).toBeLessThan(bounds.loadMs);
        const clash = faults
          .slice(0, index)
          .find((one) => one.node === fault.node && one.atMs + one.lastsMs > fault.atMs);
        expect(clash).toBeUndefined();
      }
    }
  });

  it("of five minutes has every kind of fault, whatever the seed", () => {
    for (const seed of seeds) expect(kindsOf(seed)).toEqual(new Set(faultKinds));
  });

  it("of the short form has the overture, and with some seeds any kind", () => {
    for (const seed of seeds) {
      const [first, ...rest] = planFaults(new SeededRandom(seed), short).map((fault) => fault.kind);
      expect([first, ...rest.slice(0, 3)]).toEqual(["kill", "freeze", "freeze", "lose_fire"]);
    }
    const drawn = seeds.flatMap((seed) => [...kindsOf(seed, short)]);
    expect(new Set(drawn)).toEqual(new Set(faultKinds));
  });

  it("of some kinds has only those", () => {
    expect(kindsOf(1, { ...bounds, kinds: ["clock", "pool"] })).toEqual(new Set(["clock", "pool"]));
  });

  it("counts instants from its begin", () => {
    const every = { kind: "every", everyMs: 1_000, startsAt: -500, endsAt: 9_000 } as const;
    expect(ruleFrom(begin, every)).toEqual({ ...every, startsAt: begin - 500, endsAt: begin + 9_000 });
    expect(ruleFrom(begin, { kind: "at", at: 70 })).toEqual({ kind: "at", at: begin + 70 });
  });
});

describe("targets", () => {
  it("of an interval count from its start, and are required after the acknowledgement", () => {
    const rule = { kind: "every", everyMs: 1_000, startsAt: begin, endsAt: begin + 4_000 } as const;
    const targets = targetsOf({ job: { ...work, key: "a", rule }, sentAt: begin + 500, acknowledgedAt: begin + 2_000 });
    expect(targets.map(({ nominal, required }) => [nominal - begin, required])).toEqual([
      [1_000, false],
      [2_000, false],
      [3_000, true],
      [4_000, true],
    ]);
  });

  it("of a cron expression are those of the zone's wall clock", () => {
    const rule = { kind: "cron", cron: "30 17 * * *", timeZone: "Asia/Kolkata", endsAt: begin + 86_400_000 } as const;
    const targets = targetsOf({ job: { ...work, key: "a", rule }, sentAt: begin - 1, acknowledgedAt: begin - 1 });
    expect(targets.map(({ nominal }) => nominal)).toEqual([begin, begin + 86_400_000]);
  });

  it("of a job that was never acknowledged are all optional", () => {
    const rule = { kind: "at", at: begin } as const;
    const targets = targetsOf({ job: { ...work, key: "a", rule }, sentAt: begin - 1, acknowledgedAt: null });
    expect(targets).toEqual([{ job: "a", nominal: begin, required: false }]);
  });
});
