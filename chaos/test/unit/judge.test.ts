import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../src/journal/journal-server.js";
import type { Evidence, RunRow } from "../../src/judge/evidence.js";
import { judge } from "../../src/judge/judge.js";
import type { ChaosJob } from "../../src/plan/job.js";
import type { JobHistory } from "../../src/targets/job-history.js";

const due = Date.UTC(2026, 0, 5, 12);
const job: ChaosJob = {
  key: "a",
  rule: { kind: "every", everyMs: 1_000, startsAt: due, endsAt: due + 60_000 },
  workMs: 0,
  failsFirst: false,
  overlap: "allow",
  misfire: { policy: "run_once", thresholdMs: 60_000 },
  window: null,
  excludesCalendar: false,
};
const history: JobHistory = { job, sentAt: due - 60_000, acknowledgedAt: due - 59_000, changes: [], runNows: [] };
const target = { job: "a", nominal: due, required: true, fate: "run", isLate: false } as const;
const run: RunRow = {
  id: "r1",
  job: "a",
  nominal: due,
  trigger: "schedule",
  status: "succeeded",
  reason: null,
  fence: 1,
  losses: 0,
  token: 1,
  createdAt: due + 5,
  finishedAt: due + 200,
};

/** One attempt; it ends 100 ms after its begin by default. */
function attempt(
  token: number,
  more: {
    run?: string;
    job?: string;
    fence?: number;
    at?: number;
    until?: number;
    outcome?: "done" | "failed" | "gone";
  } = {},
): JournalEntry[] {
  const { run: id = "r1", job: key = "a", fence = token, at = due + 10, until = at + 100, outcome = "done" } = more;
  return [
    { event: "start", token, run: id, job: key, fence, at },
    { event: "end", token, outcome, at: until },
  ];
}

const good: Evidence = {
  histories: [history],
  dependents: [],
  targets: [target],
  journal: attempt(1),
  runs: [run],
  ledger: [],
  faults: [],
  aftermathMs: 10_000,
};
const kinds = (evidence: Partial<Evidence>): string[] =>
  judge({ ...good, ...evidence }).violations.map((violation) => violation.kind);
const missed = { job: "a", reason: "missed", from: due, to: due + 3_000, recordedAt: due + 61_000 };
const kill = { kind: "kill", node: 0, from: due + 20, until: due + 3_000 } as const;
const twice = [...attempt(1, { outcome: "gone" }), ...attempt(2, { at: due + 6_000 })];
const second = { ...run, fence: 2, token: 2, finishedAt: due + 6_200 };

describe("the judge of targets", () => {
  it("the judge accepts a target that ran once, and reports its lateness", () => {
    expect(judge(good)).toEqual({
      targets: { ok: 1, skipped: 0, optional: 0 },
      upstreamEnds: { ok: 0, optional: 0 },
      runs: { ok: 1, repeated: 0, replaced: 0, abandoned: 0 },
      lateMs: [10],
      violations: [],
    });
  });

  it("reports a target without a run and without a ledger entry as MISSED", () => {
    expect(kinds({ runs: [], journal: [] })).toEqual(["MISSED"]);
  });

  it("accepts a target of an unacknowledged job with or without a run", () => {
    const targets = [{ ...target, required: false }];
    expect(judge({ ...good, targets, runs: [], journal: [] }).targets.optional).toBe(1);
    expect(kinds({ targets })).toEqual([]);
  });

  it("accepts a ledger entry that the policy of the job allows", () => {
    const verdict = judge({ ...good, runs: [], journal: [], ledger: [missed] });
    expect(verdict.targets.skipped).toBe(1);
    expect(verdict.violations).toEqual([]);
  });

  it("reports a target as MISSED if its ledger entry precedes the threshold or has an unknown reason", () => {
    expect(kinds({ runs: [], journal: [], ledger: [{ ...missed, recordedAt: due + 30_000 }] })).toEqual(["MISSED"]);
    expect(kinds({ runs: [], journal: [], ledger: [{ ...missed, reason: "lazy" }] })).toEqual(["MISSED"]);
  });

  it("reports a target with both a run and a ledger entry as DOUBLE", () => {
    expect(kinds({ ledger: [missed] })).toEqual(["DOUBLE"]);
  });

  it("reports a run that succeeded without its work as MISSED", () => {
    expect(kinds({ journal: [], runs: [{ ...run, token: null }] })).toEqual(["MISSED"]);
  });

  it("reports a run that did not end as UNDONE", () => {
    expect(kinds({ runs: [{ ...run, status: "live", token: null, finishedAt: null }] })).toEqual(["UNDONE"]);
  });
});

describe("the judge of runs", () => {
  it("reports work before its time as EARLY, by any amount", () => {
    expect(kinds({ journal: attempt(1, { at: due - 1 }) })).toEqual(["EARLY"]);
  });

  it("reports a run that no request promised as UNEXPECTED", () => {
    const other = { ...run, id: "r2", nominal: due + 500, token: 2, fence: 1 };
    const journal = [...attempt(1), ...attempt(2, { run: "r2", fence: 1, at: due + 510 })];
    expect(kinds({ runs: [run, other], journal })).toEqual(["UNEXPECTED"]);
  });

  it("reports work for a run that the database does not have as UNEXPECTED", () => {
    expect(kinds({ journal: [...attempt(1), ...attempt(2, { run: "r9" })] })).toEqual(["UNEXPECTED"]);
  });

  it("reports two runs of one occurrence as DOUBLE", () => {
    const journal = [...attempt(1), ...attempt(2, { run: "r2", fence: 1 })];
    expect(kinds({ runs: [run, { ...run, id: "r2", token: 2 }], journal })).toEqual(["DOUBLE"]);
  });

  it("reports two accepted completions of one run as DOUBLE", () => {
    expect(kinds({ runs: [run, run] })).toEqual(["DOUBLE"]);
  });

  it("reports a second attempt without a cause as DOUBLE", () => {
    expect(kinds({ runs: [second], journal: twice })).toEqual(["DOUBLE"]);
    expect(
      kinds({ runs: [second], journal: twice, faults: [{ ...kill, from: due - 90_000, until: due - 60_000 }] }),
    ).toEqual(["DOUBLE"]);
  });

  it("accepts a second attempt after a fault or after a failure", () => {
    expect(judge({ ...good, runs: [second], journal: twice, faults: [kill] }).runs.repeated).toBe(1);
    const journal = [...attempt(1, { outcome: "failed" }), ...attempt(2, { at: due + 6_000 })];
    expect(kinds({ runs: [second], journal })).toEqual([]);
  });

  it("reports an accepted result of an older attempt as STALE FENCE ACCEPTED if a newer attempt was assigned", () => {
    expect(kinds({ runs: [{ ...second, token: 1 }], journal: twice, faults: [kill] })).toEqual([
      "STALE FENCE ACCEPTED",
    ]);
    const row = { ...run, fence: 1, finishedAt: due + 6_050 };
    expect(kinds({ runs: [row], journal: twice, faults: [kill] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("reports attempts that share a fence as STALE FENCE ACCEPTED", () => {
    const journal = [...attempt(1, { outcome: "gone" }), ...attempt(2, { fence: 1, at: due + 6_000 })];
    expect(kinds({ runs: [{ ...second, fence: 1 }], journal, faults: [kill] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("reports an accepted token of another run as STALE FENCE ACCEPTED", () => {
    expect(kinds({ runs: [{ ...run, token: 7 }] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("counts a run that lost four workers as abandoned, and reports any other failed run as UNDONE", () => {
    const failed = { ...run, status: "failed", reason: "worker_lost", token: null } as const;
    expect(judge({ ...good, runs: [{ ...failed, losses: 4 }] }).runs.abandoned).toBe(1);
    expect(kinds({ runs: [{ ...failed, losses: 2 }] })).toEqual(["UNDONE"]);
    expect(kinds({ runs: [{ ...failed, reason: "handler_error" }] })).toEqual(["UNDONE"]);
  });
});

describe("the judge of changed jobs", () => {
  const cancelled: JobHistory = {
    ...history,
    changes: [{ change: { kind: "cancel", running: "signal" }, sentAt: due, settledAt: due + 20 }],
  };
  const ended: RunRow = { ...run, status: "cancelled", reason: "cancelled_by", token: null };

  it("reports a run inside a pause as UNEXPECTED, and requires a ledger entry for its occurrence", () => {
    const targets = [{ ...target, fate: "paused" }] as const;
    const paused = { job: "a", reason: "paused", from: due, to: due, recordedAt: due + 5_000 };
    expect(kinds({ targets })).toEqual(["UNEXPECTED"]);
    expect(kinds({ targets, runs: [], journal: [] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [{ ...paused, reason: "missed" }] })).toEqual(["MISSED"]);
    expect(judge({ ...good, targets, runs: [], journal: [], ledger: [paused] }).targets.skipped).toBe(1);
  });

  it("does not accept a ledger entry for a pause that never was", () => {
    const paused = { job: "a", reason: "paused", from: due, to: due, recordedAt: due + 5_000 };
    expect(kinds({ runs: [], journal: [], ledger: [paused] })).toEqual(["MISSED"]);
  });

  it("accepts a cancelled run only if its own job was cancelled before", () => {
    expect(kinds({ histories: [cancelled], runs: [ended] })).toEqual([]);
    expect(kinds({ runs: [ended] })).toEqual(["UNDONE"]);
    expect(kinds({ histories: [cancelled], runs: [{ ...ended, finishedAt: due - 1 }] })).toEqual(["UNDONE"]);
  });

  it("ignores a waiting run that was cancelled with its job, and reports one that worked as UNEXPECTED", () => {
    expect(kinds({ histories: [cancelled], targets: [], runs: [ended], journal: [] })).toEqual([]);
    expect(kinds({ histories: [cancelled], targets: [], runs: [ended] })).toEqual(["UNEXPECTED"]);
    expect(kinds({ histories: [cancelled], targets: [], runs: [run] })).toEqual(["UNEXPECTED"]);
  });

  it("requires as many run-now runs as run-now calls were acknowledged", () => {
    const own: RunRow = { ...run, id: "r2", trigger: "run_now:r2", token: 2 };
    const seen = { runs: [run, own], journal: [...attempt(1), ...attempt(2, { run: "r2", fence: 1 })] };
    const asked = (...runNows: JobHistory["runNows"]) => ({ histories: [{ ...history, runNows }] });
    expect(kinds({ ...seen, ...asked("made") })).toEqual([]);
    expect(kinds({ ...seen, ...asked("unknown") })).toEqual([]);
    expect(kinds({ ...seen, ...asked("refused") })).toEqual(["UNEXPECTED"]);
    expect(kinds(asked("made"))).toEqual(["MISSED"]);
  });
});

describe("the judge of maintenance windows", () => {
  const window = { mode: "hold", from: due, to: due + 5_000 } as const;
  const histories = [{ ...history, job: { ...job, window } }];

  it("reports a run inside a skipping window as UNEXPECTED, and requires a ledger entry for its occurrence", () => {
    const targets = [{ ...target, fate: "window" }] as const;
    const entry = { job: "a", reason: "window", from: due, to: due, recordedAt: due + 5 };
    expect(kinds({ targets })).toEqual(["UNEXPECTED"]);
    expect(kinds({ targets, runs: [], journal: [] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [entry] })).toEqual([]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [{ ...entry, reason: "paused" }] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [missed] })).toEqual([]);
  });

  it("reports work before the end of a holding window as EARLY", () => {
    const at = (begun: number): string[] =>
      kinds({ histories, runs: [{ ...run, finishedAt: begun + 190 }], journal: attempt(1, { at: begun }) });
    expect(at(due + 4_999)).toEqual(["EARLY"]);
    expect(at(due + 5_000)).toEqual([]);
  });
});

describe("the judge of overlaps", () => {
  const next = { ...run, id: "r2", nominal: due + 50, token: 2 };
  const both: Partial<Evidence> = {
    targets: [target, { ...target, nominal: due + 50 }],
    runs: [run, next],
    journal: [...attempt(1), ...attempt(2, { run: "r2", fence: 1, at: due + 60 })],
  };

  it("reports runs that work at the same time as OVERLAP if their job forbids it", () => {
    expect(kinds({ ...both, histories: [{ ...history, job: { ...job, overlap: "skip" } }] })).toEqual(["OVERLAP"]);
  });

  it("accepts runs that work at the same time if their job allows it", () => {
    expect(kinds(both)).toEqual([]);
  });

  it("accepts refused work that overlaps with another run only after a fault", () => {
    const journal = [
      ...attempt(1, { until: due + 9_000, outcome: "gone" }),
      ...attempt(3, { fence: 2, at: due + 6_000 }),
      ...attempt(2, { run: "r2", fence: 1, at: due + 60 }),
    ];
    const runs = [{ ...run, fence: 2, token: 3, finishedAt: due + 6_200 }, next];
    const histories = [{ ...history, job: { ...job, overlap: "skip" } }] as const;
    expect(kinds({ ...both, journal, runs, faults: [kill], histories })).toEqual([]);
    const gone = [...attempt(1, { until: due + 900, outcome: "gone" }), ...attempt(2, { run: "r2", at: due + 600 })];
    const cancelled = { ...run, status: "cancelled", reason: "cancelled_by_overlap", token: null } as const;
    const replacing = [{ ...history, job: { ...job, overlap: "cancel_running" } }] as const;
    const seen = {
      ...both,
      journal: gone,
      runs: [{ ...cancelled, finishedAt: due + 590 }, next],
      histories: replacing,
    };
    expect(kinds({ ...seen, faults: [kill] })).toEqual([]);
    expect(kinds(seen)).toEqual(["OVERLAP"]);
  });

  it("finds an overlap of two runs with another run between them", () => {
    const third = { ...run, id: "r3", nominal: due + 70, token: 3 };
    const evidence: Partial<Evidence> = {
      targets: [target, { ...target, nominal: due + 50 }, { ...target, nominal: due + 70 }],
      runs: [run, next, third],
      journal: [
        ...attempt(1, { until: due + 500 }),
        ...attempt(2, { run: "r2", fence: 1, at: due + 60, until: due + 65 }),
        ...attempt(3, { run: "r3", fence: 1, at: due + 80, until: due + 90 }),
      ],
      histories: [{ ...history, job: { ...job, overlap: "queue_all" } }],
    };
    expect(kinds(evidence)).toEqual(["OVERLAP", "OVERLAP"]);
  });
});

describe("the judge of replaced runs", () => {
  const histories = [{ ...history, job: { ...job, overlap: "cancel_running" } }] as const;
  const old: RunRow = { ...run, status: "cancelled", reason: "cancelled_by_overlap", token: null };
  const newer: RunRow = { ...run, id: "r2", nominal: due + 1_000, token: 2, createdAt: due + 1_005 };
  const seen = (first: RunRow, until: number): Partial<Evidence> => ({
    histories,
    targets: [target, { ...target, nominal: newer.nominal }],
    runs: [
      { ...first, finishedAt: until + 5 },
      { ...newer, finishedAt: until + 300 },
    ],
    journal: [
      ...attempt(1, { until, outcome: first.token === null ? "gone" : "done" }),
      ...attempt(2, { run: "r2", fence: 1, at: Math.max(until, newer.nominal) + 10 }),
    ],
  });

  it("accepts a run that was cancelled when a newer run replaced it", () => {
    const verdict = judge({ ...good, ...seen(old, due + 1_050) });
    expect(verdict.violations).toEqual([]);
    expect(verdict.runs).toEqual({ ok: 1, repeated: 0, replaced: 1, abandoned: 0 });
  });

  it("reports a cancelled run as UNDONE without a newer run, and under a policy that does not replace", () => {
    expect(kinds({ ...seen(old, due + 900), histories })).toEqual(["UNDONE"]);
    expect(
      kinds({ ...seen(old, due + 1_050), histories: [{ ...history, job: { ...job, overlap: "queue_one" } }] }),
    ).toEqual(["UNDONE"]);
  });

  it("does not count an older occurrence as a replacement if its run was created just afterwards", () => {
    const evidence = seen(old, due + 1_050);
    const late = { ...newer, createdAt: due + 1_020, finishedAt: due + 6_100 };
    const before = { ...old, createdAt: due + 1_010, finishedAt: due + 1_055 };
    const journal = [...attempt(1, { until: due + 1_050, outcome: "gone" })];
    journal.push(...attempt(2, { run: "r2", fence: 1, at: due + 1_060, until: due + 6_060 }));
    expect(kinds({ ...evidence, runs: [before, late], journal })).toEqual([]);
  });

  it("accepts a replaced run that ended before the stop could reach it, and reports one that continued as OVERLAP", () => {
    expect(kinds(seen(run, due + 3_900))).toEqual([]);
    expect(kinds(seen(run, due + 4_100))).toEqual(["OVERLAP"]);
    expect(kinds({ ...seen(run, due + 4_100), faults: [{ ...kill, from: due + 2_000 }] })).toEqual([]);
  });
});
