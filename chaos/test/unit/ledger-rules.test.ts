import { describe, expect, it } from "vitest";
import type { LedgerRow, RunRow } from "../../src/judge/evidence.js";
import { isAllowed } from "../../src/judge/ledger-rules.js";
import type { ChaosJob } from "../../src/plan/workload.js";

const due = Date.UTC(2026, 0, 5, 12);
const job: ChaosJob = {
  key: "a",
  rule: { kind: "every", everyMs: 1_000, startsAt: due, endsAt: due + 60_000 },
  workMs: 0,
  failsFirst: false,
  overlap: "skip",
  misfire: { policy: "run_once", thresholdMs: 2_000 },
};
const missed: LedgerRow = { job: "a", reason: "missed", from: due, to: due + 3_000, recordedAt: due + 4_000 };
const busy: LedgerRow = { ...missed, reason: "overlap", to: due, recordedAt: due + 10 };
const run: RunRow = {
  id: "r1",
  job: "a",
  nominal: due - 1_000,
  status: "succeeded",
  reason: null,
  fence: 1,
  losses: 0,
  token: 1,
  createdAt: due - 990,
  finishedAt: due + 5,
};
const allows = (entry: LedgerRow, over: { nominal?: number; job?: Partial<ChaosJob>; runs?: RunRow[] } = {}): boolean =>
  isAllowed({ entry, nominal: over.nominal ?? due, job: { ...job, ...over.job }, runs: over.runs ?? [run] });
const misfire = (policy: "run_once" | "skip" | "run_all") => ({ job: { misfire: { policy, thresholdMs: 2_000 } } });

describe("what was missed", () => {
  it("is left out by run_once with all that was due by then, once the oldest was later than the threshold", () => {
    expect(allows(missed)).toBe(true);
    expect(allows(missed, { nominal: due + 3_000 })).toBe(true);
    expect(allows({ ...missed, recordedAt: due + 2_000 })).toBe(false);
  });

  it("is left out by skip only if it is itself later than the threshold", () => {
    expect(allows(missed, misfire("skip"))).toBe(true);
    expect(allows(missed, { ...misfire("skip"), nominal: due + 3_000 })).toBe(false);
  });

  it("is never left out by run_all", () => {
    expect(allows(missed, misfire("run_all"))).toBe(false);
  });

  it("is never left out before its time", () => {
    expect(allows({ ...missed, to: due + 9_000 }, { nominal: due + 5_000 })).toBe(false);
  });
});

describe("what overlapped", () => {
  it("is left out while another run of the job is live", () => {
    expect(allows(busy)).toBe(true);
    expect(allows(busy, { runs: [{ ...run, status: "live", finishedAt: null }] })).toBe(true);
  });

  it("is not left out where every other run had ended before, or came after", () => {
    expect(allows(busy, { runs: [{ ...run, finishedAt: due - 1 }] })).toBe(false);
    expect(allows(busy, { runs: [{ ...run, createdAt: due + 11, finishedAt: due + 20 }] })).toBe(false);
    expect(allows(busy, { runs: [] })).toBe(false);
  });

  it("is never left out where overlap is allowed", () => {
    expect(allows(busy, { job: { overlap: "allow" } })).toBe(false);
  });
});

it("a reason that nobody knows excuses nothing", () => {
  expect(allows({ ...missed, reason: "lazy" })).toBe(false);
});
