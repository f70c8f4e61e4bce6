import { afterEach, describe, expect, it, vi } from "vitest";
import { type FaultKind, faultKinds } from "../../src/plan/fault.js";
import { ruleFrom } from "../../src/plan/job.js";
import { type PlanBounds, planFaults } from "../../src/plan/plan-faults.js";
import { planLines, planRun } from "../../src/plan/plan.js";
import { SeededRandom } from "../../src/plan/random.js";

const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
const bounds: PlanBounds = { nodes: 3, loadMs: 300_000, limits, kinds: null };
const short = { ...bounds, loadMs: 72_000 };
const begin = Date.UTC(2026, 0, 5, 12);
const seeds = Array.from({ length: 50 }, (_, seed) => seed);
const kindsOf = (seed: number, plan = bounds): Set<FaultKind> =>
  new Set(planFaults(new SeededRandom(seed), plan).map((fault) => fault.kind));

describe("the plan of a run", () => {
  const request = { ...bounds, seed: 7, recurring: 10 };

  afterEach(() => void vi.useRealTimers());

  it("a seed gives the same plan to the byte at any time, and another seed another plan", () => {
    const text = (seed: number, at: number): string => {
      vi.useFakeTimers({ now: at });
      return JSON.stringify(planRun({ ...request, seed }));
    };
    expect(text(7, begin)).toBe(text(7, begin + 86_400_123));
    expect(text(7, begin)).not.toBe(text(8, begin));
  });

  it("upgrades plans one upgrade of each node, the first one killed, in the order of their times with the other faults", () => {
    const { faults } = planRun({ ...request, nodes: 3, kinds: ["reset"], upgrades: true });
    const upgrades = faults.filter(({ kind }) => kind.startsWith("upgrade"));
    expect(upgrades.map(({ kind, node }) => [kind, node])).toEqual([
      ["upgrade_killed", 0],
      ["upgrade", 1],
      ["upgrade", 2],
    ]);
    expect(faults.map(({ atMs }) => atMs)).toEqual(faults.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
  });

  it("the digest covers all of a plan, so that equal lines mean equal plans", () => {
    const plan = planRun(request);
    const [first, ...faults] = planLines(request, plan);
    expect(faults).toHaveLength(plan.faults.length + (plan.workerFaults ?? []).length);
    const workload = plan.workload.map((planned) => ({ ...planned, createAtMs: planned.createAtMs + 1 }));
    expect(planLines(request, { ...plan, workload })[0]).not.toBe(first);
  });

  it("a plan begins with a kill, ends within the load, and never has two faults on one node at a time", () => {
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

  it("a plan of five minutes has every kind of fault with any seed", () => {
    for (const seed of seeds) expect(kindsOf(seed)).toEqual(new Set(faultKinds));
  });

  it("a plan of the short form has the opening faults, and on three nodes almost every kind", () => {
    for (const seed of seeds) {
      const [first, ...rest] = planFaults(new SeededRandom(seed), short).map((fault) => fault.kind);
      expect([first, ...rest.slice(0, 3)]).toEqual(["kill", "freeze", "freeze", "lose_fire"]);
      expect(kindsOf(seed, short).size).toBeGreaterThanOrEqual(faultKinds.length - 4);
    }
    const drawn = seeds.flatMap((seed) => [...kindsOf(seed, short)]);
    expect(new Set(drawn)).toEqual(new Set(faultKinds));
  });

  it("the plan of the npm test tier has every kind of fault", () => {
    expect(kindsOf(1, short)).toEqual(new Set(faultKinds));
  });

  it("a plan of some kinds has only those", () => {
    expect(kindsOf(1, { ...bounds, kinds: ["clock", "pool"] })).toEqual(new Set(["clock", "pool"]));
    expect(kindsOf(1, { ...bounds, kinds: [] })).toEqual(new Set());
  });

  it("a plan changes many jobs, in order, and about half of them within milliseconds of an occurrence", () => {
    const { workload } = planRun({ ...request, recurring: 400 });
    const changed = workload.filter(({ changes }) => changes.length > 0);
    expect(new Set(changed.flatMap(({ changes }) => changes.map(({ change }) => change.kind)))).toEqual(
      new Set(["edit", "pause", "resume", "cancel"]),
    );
    let near = 0;
    let all = 0;
    for (const { job, createAtMs, changes } of changed) {
      const times = [createAtMs, ...changes.map(({ atMs }) => atMs)];
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      const [first] = changes;
      if (first === undefined || job.rule.kind !== "every") continue;
      const since = Math.abs(first.atMs - job.rule.startsAt) % job.rule.everyMs;
      near += Number(Math.min(since, job.rule.everyMs - since) <= 8);
      all += 1;
    }
    expect(near / all).toBeGreaterThan(0.35);
    expect(near / all).toBeLessThan(0.65);
  });

  it("a plan has jobs of every overlap policy with any seed", () => {
    const all = ["allow", "cancel_running", "queue_all", "queue_one", "skip"];
    for (const seed of seeds) {
      const { workload } = planRun({ ...request, seed, recurring: 30 });
      expect([...new Set(workload.map(({ job }) => job.overlap))].toSorted()).toEqual(all);
    }
  });

  it("a plan has jobs in holding and skipping windows, jobs with a calendar, and a herd with any seed", () => {
    for (const seed of seeds) {
      const { workload, constraints } = planRun({ ...request, ...short, seed, recurring: 36 });
      const jobs = workload.map(({ job }) => job);
      expect(new Set(jobs.flatMap(({ window }) => window?.mode ?? []))).toEqual(new Set(["hold", "skip"]));
      expect(jobs.filter(({ excludesCalendar }) => excludesCalendar).length).toBeGreaterThan(2);
      expect(constraints.flips.map(({ closes }) => closes)).toEqual([true, false, true]);
      const times = jobs.flatMap(({ rule }) => (rule.kind === "at" ? rule.at : []));
      expect(times.filter((at) => at === 36_000).length).toBeGreaterThanOrEqual(40);
    }
  });

  it("a plan of twenty minutes has far-future one-off jobs", () => {
    const aheadMs = (loadMs: number): number =>
      Math.max(
        ...planRun({ ...request, loadMs }).workload.map(({ createAtMs, job }) =>
          job.rule.kind === "at" ? job.rule.at - createAtMs : 0,
        ),
      );
    expect(aheadMs(1_200_000)).toBeGreaterThan(630_000);
    expect(aheadMs(300_000)).toBeLessThan(20_000);
  });

  it("a rule counts its instants from the begin of the plan", () => {
    const every = { kind: "every", everyMs: 1_000, startsAt: -500, endsAt: 9_000 } as const;
    expect(ruleFrom(begin, every)).toEqual({ ...every, startsAt: begin - 500, endsAt: begin + 9_000 });
    expect(ruleFrom(begin, { kind: "at", at: 70 })).toEqual({ kind: "at", at: begin + 70 });
  });
});
