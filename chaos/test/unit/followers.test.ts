import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../src/journal/entry.js";
import type { Evidence, RunRow } from "../../src/judge/evidence.js";
import { judge } from "../../src/judge/judge.js";
import { planRun } from "../../src/plan/plan.js";
import type { FollowerLife } from "../../src/targets/follower-life.js";

const now = Date.UTC(2026, 0, 5, 12);
const follower = { key: "after-0", follows: ["a"], on: "success", workMs: 0 } as const;
const life: FollowerLife = { follower, sentAt: now - 2_000, acknowledgedAt: now - 1_000 };
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
  // What makes the upstream runs is another question.
  const upstream = {
    job: { key: "a", overlap: "allow", window: null },
    sentAt: 0,
    acknowledgedAt: 0,
    changes: [],
    runNows: ["unknown", "unknown"],
  } as unknown as Evidence["lives"][number];
  return judge({
    lives: [upstream],
    followers: [life],
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

describe("the judge of jobs that follow others", () => {
  it("finds nothing wrong where each end that counts started one run", () => {
    const failed = {
      ...end,
      id: "u2",
      trigger: "run_now:y",
      status: "failed",
      reason: "worker_lost",
      losses: 4,
      token: null,
    } as const;
    expect(verdictOf([end, started, failed])).toMatchObject({ followed: { ok: 1, optional: 0 }, violations: [] });
  });

  it("calls an end that started nothing MISSED, unless it came before the job was acknowledged", () => {
    expect(kinds([end])).toEqual(["MISSED"]);
    const before = { ...end, finishedAt: now - 1_500 };
    expect(verdictOf([before])).toMatchObject({ followed: { ok: 0, optional: 1 }, violations: [] });
    const unknown = { ...life, acknowledgedAt: null };
    expect(kinds([end], { followers: [unknown] })).toEqual([]);
  });

  it("calls two runs for one end DOUBLE", () => {
    expect(kinds([end, started, { ...started, id: "d2", token: 3 }])).toContain("DOUBLE");
  });

  it("calls a run UNEXPECTED that no end started which counts", () => {
    expect(kinds([started])).toEqual(["UNEXPECTED"]);
    const cancelled = { ...end, status: "cancelled", reason: "cancelled_by_overlap" } as const;
    expect(kinds([cancelled, started])).toContain("UNEXPECTED");
    expect(kinds([end, started, { ...started, id: "d3", job: "x", token: 3 }])).toEqual(["UNEXPECTED"]);
  });

  it("calls work before the end that started it EARLY, one that did not end UNDONE, one without its work MISSED", () => {
    expect(kinds([end, started], { journal: [...workOf(end, now - 400), ...workOf(started, now - 1)] })).toEqual([
      "EARLY",
    ]);
    expect(kinds([end, { ...started, status: "live", finishedAt: null, token: null }])).toEqual(["UNDONE"]);
    expect(kinds([end, { ...started, token: null }], { journal: workOf(end, now - 400) })).toEqual(["MISSED"]);
  });
});

describe("a plan", () => {
  it("has jobs after others of each kind, which exist from the begin on and are not cancelled", () => {
    const limits = { leaseMs: 5_000, workerSilenceMs: 3_000 };
    for (const seed of [1, 7, 30]) {
      const plan = planRun({ seed, nodes: 3, loadMs: 72_000, limits, kinds: null, recurring: 36 });
      const { followers, workload } = plan;
      expect(new Set(followers.map(({ on }) => on))).toEqual(new Set(["success", "finish"]));
      expect(followers.map(({ key }) => key)).toEqual(expect.arrayContaining(["after-0", "after-both", "after-after"]));
      for (const key of followers.flatMap(({ follows }) => follows)) {
        const planned = workload.find(({ job }) => job.key === key);
        expect(planned?.changes.some(({ change }) => change.kind === "cancel") ?? false).toBe(false);
        expect(planned?.createAtMs ?? 0).toBe(0);
      }
    }
  });
});
