import type { CalendarDefinition, Instant, ScheduleSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CalendarCache, CalendarCompiler } from "../../../src/calendars/calendar-cache.js";
import { CalendarSweep } from "../../../src/calendars/calendar-sweep.js";
import { membershipOf } from "../../../src/cluster/shards.js";
import { Scheduler } from "../../../src/scheduler/scheduler.js";
import { DueRules } from "../../../src/schedules/due-rules.js";
import { ScheduleCache } from "../../../src/schedules/schedule-cache.js";
import { actor, type ChangeHarness, changeHarness, period, setDue, spec } from "../../harness/change-harness.js";
import { schedulerContext } from "../../harness/scheduler-context.js";
import { testContext } from "../../harness/test-context.js";

// Jobs that are hours late when another node stores a new version of their calendar.

const dayMs = 86_400_000;
const hoursLate = 30;

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

/** Closed on the days from..to after today, in UTC. */
function closed(name: string, from: number, to: number): CalendarDefinition {
  const today = Math.floor(h.last / dayMs);
  return { name, rules: [{ kind: "dates", ranges: [{ from: today + from, to: today + to }], yearly: [] }] };
}

const firing = { misfireThresholdMs: 30 * dayMs, catchupWindowMs: 30 * dayMs, overlap: "allow" } as const;

/** Due every hour since `hoursLate` hours; closed by the new version for all that time, and for the week to come. */
async function lateJob(name: string): Promise<string> {
  await h.engine.calendars.put("default", closed(name, 300, 301), actor);
  const schedule: ScheduleSpec = {
    kind: "every",
    everyMs: period,
    anchor: h.last - 1_000 * period,
    calendars: { exclude: [name] },
  };
  const { id } = await h.engine.jobs.create("default", spec({ schedule, firing }));
  await h.select("update carillon.job set created_at = created_at - interval '3 days' where id = $1", id);
  await setDue(h, id, h.last - (hoursLate - 1) * period);
  await h.store.calendars.put(1, { definition: closed(name, -20, 7) });
  return id;
}

const instants = (): Instant[] => Array.from({ length: hoursLate }, (_, n) => h.last - (hoursLate - 1 - n) * period);
const fired = async (id: string): Promise<unknown[]> => (await h.runs(id)).map((run) => run["nominal_at"]);

/** A node that has read the new version, and whose sweep has not recomputed the job. */
async function node(): Promise<{ tick(): Promise<void> }> {
  const compiler = new CalendarCompiler();
  const calendars = new CalendarCache(h.store.calendars, compiler);
  await calendars.refresh();
  const rules = new DueRules({ schedules: new ScheduleCache(100, false), calendars, store: h.store.fires });
  const { unitOfWork } = h.store;
  const sweep = new CalendarSweep(testContext({ database: h.db }), { unitOfWork, rules, cache: calendars, compiler });
  const membership = membershipOf(h.fence.node, new Map(h.fence.shards.map(({ id, epoch }) => [id, epoch])));
  const scheduler = new Scheduler(schedulerContext({ now: () => h.db.clock.now(), membership: () => membership }), {
    store: h.store.fires,
    calendars,
    calendarSweep: sweep,
    limits: { aheadMs: 0 },
  });
  const shards = h.fence.shards.map(({ id }) => id);
  return {
    async tick() {
      scheduler.readShards(shards);
      // A few shards are read with each tick.
      for (let ticks = 0; ticks < 50 && scheduler.idleMs < 1_000; ticks += 1) await scheduler.tick();
    },
  };
}

describe("a job that is late when its calendar closes", () => {
  it("fires occurrences that were due before the job followed a new version, by a scheduler that knows the new version [INV-11]", async () => {
    const id = await lateJob("late-fire");
    await (await node()).tick();
    expect(await fired(id)).toEqual(instants());
    expect(await h.ledger(id)).toEqual([]);
    expect(Number((await h.due(id))["next_nominal_at"])).toBeGreaterThan(h.last + 6 * dayMs);
  });

  it("fires late occurrences if the old and the new version have the same next time [INV-11]", async () => {
    const name = "late-same";
    const first = h.last - (hoursLate - 1) * period;
    const id = await lateJob(name);
    // The last hours alone are closed: the new version has nothing against the next time itself.
    const definition: CalendarDefinition = {
      name,
      rules: [
        {
          kind: "dates",
          ranges: [{ from: Math.floor(first / dayMs) + 1, to: Math.floor(h.last / dayMs) + 7 }],
          yearly: [],
        },
      ],
    };
    await h.store.calendars.put(1, { definition });
    await (await node()).tick();
    expect(await fired(id)).toEqual(instants());
    expect(await h.ledger(id)).toEqual([]);
  });

  it("fires late occurrences of the old version before a pause, an edit or a cancellation takes effect [INV-11]", async () => {
    const paused = await lateJob("late-pause");
    await h.engine.jobs.pause("default", { id: paused }, { reason: null, until: null, missed: "none" }, actor);
    expect([await fired(paused), await h.ledger(paused)]).toEqual([instants(), []]);
    expect(await h.engine.jobs.get("default", { id: paused })).toMatchObject({ state: "paused", version: 3 });

    const edited = await lateJob("late-edit");
    await h.engine.jobs.edit("default", { id: edited }, (job) => ({ ...job, payload: "new" }), actor);
    expect([await fired(edited), await h.ledger(edited)]).toEqual([instants(), []]);

    const cancelled = await lateJob("late-cancel");
    await h.engine.jobs.cancel("default", { id: cancelled }, { running: "keep" }, actor);
    const ended = await h.history(cancelled);
    expect([await fired(cancelled), await h.ledger(cancelled)]).toEqual([[], []]);
    expect(ended.map((run) => run["nominal_at"])).toEqual(instants());
  });

  it("skips a late job that another transaction holds, and fires it afterwards [INV-11]", async () => {
    const id = await lateJob("late-held");
    const held = await node();
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select from carillon.job_due where job_id = $1 for update" }, [id]);
      await held.tick();
    });
    expect(await fired(id)).toEqual([]);
    await (await node()).tick();
    expect(await fired(id)).toEqual(instants());
  });
});
