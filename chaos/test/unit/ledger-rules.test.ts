import { describe, expect, it } from "vitest";
import type { LedgerRow, RunRow } from "../../src/judge/evidence.js";
import { isAllowed } from "../../src/judge/ledger-rules.js";
import type { ChaosJob } from "../../src/plan/job.js";
import type { JobHistory } from "../../src/targets/job-history.js";

const due = Date.UTC(2026, 0, 5, 12);
const job: ChaosJob = {
  key: "a",
  rule: { kind: "every", everyMs: 1_000, startsAt: due, endsAt: due + 60_000 },
  workMs: 0,
  failsFirst: false,
  overlap: "skip",
  misfire: { policy: "run_once", thresholdMs: 2_000 },
  window: null,
  excludesCalendar: false,
};
const missed: LedgerRow = { job: "a", reason: "missed", from: due, to: due + 3_000, recordedAt: due + 4_000 };
const busy: LedgerRow = { ...missed, reason: "overlap", to: due, recordedAt: due + 10 };
const run: RunRow = {
  id: "r1",
  job: "a",
  nominal: due - 1_000,
  trigger: "schedule",
  status: "succeeded",
  reason: null,
  fence: 1,
  losses: 0,
  token: 1,
  createdAt: due - 990,
  finishedAt: due + 5,
};
const history: JobHistory = { job, sentAt: due - 9_000, acknowledgedAt: due - 8_000, changes: [], runNows: [] };
const allows = (
  entry: LedgerRow,
  over: {
    nominal?: number;
    job?: Partial<ChaosJob>;
    runs?: RunRow[];
    changes?: JobHistory["changes"];
    begunAt?: number | null;
  } = {},
): boolean =>
  isAllowed({
    entry,
    nominal: over.nominal ?? due,
    history: { ...history, job: { ...job, ...over.job }, changes: over.changes ?? [] },
    runs: over.runs ?? [run],
    begunAt: () => over.begunAt ?? null,
  });
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
    expect(allows(busy, { runs: [{ ...run, finishedAt: due - 2_001 }] })).toBe(false);
    expect(allows(busy, { runs: [{ ...run, createdAt: due + 11, finishedAt: due + 20 }] })).toBe(false);
    expect(allows(busy, { runs: [] })).toBe(false);
  });

  it("is left out by queue_one only while another waits", () => {
    const one = { job: { overlap: "queue_one" } } as const;
    expect(allows(busy, { ...one, begunAt: due - 900 })).toBe(false);
    expect(allows(busy, { ...one, begunAt: due + 100 })).toBe(true);
    expect(allows(busy, { ...one, begunAt: null })).toBe(true);
    expect(allows(busy, { ...one, begunAt: null, runs: [] })).toBe(false);
  });

  it.each(["allow", "queue_all", "cancel_running"] as const)("is never left out by %s", (overlap) => {
    expect(allows(busy, { job: { overlap } })).toBe(false);
  });
});

describe("what was superseded", () => {
  const entry: LedgerRow = { ...missed, reason: "superseded", recordedAt: due + 4_000 };
  const resume = { change: { kind: "resume", missed: "all" }, sentAt: due + 100, settledAt: due + 200 } as const;
  const edit = { change: { kind: "edit", rule: job.rule }, sentAt: due + 3_990, settledAt: due + 4_010 } as const;

  it("is left out by a change that comes while the job still catches up", () => {
    expect(allows(entry, { changes: [resume, edit] })).toBe(true);
    expect(allows(entry, { ...misfire("run_all"), changes: [edit] })).toBe(true);
  });

  it("is left out by a change that comes while a window still holds it", () => {
    const window = { mode: "hold", from: due - 100, to: due + 9_000 } as const;
    expect(allows(entry, { job: { window }, changes: [edit] })).toBe(true);
    expect(allows(entry, { job: { window: { ...window, mode: "skip" } }, changes: [edit] })).toBe(false);
    expect(allows(entry, { job: { window: { ...window, from: due + 1 } }, changes: [edit] })).toBe(false);
  });

  it("is not left out where nothing is caught up, or no change is under way", () => {
    expect(allows(entry, { changes: [edit] })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 9_000 }, { changes: [resume, edit] })).toBe(false);
  });
});

describe("what was left when a pause came", () => {
  const entry: LedgerRow = { ...missed, reason: "paused", recordedAt: due + 9_010 };
  const pause = {
    change: { kind: "pause", until: null, missed: "none" },
    sentAt: due + 90,
    settledAt: due + 110,
  } as const;
  const resume = { change: { kind: "resume", missed: "none" }, sentAt: due + 9_000, settledAt: due + 9_020 } as const;

  it("belongs to the pause if the job was catching up", () => {
    expect(allows(entry, { ...misfire("run_all"), changes: [pause, resume] })).toBe(true);
    expect(allows(entry, { changes: [pause, resume] })).toBe(false);
  });

  it("is what had come by then, and is noted by the change that ends the pause", () => {
    const changes = [pause, resume];
    expect(allows(entry, { ...misfire("run_all"), changes, nominal: due + 111 })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 8_999 }, { ...misfire("run_all"), changes })).toBe(false);
    expect(allows(entry, { ...misfire("run_all"), changes: [resume] })).toBe(false);
  });
});

describe("what waited for the end of a window", () => {
  const window = { mode: "hold", from: due - 500, to: due + 2_000 } as const;
  const entry: LedgerRow = { ...missed, reason: "window", to: due + 1_000, recordedAt: due + 2_010 };

  it("is left out for a later one once the window is over, if not all of them are to run", () => {
    expect(allows(entry, { job: { window } })).toBe(true);
    expect(allows(entry, { job: { window, ...misfire("run_all").job } })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 1_900 }, { job: { window } })).toBe(false);
  });

  it("is not left out where it lay in no window", () => {
    expect(allows(entry)).toBe(false);
    expect(allows(entry, { job: { window: { ...window, to: due } } })).toBe(false);
  });
});

it("a reason that nobody knows excuses nothing", () => {
  expect(allows({ ...missed, reason: "lazy" })).toBe(false);
});
