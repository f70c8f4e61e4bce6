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

describe("missed occurrences in the ledger", () => {
  it("run_once may leave out all due occurrences once the oldest is later than the threshold", () => {
    expect(allows(missed)).toBe(true);
    expect(allows(missed, { nominal: due + 3_000 })).toBe(true);
    expect(allows({ ...missed, recordedAt: due + 2_000 })).toBe(false);
  });

  it("the misfire policy skip may leave out only an occurrence that is itself later than the threshold", () => {
    expect(allows(missed, misfire("skip"))).toBe(true);
    expect(allows(missed, { ...misfire("skip"), nominal: due + 3_000 })).toBe(false);
  });

  it("run_all may never leave out a missed occurrence", () => {
    expect(allows(missed, misfire("run_all"))).toBe(false);
  });

  it("no misfire policy may leave out an occurrence before its time", () => {
    expect(allows({ ...missed, to: due + 9_000 }, { nominal: due + 5_000 })).toBe(false);
  });
});

describe("overlapping occurrences in the ledger", () => {
  it("the overlap policy skip may leave out an occurrence while another run of the job is live", () => {
    expect(allows(busy)).toBe(true);
    expect(allows(busy, { runs: [{ ...run, status: "live", finishedAt: null }] })).toBe(true);
  });

  it("skip may not leave out an occurrence if every other run ended before it or began after it", () => {
    expect(allows(busy, { runs: [{ ...run, finishedAt: due - 2_001 }] })).toBe(false);
    expect(allows(busy, { runs: [{ ...run, createdAt: due + 11, finishedAt: due + 20 }] })).toBe(false);
    expect(allows(busy, { runs: [] })).toBe(false);
  });

  it("queue_one may leave out an occurrence only while another run waits", () => {
    const one = { job: { overlap: "queue_one" } } as const;
    expect(allows(busy, { ...one, begunAt: due - 900 })).toBe(false);
    expect(allows(busy, { ...one, begunAt: due + 100 })).toBe(true);
    expect(allows(busy, { ...one, begunAt: null })).toBe(true);
    expect(allows(busy, { ...one, begunAt: null, runs: [] })).toBe(false);
  });

  it.each(["allow", "queue_all", "cancel_running"] as const)(
    "the overlap policy %s may never leave out an occurrence",
    (overlap) => {
      expect(allows(busy, { job: { overlap } })).toBe(false);
    },
  );
});

describe("superseded occurrences in the ledger", () => {
  const entry: LedgerRow = { ...missed, reason: "superseded", recordedAt: due + 4_000 };
  const resume = { change: { kind: "resume", missed: "all" }, sentAt: due + 100, settledAt: due + 200 } as const;
  const edit = { change: { kind: "edit", rule: job.rule }, sentAt: due + 3_990, settledAt: due + 4_010 } as const;

  it("a change may supersede an occurrence while the job catches up", () => {
    expect(allows(entry, { changes: [resume, edit] })).toBe(true);
    expect(allows(entry, { ...misfire("run_all"), changes: [edit] })).toBe(true);
  });

  it("a change may supersede an occurrence while a window holds it", () => {
    const window = { mode: "hold", from: due - 100, to: due + 9_000 } as const;
    expect(allows(entry, { job: { window }, changes: [edit] })).toBe(true);
    expect(allows(entry, { job: { window: { ...window, mode: "skip" } }, changes: [edit] })).toBe(false);
    expect(allows(entry, { job: { window: { ...window, from: due + 1 } }, changes: [edit] })).toBe(false);
  });

  it("no occurrence is superseded without a catch-up or without a change at that time", () => {
    expect(allows(entry, { changes: [edit] })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 9_000 }, { changes: [resume, edit] })).toBe(false);
  });
});

describe("waiting occurrences at the begin of a pause", () => {
  const entry: LedgerRow = { ...missed, reason: "paused", recordedAt: due + 9_010 };
  const pause = {
    change: { kind: "pause", until: null, missed: "none" },
    sentAt: due + 90,
    settledAt: due + 110,
  } as const;
  const resume = { change: { kind: "resume", missed: "none" }, sentAt: due + 9_000, settledAt: due + 9_020 } as const;

  it("a pause may leave out an earlier occurrence if the job was catching up", () => {
    expect(allows(entry, { ...misfire("run_all"), changes: [pause, resume] })).toBe(true);
    expect(allows(entry, { changes: [pause, resume] })).toBe(false);
  });

  it("a pause may leave out only occurrences up to its begin, recorded by the change that ends it", () => {
    const changes = [pause, resume];
    expect(allows(entry, { ...misfire("run_all"), changes, nominal: due + 111 })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 8_999 }, { ...misfire("run_all"), changes })).toBe(false);
    expect(allows(entry, { ...misfire("run_all"), changes: [resume] })).toBe(false);
  });
});

describe("occurrences that a window holds", () => {
  const window = { mode: "hold", from: due - 500, to: due + 2_000 } as const;
  const entry: LedgerRow = { ...missed, reason: "window", to: due + 1_000, recordedAt: due + 2_010 };

  it("an occurrence inside a holding window may be left out for a later one after the window, except under run_all", () => {
    expect(allows(entry, { job: { window } })).toBe(true);
    expect(allows(entry, { job: { window, ...misfire("run_all").job } })).toBe(false);
    expect(allows({ ...entry, recordedAt: due + 1_900 }, { job: { window } })).toBe(false);
  });

  it("an occurrence outside every window may not be left out with the reason window", () => {
    expect(allows(entry)).toBe(false);
    expect(allows(entry, { job: { window: { ...window, to: due } } })).toBe(false);
  });
});

it("an unknown ledger reason never allows to leave out an occurrence", () => {
  expect(allows({ ...missed, reason: "lazy" })).toBe(false);
});
