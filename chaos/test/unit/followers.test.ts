import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../src/journal/entry.js";
import type { Evidence, RunRow } from "../../src/judge/evidence.js";
import { judge } from "../../src/judge/judge.js";
import { planRun } from "../../src/plan/plan.js";
import type { FollowerLife } from "../../src/targets/follower-life.js";

const now = Date.UTC(2026, 0, 5, 12);
const follower = { key: "after-0", follows: ["a"], mode: "any", on: "success", workMs: 0, changes: [] } as const;
const life: FollowerLife = { follower, sentAt: now - 2_000, acknowledgedAt: now - 1_000, changes: [] };
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
  const upstream = (key: string) =>
    ({
      job: { key, overlap: "allow", window: null },
      sentAt: 0,
      acknowledgedAt: 0,
      changes: [],
      runNows: ["unknown", "unknown"],
    }) as unknown as Evidence["lives"][number];
  return judge({
    lives: [upstream("a"), upstream("b")],
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

describe("the judge of jobs that follow others and are paused", () => {
  const minute = 60_000;
  /** From a minute before the end to a minute after it. */
  const pausedWith = (missed: "none" | "latest" | "all"): FollowerLife => ({
    ...life,
    acknowledgedAt: now - 10 * minute,
    changes: [
      { change: { kind: "pause", until: null, missed }, sentAt: now - minute, settledAt: now - minute + 10 },
      { change: { kind: "resume", missed }, sentAt: now + minute, settledAt: now + minute + 10 },
    ],
  });
  const before = { ...end, id: "u0", nominal: now - 21_000, finishedAt: now - 20_000, token: 5 };
  const startedBefore = { ...started, id: "d0", trigger: "after:u0", token: 6 };

  it("asks for every end of the pause where the resume says all", () => {
    const over = { followers: [pausedWith("all")] };
    expect(kinds([before, end, started, startedBefore], over)).toEqual([]);
    expect(kinds([before, end, started], over)).toEqual(["MISSED"]);
  });

  it("takes none for right where the resume says none, and any start for wrong", () => {
    const over = { followers: [pausedWith("none")] };
    expect(kinds([before, end], over)).toEqual([]);
    expect(kinds([before, end, started], over)).toEqual(["UNEXPECTED"]);
  });

  it("asks for the latest end alone where the resume says latest", () => {
    const over = { followers: [pausedWith("latest")] };
    expect(kinds([before, end, started], over)).toEqual([]);
    expect(kinds([before, end], over)).toEqual(["MISSED"]);
    expect(kinds([before, end, started, startedBefore], over)).toEqual(["UNEXPECTED"]);
  });

  it("asks for nothing where it is not known whether the job was paused or resumed, and for all beyond", () => {
    const { changes } = pausedWith("none");
    const unknown = { ...pausedWith("none"), changes: changes.map((one) => ({ ...one, settledAt: null })) };
    expect(kinds([end], { followers: [unknown] })).toEqual([]);
    const earlier = { ...end, finishedAt: now - 2 * minute };
    expect(kinds([earlier], { followers: [unknown] })).toEqual(["MISSED"]);
  });

  it("goes by what counted when the run ended, where that was changed", () => {
    const turn = {
      change: { kind: "turn", on: "finish" } as const,
      sentAt: now - minute,
      settledAt: now - minute + 10,
    };
    const turned = { ...pausedWith("none"), changes: [turn] };
    const failed = { ...end, status: "failed", reason: "worker_lost", losses: 4, token: null } as const;
    expect(kinds([failed], { followers: [turned] })).toEqual(["MISSED"]);
    const soon = { ...failed, finishedAt: now - minute };
    expect(kinds([soon], { followers: [turned] })).toEqual([]);
    const earlier = { ...failed, finishedAt: now - 2 * minute };
    expect(kinds([earlier, started], { followers: [turned] })).toContain("UNEXPECTED");
  });
});

describe("the judge of jobs that follow all of several", () => {
  const both: FollowerLife = { ...life, follower: { ...follower, follows: ["a", "b"], mode: "all", on: "finish" } };
  const over = { followers: [both] };
  const other = { ...end, id: "v1", job: "b", trigger: "run_now:z", token: 7, finishedAt: now + 1 };
  const round = { ...started, trigger: "after:v1:u1:v1", nominal: now + 1 };
  it("finds nothing wrong where each round started one run", () => {
    expect(kinds([end, other, round], over)).toEqual([]);
    const again = { ...end, id: "u2", trigger: "run_now:y", token: 8, finishedAt: now + 20_000 };
    expect(kinds([end, other, round, again], over)).toEqual([]);
  });

  it("calls a round that started nothing MISSED", () => {
    const far = { ...over, followers: [{ ...both, acknowledgedAt: now - 10_000 }] };
    expect(kinds([end, other], far)).toEqual(["MISSED"]);
    expect(kinds([end], far)).toEqual([]);
  });

  it("calls an end that started two rounds DOUBLE, and a start without one end of each UNEXPECTED", () => {
    const more = { ...other, id: "v2", trigger: "run_now:w", token: 9, finishedAt: now + 30 };
    const twice = { ...round, id: "d2", trigger: "after:v2:u1:v2", token: 10 };
    expect(kinds([end, other, more, round, twice], over)).toContain("DOUBLE");
    expect(kinds([end, other, { ...round, trigger: "after:u1" }], over)).toContain("UNEXPECTED");
  });
});

describe("a plan", () => {
  it("has jobs after others of each kind, which exist from the begin on and are not cancelled", () => {
    const limits = { leaseMs: 5_000, workerTimeoutMs: 3_000 };
    for (const seed of [1, 7, 30]) {
      const plan = planRun({ seed, nodes: 3, loadMs: 72_000, limits, kinds: null, recurring: 36 });
      const { followers, workload } = plan;
      expect(new Set(followers.map(({ on }) => on))).toEqual(new Set(["success", "finish"]));
      const keys = ["after-0", "after-either", "after-both", "after-after"];
      expect(followers.map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
      expect(new Set(followers.map(({ mode }) => mode))).toEqual(new Set(["any", "all"]));
      const changes = followers.flatMap((one) => one.changes.map(({ change }) => change));
      expect(changes.flatMap((one) => (one.kind === "resume" ? [one.missed] : []))).toEqual(["all", "none", "latest"]);
      expect(changes.some(({ kind }) => kind === "turn")).toBe(true);
      for (const key of followers.flatMap(({ follows }) => follows)) {
        const planned = workload.find(({ job }) => job.key === key);
        expect(planned?.changes.some(({ change }) => change.kind === "cancel") ?? false).toBe(false);
        expect(planned?.createAtMs ?? 0).toBe(0);
      }
    }
  });
});
