import { describe, expect, it } from "vitest";
import { type ViolationKind, violationKinds } from "../../src/judge/verdict.js";
import type { Mutant } from "../../src/mutants/mutant.js";
import { type Result, checksOf, exitCodes, outcomeOf, reportLines } from "../../src/report.js";
import { trialOf } from "../../src/run-mutants.js";

const workerCounts = { falseReports: 5, refusedResults: 4 };
const good: Result = {
  verdict: {
    targets: { ok: 12, skipped: 1, optional: 2 },
    upstreamEnds: { ok: 4, optional: 0 },
    runs: { ok: 9, repeated: 3, replaced: 0, abandoned: 0 },
    lateMs: [1, 2, 300],
    violations: [],
  },
  audits: [],
  faultEffects: {
    refusedWrites: 4,
    refusedBy: { "due.fire": 4 },
    movedShards: 512,
    rescuedRuns: 3,
    unexpectedExits: 0,
    stalls: 0,
    ...workerCounts,
  },
  recoveredMs: 4_000,
  starvation: 0.01,
  requests: { jobs: 5, unknownJobs: 1, changes: 3, runNows: 1 },
};
const still = { ...good, faultEffects: { ...good.faultEffects, refusedWrites: 0, refusedBy: {}, movedShards: 0 } };
const violated = (kind: ViolationKind): Result => ({
  ...good,
  verdict: { ...good.verdict, violations: [{ kind, job: "a", nominal: 0, detail: "why" }] },
});

describe("the outcome of a run", () => {
  it("a run without violations whose faults had an effect gives exit code 0", () => {
    expect(exitCodes[outcomeOf(good)]).toBe(0);
  });

  it.each(violationKinds)("a run with %s gives exit code 1", (kind) => {
    expect(exitCodes[outcomeOf(violated(kind))]).toBe(1);
  });

  it("a run with audit rows, or with a recovery beyond the bound, gives exit code 1", () => {
    expect(exitCodes[outcomeOf({ ...good, audits: ["INV-1: 2 rows"] })]).toBe(1);
    expect(exitCodes[outcomeOf({ ...good, recoveredMs: null })]).toBe(1);
  });

  it("a run without refused writes and moved shards gives exit code 3, unless it has violations", () => {
    expect(exitCodes[outcomeOf(still)]).toBe(3);
    expect(exitCodes[outcomeOf({ ...still, recoveredMs: null })]).toBe(1);
  });

  it("a run on a starved machine gives exit code 5, unless slowness cannot explain its violations", () => {
    const starved = (result: Result): number => exitCodes[outcomeOf({ ...result, starvation: 0.2 })];
    for (const kind of ["MISSED", "UNDONE", "UNEXPECTED", "DOUBLE", "OVERLAP"] as const)
      expect(starved(violated(kind))).toBe(5);
    expect(starved({ ...good, recoveredMs: null })).toBe(5);
    for (const kind of ["EARLY", "STALE FENCE ACCEPTED"] as const) expect(starved(violated(kind))).toBe(1);
    expect(starved({ ...good, audits: ["INV-1: 2 rows"] })).toBe(1);
    expect(starved(good)).toBe(0);
  });

  it("every cause of failure fails exactly one check", () => {
    expect(checksOf(good).every((check) => check.ok)).toBe(true);
    for (const bad of [violated("EARLY"), still, { ...good, audits: ["x"] }, { ...good, recoveredMs: null }])
      expect(checksOf(bad).filter((check) => !check.ok)).toHaveLength(1);
  });
});

describe("the report", () => {
  it("the report has one line per count", () => {
    const lines = reportLines(violated("DOUBLE"));
    for (const kind of violationKinds) expect(lines).toContain(`${kind.padEnd(22)}${kind === "DOUBLE" ? 1 : 0}`);
    for (const line of ["targets ok            12", "runs repeated         3", "late ms p50/p99/max   2 / 300 / 300"])
      expect(lines).toContain(line);
    expect(lines.at(-1)).toBe("DOUBLE: a at 1970-01-01T00:00:00.000Z: why");
  });

  it("the report shows the first twenty violations and counts the rest", () => {
    const [one] = violated("MISSED").verdict.violations;
    const many = {
      ...good,
      verdict: { ...good.verdict, violations: Array.from({ length: 25 }, () => one ?? never()) },
    };
    expect(reportLines(many).at(-1)).toBe("… and 5 more");
  });
});

function never(): never {
  throw new Error("The verdict has no violation.");
}

describe("the trial of a mutant", () => {
  const fatal: Mutant = { name: "m", edits: [] };
  const guarded: Mutant = { ...fatal, guardedBy: "due.fire" };

  it("a mutant is caught if the judge found a violation, and survives otherwise", () => {
    expect(trialOf(fatal, violated("MISSED"))).toEqual({ state: "caught", detail: "MISSED 1" });
    expect(trialOf(fatal, { ...violated("EARLY"), recoveredMs: null, audits: ["INV-1: 2 rows"] }).detail).toBe(
      "EARLY 1, audit of INV-1, no recovery within the bound",
    );
    expect(trialOf(fatal, good).state).toBe("SURVIVED");
  });

  it("a mutant is not caught by a violation that it cannot cause", () => {
    const shown: Mutant = { ...fatal, shownBy: ["OVERLAP", "EARLY"] };
    expect(trialOf(shown, violated("EARLY")).state).toBe("caught");
    expect(trialOf(shown, violated("MISSED"))).toEqual({ state: "SURVIVED", detail: "only MISSED 1" });
  });

  it("the trial of a mutant on a starved machine is BROKEN", () => {
    expect(trialOf(fatal, { ...good, recoveredMs: null, starvation: 0.2 }).state).toBe("BROKEN");
  });

  it("a guarded mutant passes only if its other guard refused writes and the judge found no violation", () => {
    expect(trialOf(guarded, good)).toEqual({ state: "guarded", detail: "due.fire refused 4" });
    expect(trialOf(guarded, still).state).toBe("SURVIVED");
    expect(trialOf(guarded, violated("DOUBLE")).state).toBe("SURVIVED");
  });
});
