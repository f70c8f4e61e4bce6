import {
  compileSchedule,
  type CronSchedule,
  type FiringPolicy,
  firingPolicy,
  type MaintenanceWindow,
  MaintenanceWindows,
  type ScheduleSpec,
} from "@carillon/core";
import { describe, expect, it } from "vitest";
import { type DueFacts, type DuePlan, planDue } from "../../../src/schedules/plan-due.js";

const jobId = "00000000-0000-7000-8000-000000000000";
const subject = { namespace: "default", queue: "default", labels: {} };
const at = (time: string): number => Date.parse(`2026-01-05T${time.padEnd(8, ":00")}Z`);
const cron = (expression: string, over: Partial<CronSchedule> = {}): ScheduleSpec => ({
  kind: "cron",
  cron: expression,
  timeZone: "UTC",
  ...over,
});
const minutely = cron("* * * * *");
const hourly = cron("0 * * * *");
const daily = cron("0 3 * * *");

interface Case {
  readonly schedule: ScheduleSpec;
  readonly policy?: Partial<FiringPolicy>;
  readonly catchUpTo?: number;
  readonly windows?: readonly MaintenanceWindow[];
}

function facts({ schedule, policy = {}, catchUpTo, windows = [] }: Case, nominal: number): DueFacts {
  const inForce = new MaintenanceWindows(windows);
  return {
    nominal,
    schedule: compileSchedule(schedule, { jobId }),
    policy: firingPolicy(policy),
    catchUpTo: catchUpTo ?? null,
    windowAt: (instant) => inForce.windowAt(instant, subject),
  };
}

const plan = (one: Case, nominal: string, now: string): DuePlan => planDue(facts(one, at(nominal)), at(now));
const next = (nominal: string, fireAt = nominal) => ({ nominal: at(nominal), fireAt: at(fireAt) });
const fires = (to: string) => ({ kind: "fire", next: next(to), catchUpTo: null });

function window(mode: "hold" | "skip", from: string, to: string, name = "upgrade"): MaintenanceWindow {
  return { name, mode, scope: { queue: "default" }, time: { kind: "once", from: at(from), to: at(to) } };
}

describe("occurrences within the misfire threshold", () => {
  it.each(["run_once", "skip", "run_all"] as const)(
    "an occurrence within the misfire threshold is fired, and the next one follows in its turn (%s)",
    (misfire) => {
      expect(plan({ schedule: minutely, policy: { misfire } }, "10:00", "10:01")).toEqual(fires("10:01"));
    },
  );

  it("lateness counts from the time at which jitter lets the occurrence fire", () => {
    const jittered = cron("0 * * * *", { jitterMs: 1_800_000 });
    const jitter = compileSchedule(jittered, { jobId }).jitterAt(at("10:00"));
    const policy = { misfire: "skip" } as const;
    expect(planDue(facts({ schedule: jittered, policy }, at("10:00")), at("10:00") + jitter + 60_000).kind).toBe(
      "fire",
    );
    expect(planDue(facts({ schedule: jittered, policy }, at("10:00")), at("10:00") + jitter + 60_001).kind).toBe(
      "pass",
    );
  });

  it("an occurrence is not fired before its jitter has passed", () => {
    const jittered = cron("0 * * * *", { jitterMs: 1_800_000 });
    const until = at("10:00") + compileSchedule(jittered, { jobId }).jitterAt(at("10:00"));
    expect(until).toBeGreaterThan(at("10:00"));
    expect(planDue(facts({ schedule: jittered }, at("10:00")), at("10:00"))).toEqual({ kind: "hold", until });
  });

  it("the last occurrence of a schedule leaves no next time", () => {
    const ending = cron("* * * * *", { endsAt: at("10:00") });
    expect(plan({ schedule: ending }, "10:00", "10:00")).toEqual({ kind: "fire", next: null, catchUpTo: null });
  });

  it("a schedule of a single instant leaves no next time", () => {
    expect(plan({ schedule: { kind: "at", at: at("10:00") } }, "10:00", "10:00")).toMatchObject({ next: null });
  });
});

describe("misfire run_once", () => {
  it("misfire run_once skips all late occurrences except the latest", () => {
    expect(plan({ schedule: minutely }, "10:00", "10:30:10")).toEqual({
      kind: "pass",
      through: at("10:29"),
      count: 30,
      reason: "missed",
      detail: null,
      next: next("10:30"),
      catchUpTo: null,
    });
    expect(plan({ schedule: minutely }, "10:30", "10:30:10")).toEqual(fires("10:31"));
  });

  it("misfire run_once fires a single late occurrence inside the catch-up window, however late it is", () => {
    expect(plan({ schedule: daily }, "03:00", "23:00")).toMatchObject({ kind: "fire" });
    expect(plan({ schedule: { kind: "at", at: at("03:00") } }, "03:00", "23:00")).toMatchObject({ kind: "fire" });
  });

  it("misfire run_once fires nothing that is older than the catch-up window", () => {
    const policy = { catchupWindowMs: 3_600_000 };
    expect(plan({ schedule: daily, policy }, "03:00", "04:00:01")).toMatchObject({ kind: "pass", count: 1 });
    expect(plan({ schedule: daily, policy }, "03:00", "04:00")).toMatchObject({ kind: "fire" });
  });

  it("misfire run_once ends a schedule whose occurrences are all too old, and counts all of them", () => {
    const ended = cron("* * * * *", { endsAt: at("03:10") });
    const plan10 = plan({ schedule: ended, policy: { catchupWindowMs: 60_000 } }, "03:01", "10:00");
    expect(plan10).toMatchObject({ kind: "pass", through: at("03:10"), count: 10, next: null });
  });

  it("misfire run_once fires a stored occurrence that the schedule no longer has", () => {
    expect(plan({ schedule: cron("0 12 * * *", { startsAt: at("12:00") }) }, "10:00", "10:02")).toMatchObject({
      kind: "fire",
      next: next("12:00"),
    });
  });

  it("misfire run_once counts the missed seconds of a month in one step", () => {
    const begin = Date.UTC(2026, 0, 1);
    const late = planDue(facts({ schedule: cron("* * * * * *") }, begin), begin + 30 * 86_400_000);
    expect(late).toMatchObject({ kind: "pass", count: 30 * 86_400 });
  });
});

describe("misfire skip", () => {
  it("misfire skip skips occurrences later than the threshold and fires the rest in order", () => {
    const one = { schedule: minutely, policy: { misfire: "skip", misfireThresholdMs: 150_000 } } as const;
    expect(plan(one, "10:00", "10:30:10")).toMatchObject({
      kind: "pass",
      through: at("10:27"),
      count: 28,
      reason: "missed",
      next: next("10:28"),
    });
    expect(plan(one, "10:28", "10:30:10")).toEqual(fires("10:29"));
  });

  it("misfire skip fires nothing of a schedule that has ended meanwhile", () => {
    const one = { schedule: cron("* * * * *", { endsAt: at("10:05") }), policy: { misfire: "skip" } } as const;
    expect(plan(one, "10:00", "10:30")).toMatchObject({ kind: "pass", count: 6, through: at("10:05"), next: null });
  });
});

describe("misfire run_all", () => {
  const policy = { misfire: "run_all", maxCatchupRuns: 5, catchupPerSecond: 2 } as const;

  it("misfire run_all skips the occurrences beyond its cap and catches up with the rest", () => {
    expect(plan({ schedule: minutely, policy }, "10:00", "10:30:10")).toMatchObject({
      kind: "pass",
      through: at("10:25"),
      count: 26,
      next: next("10:26"),
      catchUpTo: at("10:30"),
    });
  });

  it("misfire run_all fires at the rate of the job", () => {
    const first = plan({ schedule: minutely, policy }, "10:26", "10:30:10");
    expect(first).toEqual({
      kind: "fire",
      next: { nominal: at("10:27"), fireAt: at("10:30:10") + 500 },
      catchUpTo: at("10:30"),
    });
    const last = plan({ schedule: minutely, policy, catchUpTo: at("10:30") }, "10:30", "10:30:12");
    expect(last).toEqual(fires("10:31"));
  });

  it("misfire run_all fires nothing that is older than the catch-up window at its beginning", () => {
    const short = { ...policy, maxCatchupRuns: 1_000, catchupWindowMs: 600_000 };
    expect(plan({ schedule: minutely, policy: short }, "10:00", "10:30")).toMatchObject({
      kind: "pass",
      through: at("10:19"),
      next: next("10:20"),
    });
  });

  it("misfire run_all skips everything if even the latest occurrence is too old", () => {
    const short = { ...policy, catchupWindowMs: 60_000 };
    expect(plan({ schedule: hourly, policy: short }, "08:00", "10:30")).toMatchObject({
      kind: "pass",
      count: 3,
      next: next("11:00"),
    });
  });
});

describe("a requested catch-up", () => {
  it("a requested catch-up fires occurrences up to its end, however late they are, under every misfire policy", () => {
    const one = { schedule: daily, policy: { misfire: "skip", catchupWindowMs: 0 }, catchUpTo: at("03:00") } as const;
    expect(plan(one, "03:00", "23:00")).toMatchObject({ kind: "fire" });
  });

  it("a requested catch-up ends with its last occurrence", () => {
    const one = { schedule: hourly, policy: { misfire: "skip" }, catchUpTo: at("08:00") } as const;
    expect(plan(one, "09:00", "10:30")).toMatchObject({ kind: "pass", reason: "missed" });
  });

  it("a requested catch-up waits while a maintenance window is open", () => {
    const one = { schedule: hourly, catchUpTo: at("08:00"), windows: [window("skip", "10:00", "11:00")] };
    expect(plan(one, "08:00", "10:30")).toEqual({ kind: "hold", until: at("11:00") });
  });
});

describe("skipping windows", () => {
  const windows = [window("skip", "02:00", "04:00")];

  it("a skipping window drops the occurrences inside it, in one step up to now", () => {
    expect(plan({ schedule: minutely, windows }, "02:00", "02:00:05")).toMatchObject({
      kind: "pass",
      through: at("02:00"),
      count: 1,
      reason: "window",
      detail: "upgrade",
      next: next("02:01"),
    });
    expect(plan({ schedule: minutely, windows }, "02:00", "05:00")).toMatchObject({
      through: at("03:59"),
      count: 120,
      next: next("04:00"),
    });
  });

  it("a skipping window holds late occurrences that were due before it", () => {
    expect(plan({ schedule: hourly, windows }, "01:00", "02:30")).toEqual({ kind: "hold", until: at("04:00") });
  });

  it("a skipping window does not drop the occurrences that a following window holds", () => {
    const both = [...windows, window("hold", "04:00", "06:00", "backup")];
    expect(plan({ schedule: hourly, windows: both }, "02:00", "07:30")).toMatchObject({
      reason: "window",
      detail: "upgrade",
      through: at("03:00"),
      next: next("04:00"),
    });
  });

  it("run_once does not choose an occurrence inside a skipping window as the latest", () => {
    const early = [window("skip", "02:00", "03:30")];
    expect(plan({ schedule: hourly, windows: early }, "00:00", "03:45")).toMatchObject({
      kind: "pass",
      reason: "missed",
      through: at("00:00"),
      next: next("01:00"),
    });
    expect(plan({ schedule: hourly, windows: early }, "01:00", "03:45")).toEqual(fires("02:00"));
  });
});

describe("holding windows", () => {
  const windows = [window("hold", "02:00", "04:00")];

  it("the end of a holding window is computed once per plan, also for windows without an end", () => {
    const asked: number[] = [];
    const one = facts({ schedule: minutely, windows: [window("hold", "09:00", "11:00")] }, at("10:00"));
    const windowAt: DueFacts["windowAt"] = (instant) => {
      const open = one.windowAt(instant);
      if (open === null) return null;
      const until = (): number => (asked.push(instant), open.until);
      return {
        ...open,
        get until() {
          return until();
        },
      };
    };
    expect(planDue({ ...one, windowAt }, at("10:30"))).toEqual({ kind: "hold", until: at("11:00") });
    expect(new Set(asked)).toEqual(new Set([at("10:30")]));
  });

  it("a holding window holds the occurrences inside it until its end", () => {
    expect(plan({ schedule: daily, windows }, "03:00", "03:00:01")).toEqual({ kind: "hold", until: at("04:00") });
  });

  it.each(["run_once", "skip", "run_all"] as const)(
    "a held occurrence is fired after the window, although it is late (%s)",
    (misfire) => {
      expect(plan({ schedule: daily, windows, policy: { misfire } }, "03:00", "04:00")).toMatchObject({ kind: "fire" });
    },
  );

  it("the latest of several held occurrences is fired, and the ledger has the others with the window's name", () => {
    expect(plan({ schedule: hourly, windows }, "02:00", "04:00")).toMatchObject({
      kind: "pass",
      reason: "window",
      detail: "upgrade",
      through: at("03:00"),
      count: 2,
      next: next("04:00"),
    });
  });

  it("occurrences that were missed after a holding window do not get its name", () => {
    expect(plan({ schedule: hourly, windows }, "02:00", "10:10")).toMatchObject({
      reason: "window",
      through: at("03:00"),
      next: next("04:00"),
    });
    expect(plan({ schedule: hourly, windows }, "04:00", "10:10")).toMatchObject({
      reason: "missed",
      through: at("09:00"),
      next: next("10:00"),
    });
  });

  it("a holding window that begins while an occurrence is late holds that occurrence", () => {
    expect(plan({ schedule: hourly, windows }, "01:00", "02:00:01")).toEqual({ kind: "hold", until: at("04:00") });
  });
});
