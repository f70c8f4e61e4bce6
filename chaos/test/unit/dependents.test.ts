import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../src/journal/journal-server.js";
import type { Evidence, RunRow } from "../../src/judge/evidence.js";
import { judge } from "../../src/judge/judge.js";
import { planRun } from "../../src/plan/plan.js";
import type { DependentHistory } from "../../src/targets/job-history.js";

const now = Date.UTC(2026, 0, 5, 12);
const dependent = { key: "after-0", upstream: ["a"], mode: "any", on: "success", workMs: 0, changes: [] } as const;
const history: DependentHistory = { dependent, sentAt: now - 2_000, acknowledgedAt: now - 1_000, changes: [] };
const end: RunRow = {
  id: "u1",
  job: "a",
  nominal: now - 500,
  trigger: "run_now:x",
  status: "succeeded",
  reason: null,
  fence: 1,
  losses: 0,
  token: 1,
  createdAt: now - 500,
  finishedAt: now,
};
const started: RunRow = {
  ...end,
  id: "d1",
  job: "after-0",
  nominal: now,
  trigger: "after:u1",
  token: 2,
  createdAt: now + 5,
  finishedAt: now + 50,
};

const workOf = ({ id: run, job, token, fence }: RunRow, at: number): JournalEntry[] => [
  { event: "start", token: token ?? 0, run, job, fence, at },
  { event: "end", token: token ?? 0, outcome: "done", at: at + 10 },
];

function verdictOf(runs: readonly RunRow[], over: Partial<Evidence> = {}) {
  // Other tests judge the upstream runs themselves.
  const upstream = (key: string) =>
    ({
      job: { key, overlap: "allow", window: null },
      sentAt: 0,
      acknowledgedAt: 0,
      changes: [],
      runNows: ["unknown", "unknown"],
    }) as unknown as Evidence["histories"][number];
  return judge({
    histories: [upstream("a"), upstream("b")],
    dependents: [history],
    targets: [],
    journal: runs.flatMap((run) => workOf(run, run.nominal + 20)),
    runs,
    ledger: [],
    faults: [],
    aftermathMs: 10_000,
    ...over,
  });
}
const kinds = (...args: Parameters<typeof verdictOf>): string[] =>
  verdictOf(...args).violations.map(({ kind }) => kind);

describe("the judge of dependent jobs", () => {
  it("the judge accepts a dependent job where each end that counts started one run", () => {
    const failed = {
      ...end,
      id: "u2",
      trigger: "run_now:y",
      status: "failed",
      reason: "worker_lost",
      losses: 4,
      token: null,
    } as const;
    expect(verdictOf([end, started, failed])).toMatchObject({ upstreamEnds: { ok: 1, optional: 0 }, violations: [] });
  });

  it("reports an end that started nothing as MISSED, unless it precedes the acknowledgement of the job", () => {
    expect(kinds([end])).toEqual(["MISSED"]);
    const before = { ...end, finishedAt: now - 1_500 };
    expect(verdictOf([before])).toMatchObject({ upstreamEnds: { ok: 0, optional: 1 }, violations: [] });
    const unknown = { ...history, acknowledgedAt: null };
    expect(kinds([end], { dependents: [unknown] })).toEqual([]);
  });

  it("reports two runs for one upstream end as DOUBLE", () => {
    expect(kinds([end, started, { ...started, id: "d2", token: 3 }])).toContain("DOUBLE");
  });

  it("reports a run as UNEXPECTED if no upstream end that counts started it", () => {
    expect(kinds([started])).toEqual(["UNEXPECTED"]);
    const cancelled = { ...end, status: "cancelled", reason: "cancelled_by_overlap" } as const;
    expect(kinds([cancelled, started])).toContain("UNEXPECTED");
    expect(kinds([end, started, { ...started, id: "d3", job: "x", token: 3 }])).toEqual(["UNEXPECTED"]);
  });

  it("reports dependent work before its upstream end as EARLY, a run without an end as UNDONE, and a run without work as MISSED", () => {
    expect(kinds([end, started], { journal: [...workOf(end, now - 400), ...workOf(started, now - 1)] })).toEqual([
      "EARLY",
    ]);
    expect(kinds([end, { ...started, status: "live", finishedAt: null, token: null }])).toEqual(["UNDONE"]);
    expect(kinds([end, { ...started, token: null }], { journal: workOf(end, now - 400) })).toEqual(["MISSED"]);
  });
});

describe("the judge of paused dependent jobs", () => {
  const minute = 60_000;
  /** Paused from a minute before the end of the upstream run to a minute after it. */
  const pausedWith = (missed: "none" | "latest" | "all"): DependentHistory => ({
    ...history,
    acknowledgedAt: now - 10 * minute,
    changes: [
      { change: { kind: "pause", until: null, missed }, sentAt: now - minute, settledAt: now - minute + 10 },
      { change: { kind: "resume", missed }, sentAt: now + minute, settledAt: now + minute + 10 },
    ],
  });
  const before = { ...end, id: "u0", nominal: now - 21_000, finishedAt: now - 20_000, token: 5 };
  const startedBefore = { ...started, id: "d0", trigger: "after:u0", token: 6 };

  it("requires every end inside a pause to start a run if the resume takes all", () => {
    const over = { dependents: [pausedWith("all")] };
    expect(kinds([before, end, started, startedBefore], over)).toEqual([]);
    expect(kinds([before, end, started], over)).toEqual(["MISSED"]);
  });

  it("forbids every end inside a pause to start a run if the resume takes none", () => {
    const over = { dependents: [pausedWith("none")] };
    expect(kinds([before, end], over)).toEqual([]);
    expect(kinds([before, end, started], over)).toEqual(["UNEXPECTED"]);
  });

  it("requires only the latest end inside a pause to start a run if the resume takes the latest", () => {
    const over = { dependents: [pausedWith("latest")] };
    expect(kinds([before, end, started], over)).toEqual([]);
    expect(kinds([before, end], over)).toEqual(["MISSED"]);
    expect(kinds([before, end, started, startedBefore], over)).toEqual(["UNEXPECTED"]);
  });

  it("requires no start while it is unknown whether the job was paused, and every start outside that time", () => {
    const { changes } = pausedWith("none");
    const unknown = { ...pausedWith("none"), changes: changes.map((one) => ({ ...one, settledAt: null })) };
    expect(kinds([end], { dependents: [unknown] })).toEqual([]);
    const earlier = { ...end, finishedAt: now - 2 * minute };
    expect(kinds([earlier], { dependents: [unknown] })).toEqual(["MISSED"]);
  });

  it("judges an end by the setting that was in force when the run ended", () => {
    const edit = {
      change: { kind: "edit", on: "finish" } as const,
      sentAt: now - minute,
      settledAt: now - minute + 10,
    };
    const edited = { ...pausedWith("none"), changes: [edit] };
    const failed = { ...end, status: "failed", reason: "worker_lost", losses: 4, token: null } as const;
    expect(kinds([failed], { dependents: [edited] })).toEqual(["MISSED"]);
    const soon = { ...failed, finishedAt: now - minute };
    expect(kinds([soon], { dependents: [edited] })).toEqual([]);
    const earlier = { ...failed, finishedAt: now - 2 * minute };
    expect(kinds([earlier, started], { dependents: [edited] })).toContain("UNEXPECTED");
  });
});

describe("the judge of jobs that depend on all of several jobs", () => {
  const both: DependentHistory = {
    ...history,
    dependent: { ...dependent, upstream: ["a", "b"], mode: "all", on: "finish" },
  };
  const over = { dependents: [both] };
  const other = { ...end, id: "v1", job: "b", trigger: "run_now:z", token: 7, finishedAt: now + 1 };
  const round = { ...started, trigger: "after:v1:u1:v1", nominal: now + 1 };
  it("the judge accepts a dependent job where each complete round started one run", () => {
    expect(kinds([end, other, round], over)).toEqual([]);
    const again = { ...end, id: "u2", trigger: "run_now:y", token: 8, finishedAt: now + 20_000 };
    expect(kinds([end, other, round, again], over)).toEqual([]);
  });

  it("reports a complete round that started nothing as MISSED", () => {
    const far = { ...over, dependents: [{ ...both, acknowledgedAt: now - 10_000 }] };
    expect(kinds([end, other], far)).toEqual(["MISSED"]);
    expect(kinds([end], far)).toEqual([]);
  });

  it("reports an end that started two rounds as DOUBLE, and a start from an incomplete round as UNEXPECTED", () => {
    const more = { ...other, id: "v2", trigger: "run_now:w", token: 9, finishedAt: now + 30 };
    const twice = { ...round, id: "d2", trigger: "after:v2:u1:v2", token: 10 };
    expect(kinds([end, other, more, round, twice], over)).toContain("DOUBLE");
    expect(kinds([end, other, { ...round, trigger: "after:u1" }], over)).toContain("UNEXPECTED");
  });
});

describe("the plan of dependent jobs", () => {
  it("a plan has every kind of dependent job, on jobs that exist from the start and are never cancelled", () => {
    const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
    for (const seed of [1, 7, 30]) {
      const plan = planRun({ seed, nodes: 3, loadMs: 72_000, limits, kinds: null, recurring: 36 });
      const { dependents, workload } = plan;
      expect(new Set(dependents.map(({ on }) => on))).toEqual(new Set(["success", "finish"]));
      const keys = ["after-0", "after-either", "after-both", "after-after"];
      expect(dependents.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
      expect(new Set(dependents.map(({ mode }) => mode))).toEqual(new Set(["any", "all"]));
      const changes = dependents.flatMap((one) => one.changes.map(({ change }) => change));
      expect(changes.flatMap((one) => (one.kind === "resume" ? [one.missed] : []))).toEqual(["all", "none", "latest"]);
      expect(changes.some(({ kind }) => kind === "edit")).toBe(true);
      for (const key of dependents.flatMap(({ upstream }) => upstream)) {
        const planned = workload.find(({ job }) => job.key === key);
        expect(planned?.changes.some(({ change }) => change.kind === "cancel") ?? false).toBe(false);
        expect(planned?.createAtMs ?? 0).toBe(0);
      }
    }
  });
});
