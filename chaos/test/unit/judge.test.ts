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

/** One try: begins, and ends 100 ms later unless told otherwise. */
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
  it("finds nothing wrong where the target ran once, and says how late", () => {
    expect(judge(good)).toEqual({
      targets: { ok: 1, skipped: 0, optional: 0 },
      upstreamEnds: { ok: 0, optional: 0 },
      runs: { ok: 1, repeated: 0, replaced: 0, abandoned: 0 },
      lateMs: [10],
      violations: [],
    });
  });

  it("calls a target without a run and without a ledger entry MISSED", () => {
    expect(kinds({ runs: [], journal: [] })).toEqual(["MISSED"]);
  });

  it("lets a target that nobody acknowledged be absent or there", () => {
    const targets = [{ ...target, required: false }];
    expect(judge({ ...good, targets, runs: [], journal: [] }).targets.optional).toBe(1);
    expect(kinds({ targets })).toEqual([]);
  });

  it("takes a ledger entry whose policy had a right to it", () => {
    const verdict = judge({ ...good, runs: [], journal: [], ledger: [missed] });
    expect(verdict.targets.skipped).toBe(1);
    expect(verdict.violations).toEqual([]);
  });

  it("calls a target MISSED whose ledger entry came before the threshold, or has a reason that nobody knows", () => {
    expect(kinds({ runs: [], journal: [], ledger: [{ ...missed, recordedAt: due + 30_000 }] })).toEqual(["MISSED"]);
    expect(kinds({ runs: [], journal: [], ledger: [{ ...missed, reason: "lazy" }] })).toEqual(["MISSED"]);
  });

  it("calls a target with both a run and a ledger entry DOUBLE", () => {
    expect(kinds({ ledger: [missed] })).toEqual(["DOUBLE"]);
  });

  it("calls a run MISSED that succeeded without its work", () => {
    expect(kinds({ journal: [], runs: [{ ...run, token: null }] })).toEqual(["MISSED"]);
  });

  it("calls a run that did not end UNDONE", () => {
    expect(kinds({ runs: [{ ...run, status: "live", token: null, finishedAt: null }] })).toEqual(["UNDONE"]);
  });
});

describe("the judge of runs", () => {
  it("calls work before its time EARLY, by any amount", () => {
    expect(kinds({ journal: attempt(1, { at: due - 1 }) })).toEqual(["EARLY"]);
  });

  it("calls a run that nothing promised UNEXPECTED", () => {
    const other = { ...run, id: "r2", nominal: due + 500, token: 2, fence: 1 };
    const journal = [...attempt(1), ...attempt(2, { run: "r2", fence: 1, at: due + 510 })];
    expect(kinds({ runs: [run, other], journal })).toEqual(["UNEXPECTED"]);
  });

  it("calls work for a run that the database does not know UNEXPECTED", () => {
    expect(kinds({ journal: [...attempt(1), ...attempt(2, { run: "r9" })] })).toEqual(["UNEXPECTED"]);
  });

  it("calls two runs of one occurrence DOUBLE", () => {
    const journal = [...attempt(1), ...attempt(2, { run: "r2", fence: 1 })];
    expect(kinds({ runs: [run, { ...run, id: "r2", token: 2 }], journal })).toEqual(["DOUBLE"]);
  });

  it("calls two accepted completions of one run DOUBLE", () => {
    expect(kinds({ runs: [run, run] })).toEqual(["DOUBLE"]);
  });

  it("calls a second try without a cause DOUBLE", () => {
    expect(kinds({ runs: [second], journal: twice })).toEqual(["DOUBLE"]);
    expect(
      kinds({ runs: [second], journal: twice, faults: [{ ...kill, from: due - 90_000, until: due - 60_000 }] }),
    ).toEqual(["DOUBLE"]);
  });

  it("takes a second try after a fault, and after a failure", () => {
    expect(judge({ ...good, runs: [second], journal: twice, faults: [kill] }).runs.repeated).toBe(1);
    const journal = [...attempt(1, { outcome: "failed" }), ...attempt(2, { at: due + 6_000 })];
    expect(kinds({ runs: [second], journal })).toEqual([]);
  });

  it("calls the result of an older try STALE FENCE ACCEPTED, once a newer one was given out", () => {
    expect(kinds({ runs: [{ ...second, token: 1 }], journal: twice, faults: [kill] })).toEqual([
      "STALE FENCE ACCEPTED",
    ]);
    const row = { ...run, fence: 1, finishedAt: due + 6_050 };
    expect(kinds({ runs: [row], journal: twice, faults: [kill] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("calls tries that share a fence STALE FENCE ACCEPTED", () => {
    const journal = [...attempt(1, { outcome: "gone" }), ...attempt(2, { fence: 1, at: due + 6_000 })];
    expect(kinds({ runs: [{ ...second, fence: 1 }], journal, faults: [kill] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("calls an answer that belongs to another run STALE FENCE ACCEPTED", () => {
    expect(kinds({ runs: [{ ...run, token: 7 }] })).toEqual(["STALE FENCE ACCEPTED"]);
  });

  it("takes a run that lost four workers as abandoned, and calls any other failed end UNDONE", () => {
    const failed = { ...run, status: "failed", reason: "worker_lost", token: null } as const;
    expect(judge({ ...good, runs: [{ ...failed, losses: 4 }] }).runs.abandoned).toBe(1);
    expect(kinds({ runs: [{ ...failed, losses: 2 }] })).toEqual(["UNDONE"]);
    expect(kinds({ runs: [{ ...failed, reason: "handler_error" }] })).toEqual(["UNDONE"]);
  });
});

describe("the judge of a changed job", () => {
  const cancelled: JobHistory = {
    ...history,
    changes: [{ change: { kind: "cancel", running: "signal" }, sentAt: due, settledAt: due + 20 }],
  };
  const ended: RunRow = { ...run, status: "cancelled", reason: "cancelled_by", token: null };

  it("calls a run inside a pause UNEXPECTED, and asks the ledger for it", () => {
    const targets = [{ ...target, fate: "paused" }] as const;
    const paused = { job: "a", reason: "paused", from: due, to: due, recordedAt: due + 5_000 };
    expect(kinds({ targets })).toEqual(["UNEXPECTED"]);
    expect(kinds({ targets, runs: [], journal: [] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [{ ...paused, reason: "missed" }] })).toEqual(["MISSED"]);
    expect(judge({ ...good, targets, runs: [], journal: [], ledger: [paused] }).targets.skipped).toBe(1);
  });

  it("does not take a pause for an omission where there was none", () => {
    const paused = { job: "a", reason: "paused", from: due, to: due, recordedAt: due + 5_000 };
    expect(kinds({ runs: [], journal: [], ledger: [paused] })).toEqual(["MISSED"]);
  });

  it("takes a run that ended with its job as cancelled, and from no other job", () => {
    expect(kinds({ histories: [cancelled], runs: [ended] })).toEqual([]);
    expect(kinds({ runs: [ended] })).toEqual(["UNDONE"]);
    expect(kinds({ histories: [cancelled], runs: [{ ...ended, finishedAt: due - 1 }] })).toEqual(["UNDONE"]);
  });

  it("takes a run that waited for its time when its job was cancelled for none at all", () => {
    expect(kinds({ histories: [cancelled], targets: [], runs: [ended], journal: [] })).toEqual([]);
    expect(kinds({ histories: [cancelled], targets: [], runs: [ended] })).toEqual(["UNEXPECTED"]);
    expect(kinds({ histories: [cancelled], targets: [], runs: [run] })).toEqual(["UNEXPECTED"]);
  });

  it("counts runs out of turn by the calls that asked for them", () => {
    const own: RunRow = { ...run, id: "r2", trigger: "run_now:r2", token: 2 };
    const seen = { runs: [run, own], journal: [...attempt(1), ...attempt(2, { run: "r2", fence: 1 })] };
    const asked = (...runNows: JobHistory["runNows"]) => ({ histories: [{ ...history, runNows }] });
    expect(kinds({ ...seen, ...asked("made") })).toEqual([]);
    expect(kinds({ ...seen, ...asked("unknown") })).toEqual([]);
    expect(kinds({ ...seen, ...asked("refused") })).toEqual(["UNEXPECTED"]);
    expect(kinds(asked("made"))).toEqual(["MISSED"]);
  });
});

describe("the judge of a maintenance window", () => {
  const window = { mode: "hold", from: due, to: due + 5_000 } as const;
  const histories = [{ ...history, job: { ...job, window } }];

  it("calls a run inside a window that skips UNEXPECTED, and asks the ledger for it", () => {
    const targets = [{ ...target, fate: "window" }] as const;
    const entry = { job: "a", reason: "window", from: due, to: due, recordedAt: due + 5 };
    expect(kinds({ targets })).toEqual(["UNEXPECTED"]);
    expect(kinds({ targets, runs: [], journal: [] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [entry] })).toEqual([]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [{ ...entry, reason: "paused" }] })).toEqual(["MISSED"]);
    expect(kinds({ targets, runs: [], journal: [], ledger: [missed] })).toEqual([]);
  });

  it("calls work that a window should hold back EARLY until it is over", () => {
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

  it("calls runs of a job that work at the same time OVERLAP, if it does not allow that", () => {
    expect(kinds({ ...both, histories: [{ ...history, job: { ...job, overlap: "skip" } }] })).toEqual(["OVERLAP"]);
  });

  it("lets the runs of any other job work at the same time", () => {
    expect(kinds(both)).toEqual([]);
  });

  it("takes work whose result was refused beside another run's only after a fault", () => {
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

  it("finds two that are not next to each other", () => {
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

describe("the judge of runs that replace one another", () => {
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

  it("takes one that ended as cancelled when a newer one came", () => {
    const verdict = judge({ ...good, ...seen(old, due + 1_050) });
    expect(verdict.violations).toEqual([]);
    expect(verdict.runs).toEqual({ ok: 1, repeated: 0, replaced: 1, abandoned: 0 });
  });

  it("calls it UNDONE where none came, and where the job does not print so", () => {
    expect(kinds({ ...seen(old, due + 900), histories })).toEqual(["UNDONE"]);
    expect(
      kinds({ ...seen(old, due + 1_050), histories: [{ ...history, job: { ...job, overlap: "queue_one" } }] }),
    ).toEqual(["UNDONE"]);
  });

  it("does not take one that was made just before it for one that came to replace it", () => {
    const evidence = seen(old, due + 1_050);
    const late = { ...newer, createdAt: due + 1_020, finishedAt: due + 6_100 };
    const before = { ...old, createdAt: due + 1_010, finishedAt: due + 1_055 };
    const journal = [...attempt(1, { until: due + 1_050, outcome: "gone" })];
    journal.push(...attempt(2, { run: "r2", fence: 1, at: due + 1_060, until: due + 6_060 }));
    expect(kinds({ ...evidence, runs: [before, late], journal })).toEqual([]);
  });

  it("takes one that was done before it heard of it, and calls one that went on OVERLAP", () => {
    expect(kinds(seen(run, due + 3_900))).toEqual([]);
    expect(kinds(seen(run, due + 4_100))).toEqual(["OVERLAP"]);
    expect(kinds({ ...seen(run, due + 4_100), faults: [{ ...kill, from: due + 2_000 }] })).toEqual([]);
  });
});
