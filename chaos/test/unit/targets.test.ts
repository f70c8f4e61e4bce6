import { describe, expect, it } from "vitest";
import type { Change, ChaosJob, Rule } from "../../src/plan/job.js";
import type { DoneChange, JobHistory } from "../../src/targets/job-history.js";
import { type Target, chooseTimeline, instantsOf, targetsIn } from "../../src/targets/targets.js";

const begin = Date.UTC(2026, 0, 5, 12);
const everySecond: Rule = { kind: "every", everyMs: 1_000, startsAt: begin, endsAt: begin + 9_000 };
const job: ChaosJob = {
  key: "a",
  rule: everySecond,
  workMs: 0,
  failsFirst: false,
  overlap: "allow",
  misfire: { policy: "run_once", thresholdMs: 60_000 },
  window: null,
  excludesCalendar: false,
};
const done = (change: Change, sent: number, settled: number | null): DoneChange => ({
  change,
  sentAt: begin + sent,
  settledAt: settled === null ? null : begin + settled,
});
const history = (...changes: DoneChange[]): JobHistory => ({
  job,
  sentAt: begin - 100,
  acknowledgedAt: begin - 50,
  changes,
  runNows: [],
});
/** The seconds of the targets that run, and of those that a pause left out. */
const fatesOf = (one: JobHistory, effects: (number | null)[]) => {
  const targets = targetsIn(
    one,
    effects.map((at) => (at === null ? null : begin + at)),
  );
  const secondsOf = (fate: string) =>
    targets.filter((target) => target.fate === fate).map(({ nominal }) => (nominal - begin) / 1_000);
  return { run: secondsOf("run"), paused: secondsOf("paused") };
};

describe("the targets of a job", () => {
  it("targets of an interval count from its start, and are required after the acknowledgement", () => {
    const targets = targetsIn({ ...history(), sentAt: begin + 500, acknowledgedAt: begin + 2_000 }, []);
    expect(targets.slice(0, 4).map(({ nominal, required }) => [nominal - begin, required])).toEqual([
      [1_000, false],
      [2_000, false],
      [3_000, true],
      [4_000, true],
    ]);
  });

  it("targets of a cron expression follow the wall clock of its zone", () => {
    const rule = { kind: "cron", cron: "30 17 * * *", timeZone: "Asia/Kolkata", endsAt: begin + 86_400_000 } as const;
    expect(instantsOf(rule, begin)).toEqual([begin, begin + 86_400_000]);
  });

  it("targets of an unacknowledged job are optional, and a one-off job has its target even if its time has passed", () => {
    const once = { ...job, rule: { kind: "at", at: begin - 5_000 } } as const;
    const target = { job: "a", nominal: begin - 5_000, fate: "run", isLate: false };
    expect(targetsIn({ ...history(), job: once, acknowledgedAt: null }, [])).toEqual([{ ...target, required: false }]);
    expect(targetsIn({ ...history(), job: once }, [])).toEqual([{ ...target, required: true }]);
  });

  it("targets of an edited job follow the old rule up to the edit and the new rule after it", () => {
    const edit = done({ kind: "edit", rule: { ...everySecond, everyMs: 3_000, endsAt: begin + 9_000 } }, 4_000, 4_100);
    expect(fatesOf(history(edit), [4_050]).run).toEqual([0, 1, 2, 3, 4, 6, 9]);
  });

  it.each([
    ["none", [0, 1, 2, 6, 7, 8, 9], [3, 4, 5]],
    ["latest", [0, 1, 2, 5, 6, 7, 8, 9], [3, 4]],
    ["all", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], []],
  ] as const)("targets inside a pause are settled by its resume with %s", (missed, run, paused) => {
    const pause = done({ kind: "pause", until: null, missed: "none" }, 2_100, 2_200);
    const resume = done({ kind: "resume", missed }, 5_400, 5_500);
    const fates = fatesOf(history(pause, resume), [2_150, 5_450]);
    expect({ run: fates.run.toSorted((a, b) => a - b), paused: fates.paused }).toEqual({ run, paused });
  });

  it("a job has no targets after a pause without an end, or after its cancellation", () => {
    const pause = done({ kind: "pause", until: null, missed: "none" }, 2_100, 2_200);
    const cancel = done({ kind: "cancel", running: "keep" }, 2_100, 2_200);
    expect(fatesOf(history(pause), [2_150])).toEqual({ run: [0, 1, 2], paused: [] });
    expect(fatesOf(history(cancel), [2_150])).toEqual({ run: [0, 1, 2], paused: [] });
  });

  it("targets inside a skipping window are left out, and those inside a holding window are late", () => {
    const within = (mode: "hold" | "skip"): JobHistory => {
      const window = { mode, from: begin + 2_000, to: begin + 4_000 };
      return { ...history(), job: { ...job, window } };
    };
    const seconds = (mode: "hold" | "skip", isChosen: (target: Target) => boolean): number[] =>
      targetsIn(within(mode), [])
        .filter(isChosen)
        .map(({ nominal }) => (nominal - begin) / 1_000);
    expect(seconds("skip", ({ fate }) => fate === "window")).toEqual([2, 3]);
    expect(seconds("hold", ({ fate, isLate }) => fate === "run" && isLate)).toEqual([2, 3]);
    expect(seconds("hold", ({ fate }) => fate === "run")).toHaveLength(10);
  });

  it("a job has no targets while its calendar is closed", () => {
    const closed = done({ kind: "edit", rule: { kind: "never" } }, 2_900, 6_000);
    const open = done({ kind: "edit", rule: everySecond }, 6_900, 7_400);
    expect(fatesOf(history(closed, open), [4_000, 7_000]).run).toEqual([0, 1, 2, 3, 4, 8, 9]);
  });

  it("targets do not change by a change that never took effect, or by a resume of a job that was not paused", () => {
    const resume = done({ kind: "resume", missed: "none" }, 2_100, 2_200);
    const cancel = done({ kind: "cancel", running: "keep" }, 2_100, null);
    expect(fatesOf(history(resume), [2_150]).run).toHaveLength(10);
    expect(fatesOf(history(cancel), [null]).run).toHaveLength(10);
  });
});

describe("the choice of a timeline", () => {
  const slow: Rule = { ...everySecond, everyMs: 2_500 };
  /** Chooses a timeline by the seconds that ran; returns how many of them do not fit. */
  const flawsOf = (one: JobHistory, ran: readonly number[]): number => {
    const flawsIn = (nominals: readonly number[]): number => {
      const expected = new Set(nominals.map((at) => (at - begin) / 1_000));
      return ran.filter((at) => !expected.has(at)).length + [...expected].filter((at) => !ran.includes(at)).length;
    };
    const runsOf = (targets: readonly { fate: string; nominal: number }[]): number[] =>
      targets.filter(({ fate }) => fate === "run").map(({ nominal }) => nominal);
    return flawsIn(runsOf(chooseTimeline(one, (targets) => flawsIn(runsOf(targets)))));
  };

  it("a timeline has either the old rule or the new one at each instant between request and answer", () => {
    const edited = history(done({ kind: "edit", rule: slow }, 1_900, 3_100));
    expect(flawsOf(edited, [0, 1, 2.5, 5, 7.5])).toBe(0);
    expect(flawsOf(edited, [0, 1, 2, 2.5, 5, 7.5])).toBe(0);
    expect(flawsOf(edited, [0, 1, 2, 3, 5, 7.5])).toBe(0);
    expect(flawsOf(edited, [0, 1, 5, 7.5])).toBe(1);
    expect(flawsOf(edited, [0, 1, 2.5, 3, 5, 7.5])).toBe(1);
  });

  it("an unanswered change may take effect at any time, or never", () => {
    const unknown = history(done({ kind: "cancel", running: "keep" }, 1_900, null));
    expect(flawsOf(unknown, [0, 1])).toBe(0);
    expect(flawsOf(unknown, [0, 1, 2, 3, 4, 5])).toBe(0);
    expect(flawsOf(unknown, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toBe(0);
    expect(flawsOf(unknown, [0])).toBe(1);
    expect(flawsOf(unknown, [0, 1, 3])).toBe(1);
  });

  it("the choice of a timeline combines the uncertainty at both ends of a pause", () => {
    const pause = done({ kind: "pause", until: null, missed: "none" }, 1_900, 3_100);
    const resume = done({ kind: "resume", missed: "latest" }, 5_900, 7_100);
    const paused = history(pause, resume);
    expect(flawsOf(paused, [0, 1, 5, 6, 7, 8, 9])).toBe(0);
    expect(flawsOf(paused, [0, 1, 2, 3, 7, 8, 9])).toBe(0);
    expect(flawsOf(paused, [0, 1, 2, 3, 8, 9])).toBe(1);
    expect(flawsOf(paused, [0, 1, 4, 5, 6, 7, 8, 9])).toBe(1);
  });

  it("a pause ends at its time unless another change takes effect first", () => {
    const pause = done({ kind: "pause", until: begin + 4_000, missed: "all" }, 1_900, 1_950);
    const expiry = done({ kind: "resume", missed: "none" }, 4_000, 6_500);
    const resume = done({ kind: "resume", missed: "latest" }, 5_500, 5_600);
    expect(flawsOf(history(pause, expiry), [0, 1, 5, 6, 7, 8, 9])).toBe(0);
    expect(flawsOf(history(pause, expiry), [0, 1])).toBeGreaterThan(0);
    expect(flawsOf(history(pause, expiry, resume), [0, 1, 5, 6, 7, 8, 9])).toBe(0);
    expect(flawsOf(history(pause, expiry, resume), [0, 1, 6, 7, 8, 9])).toBe(0);
  });
});
