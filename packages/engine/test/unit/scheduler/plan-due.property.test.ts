import {
  compileSchedule,
  type CompiledSchedule,
  type CronSchedule,
  type FiringPolicy,
  firingPolicy,
  type MaintenanceWindow,
  MaintenanceWindows,
} from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type DueFacts, planDue } from "../../../src/schedules/plan-due.js";

const jobId = "00000000-0000-7000-8000-00000000000a";
const start = Date.UTC(2026, 2, 28, 20);
const hourMs = 3_600_000;

const spec = fc
  .record({
    cron: fc.constantFrom("* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0,1 0-6 * * *"),
    timeZone: fc.constantFrom("UTC", "Europe/Paris"),
    jitterMs: fc.constantFrom(0, 59_000),
    endsAt: fc.option(fc.integer({ min: start, max: start + 30 * hourMs }), { nil: Date.UTC(2100, 0, 1) }),
  })
  .map<CronSchedule>((fields) => ({ kind: "cron", ...fields }));
const policy = fc.record({
  misfire: fc.constantFrom<FiringPolicy["misfire"]>("run_once", "skip", "run_all"),
  misfireThresholdMs: fc.constantFrom(0, 60_000, hourMs),
  catchupWindowMs: fc.constantFrom(0, hourMs, 24 * hourMs),
  maxCatchupRuns: fc.constantFrom(1, 10, 1_000),
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
/** The pauses between two calls: mostly short, sometimes half a day. */
const looks = fc.array(fc.oneof(fc.integer({ min: 1, max: 120_000 }), fc.integer({ min: 1, max: 12 * hourMs })), {
  minLength: 1,
  maxLength: 40,
});

/** A job as it goes from occurrence to occurrence, and which laws its plans broke. */
class Walk {
  readonly broken = new Set<string>();
  readonly #schedule: CompiledSchedule;
  readonly #facts: Omit<DueFacts, "nominal" | "catchUpTo">;
  #nominal: number;
  #fireAt: number;
  #catchUpTo: number | null = null;
  #settled = 0;

  constructor(schedule: CompiledSchedule, said: FiringPolicy, windows: readonly MaintenanceWindow[]) {
    const inForce = new MaintenanceWindows(windows);
    const windowAt: DueFacts["windowAt"] = (at) => inForce.windowAt(at, { namespace: "n", queue: "q", labels: {} });
    this.#schedule = schedule;
    this.#facts = { schedule, policy: said, windowAt };
    this.#nominal = schedule.nextNominal(start);
    this.#fireAt = this.#nominal + schedule.jitterAt(this.#nominal);
  }

  planAt(now: number): void {
    for (let steps = 0; this.#nominal !== -1 && this.#fireAt <= now; steps += 1) {
      if (steps > 5_000) return void this.broken.add("comes to an end");
      this.#step(now);
    }
  }

  /** To be asked at the end. */
  checkAllSettled(now: number): void {
    const end = this.#nominal === -1 ? now + 1 : Math.min(this.#nominal, now + 1);
    if (this.#settled !== this.#schedule.countBetween(start, end)) this.broken.add("settles every occurrence once");
  }

  #step(now: number): void {
    const schedule = this.#schedule;
    const plan = planDue({ ...this.#facts, nominal: this.#nominal, catchUpTo: this.#catchUpTo }, now);
    if (plan.kind === "hold") {
      if (plan.until <= now) this.broken.add("holds until later");
      this.#fireAt = plan.until;
      return;
    }
    const last = plan.kind === "fire" ? this.#nominal : plan.through;
    if (last + schedule.jitterAt(last) > now) this.broken.add("settles nothing before its time");
    if (plan.kind === "fire" && this.#facts.windowAt(now) !== null) this.broken.add("fires in no window");
    if ((plan.next?.nominal ?? -1) !== schedule.nextNominal(last)) this.broken.add("leaves out nothing");
    this.#settled += plan.kind === "fire" ? 1 : plan.count;
    this.#catchUpTo = plan.catchUpTo ?? this.#catchUpTo;
    this.#nominal = plan.next?.nominal ?? -1;
    this.#fireAt = plan.next?.fireAt ?? -1;
  }
}

describe("planDue", () => {
  it("repeated calls of planDue decide every occurrence once, none before its time and none in an open window [INV-5] [INV-11]", () => {
    fc.assert(
      fc.property(spec, policy, fc.array(window, { maxLength: 3 }), looks, (schedule, said, windows, pauses) => {
        const walk = new Walk(compileSchedule(schedule, { jobId }), firingPolicy(said), windows);
        let now = start;
        for (const pause of pauses) walk.planAt((now += pause));
        walk.checkAllSettled(now);
        expect([...walk.broken]).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
