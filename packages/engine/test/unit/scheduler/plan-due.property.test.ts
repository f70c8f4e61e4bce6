import {
  compileSchedule,
  type FiringPolicy,
  firingPolicy,
  type MaintenanceWindow,
  MaintenanceWindows,
  type ScheduleSpec,
} from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planDue } from "../../../src/scheduler/plan-due.js";

const jobId = "00000000-0000-7000-8000-00000000000a";
const start = Date.UTC(2026, 2, 28, 20);
const hourMs = 3_600_000;

const spec = fc.record({
  cron: fc.constantFrom("* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0,1 0-6 * * *"),
  timeZone: fc.constantFrom("UTC", "Europe/Paris"),
  jitterMs: fc.constantFrom(0, 59_000),
  endsAt: fc.option(fc.integer({ min: start, max: start + 30 * hourMs }), { nil: undefined }),
});
const policy = fc.record({
  misfire: fc.constantFrom<FiringPolicy["misfire"]>("run_once", "skip", "run_all"),
  misfireThresholdMs: fc.constantFrom(0, 60_000, hourMs),
  catchupWindowMs: fc.constantFrom(0, hourMs, 24 * hourMs),
  catchupMost: fc.constantFrom(1, 10, 1_000),
  catchupPerSecond: fc.constantFrom(0.01, 10),
});
const window = fc
  .record({
    mode: fc.constantFrom<MaintenanceWindow["mode"]>("hold", "skip"),
    from: fc.integer({ min: -2 * hourMs, max: 20 * hourMs }),
    length: fc.integer({ min: 1_000, max: 5 * hourMs }),
  })
  .map<MaintenanceWindow>(({ mode, from, length }) => ({
    name: "w",
    mode,
    scope: { queue: "q" },
    time: { kind: "once", from: start + from, to: start + from + length },
  }));
/** When somebody looks: pauses between two looks, mostly short, at times half a day. */
const looks = fc.array(fc.oneof(fc.integer({ min: 1, max: 120_000 }), fc.integer({ min: 1, max: 12 * hourMs })), {
  minLength: 1,
  maxLength: 40,
});

describe("planDue, asked again and again while time passes", () => {
  it("settles every occurrence once, in order, none before its time and none inside an open window [INV-5] [INV-11]", () => {
    fc.assert(
      fc.property(spec, policy, fc.array(window, { maxLength: 3 }), looks, (fields, said, windows, pauses) => {
        const schedule = compileSchedule({ kind: "cron", ...fields } as ScheduleSpec, { jobId });
        const inForce = new MaintenanceWindows(windows);
        const windowAt = (at: number) => inForce.windowAt(at, { namespace: "n", queue: "q", labels: {} });
        let due = { nominal: schedule.nextNominal(start), fireAt: 0 };
        due = { ...due, fireAt: due.nominal + schedule.jitterAt(due.nominal) };
        let catchUpTo: number | null = null;
        let settled = 0;
        let now = start;
        let isOver = due.nominal === -1;
        for (const pause of pauses) {
          now += pause;
          for (let steps = 0; !isOver && due.fireAt <= now; steps += 1) {
            expect(steps).toBeLessThan(5_000);
            const facts = { nominal: due.nominal, schedule, policy: firingPolicy(said), catchUpTo, windowAt };
            const plan = planDue(facts, now);
            if (plan.kind === "hold") {
              expect(plan.until).toBeGreaterThan(now);
              due = { ...due, fireAt: plan.until };
              continue;
            }
            const last = plan.kind === "fire" ? due.nominal : plan.through;
            const count = plan.kind === "fire" ? 1 : plan.count;
            expect(count).toBe(1 + schedule.countBetween(due.nominal, last + 1));
            expect(last + schedule.jitterAt(last)).toBeLessThanOrEqual(now);
            if (plan.kind === "fire") expect(windowAt(now)).toBeNull();
            settled += count;
            catchUpTo = plan.catchUpTo ?? catchUpTo;
            isOver = plan.next === null;
            if (plan.next !== null) {
              expect(plan.next.nominal).toBe(schedule.nextNominal(last));
              due = plan.next;
            }
          }
        }
        const end = isOver ? Number.MAX_SAFE_INTEGER : due.nominal;
        expect(settled).toBe(schedule.countBetween(start, Math.min(end, now + 1)));
      }),
      { numRuns: 300 },
    );
  });
});
