import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mutants, mutate } from "../../src/mutants/mutants.js";
import { planFaults } from "../../src/plan/faults.js";
import { SeededRandom } from "../../src/plan/random.js";
import { planWorkload } from "../../src/plan/workload.js";
import { root } from "../../src/root.js";
import { targetsOf } from "../../src/targets/targets.js";

const bounds = { nodes: 3, loadMs: 300_000, limits: { leaseMs: 5_000, workerSilenceMs: 3_000 } };
const begin = Date.UTC(2026, 0, 5, 12);
const work = { workMs: 0, failsFirst: false, exclusive: false };

describe("a plan", () => {
  it("follows from its seed alone", () => {
    const plan = (seed: number): unknown => {
      const random = new SeededRandom(seed);
      return [planFaults(random, bounds), planWorkload(random, { begin, loadMs: 60_000, recurring: 10 })];
    };
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
  });

  it("begins with a kill, ends within the load, and never does two faults to one node at a time", () => {
    for (let seed = 0; seed < 50; seed++) {
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

  it("knows every kind of fault", () => {
    const kinds = new Set(planFaults(new SeededRandom(1), { ...bounds, loadMs: 3_600_000 }).map((fault) => fault.kind));
    expect([...kinds].sort()).toEqual(["cut", "database", "delay", "freeze", "kill", "lose_answer", "reset", "stop"]);
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

describe("a mutant", () => {
  const folder = join(root, "packages/engine/sql");
  const texts = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => readFileSync(join(folder, file), "utf8"));

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))("%s changes exactly one file", (_name, mutant) => {
    expect(texts.filter((text) => mutate(mutant, text) !== text)).toHaveLength(1);
  });

  it("whose text is gone from the product is refused", () => {
    const stale = { name: "stale", statement: "run.finish", changes: [["nowhere to be found", ""]] } as const;
    expect(() => texts.map((text) => mutate(stale, text))).toThrow("finds no");
  });
});
