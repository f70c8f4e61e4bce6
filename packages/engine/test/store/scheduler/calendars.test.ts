import {
  type Calendar,
  type CalendarRule,
  compileCalendar,
  type CronSchedule,
  readCalendar,
  type ScheduleSpec,
} from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CalendarSource } from "../../../src/schedules/schedule-calendars.js";
import {
  account,
  hourMs,
  instantsOf,
  type SchedulerHarness,
  schedulerHarness,
} from "../../harness/scheduler-harness.js";

let h: SchedulerHarness;
beforeEach(async () => {
  h = await schedulerHarness();
});
afterEach(() => h.close());

const dayMs = 24 * hourMs;
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Closed on the days that lie so many days back. */
function closed(...daysAgo: number[]): Calendar {
  const dates = daysAgo.map((ago) => dateOf(h.db.clock.now() - ago * dayMs));
  return compileCalendar(readCalendar({ name: "office", rules: [{ dates }] }));
}

const sourceOf = (calendar: Calendar): CalendarSource => ({
  calendarsOf: () => new Map([["office", calendar]]),
  refresh: async () => undefined,
});

const daily = (roll: CalendarRule["roll"], hour = 0): CronSchedule => ({
  kind: "cron",
  cron: `0 ${hour} * * *`,
  timeZone: "UTC",
  calendars: { exclude: ["office"], ...(roll !== undefined && { roll }) },
});

/** A job that has been there for ten days, all of them still to be settled. */
async function tenDays(schedule: ScheduleSpec, calendars: Calendar) {
  const since = h.db.clock.now() - 10 * dayMs;
  const instants = instantsOf(schedule, since, h.db.clock.now(), {
    calendars: new Map([["office", calendars]]),
  });
  const first = instants[0] ?? 0;
  const firing = {
    misfire: "run_all",
    catchupWindowMs: 30 * dayMs,
    catchupPerSecond: 1_000,
    overlap: "allow",
  } as const;
  const { jobId } = await h.job({ schedule, firing, overlap: "allow", nextNominal: first, nextFireAt: first });
  await h.select("update carillon.job set created_at = $2 where id = $1", jobId, new Date(since).toISOString());
  return { jobId, instants, since };
}

describe("schedules with calendars", () => {
  it("the ledger has the occurrences that a calendar removed, before the first fire and between two [INV-11]", async () => {
    const calendar = closed(9, 8, 5, 4, 3);
    const { jobId, instants, since } = await tenDays(daily(undefined), calendar);
    await (await h.node({ calendars: sourceOf(calendar) })).settle();
    const rule: ScheduleSpec = { kind: "cron", cron: "0 0 * * *", timeZone: "UTC" };
    const all = instantsOf(rule, since, instants.at(-1) ?? 0);
    const [fired, ledger] = [await h.fired(jobId), await h.ledger(jobId)];
    expect(account(all, fired, ledger)).toEqual({ lost: [], twice: [], counted: all.length });
    expect(fired).toEqual(instants);
    expect(ledger).toMatchObject([
      { reason: "calendar", count: 2, detail: "office" },
      { reason: "calendar", count: 3, detail: "office" },
    ]);
  });

  it("the ledger has each fire that a rolling calendar merged into another [INV-11]", async () => {
    const calendar = closed(6, 5);
    const { jobId, instants } = await tenDays(daily("next"), calendar);
    await (await h.node({ calendars: sourceOf(calendar) })).settle();
    const ledger = await h.ledger(jobId);
    expect(await h.fired(jobId)).toEqual(instants);
    expect(ledger).toHaveLength(2);
    expect(ledger.map(({ reason, count, detail }) => ({ reason, count, detail }))).toEqual([
      { reason: "merged", count: 1, detail: "office" },
      { reason: "merged", count: 1, detail: "office" },
    ]);
  });

  it("a job whose calendar was deleted is quarantined with the reason, and other jobs fire", async () => {
    const at = Math.floor(h.db.clock.now()) - 1_000;
    const schedule = daily(undefined);
    const { jobId } = await h.job({ schedule, nextNominal: at, nextFireAt: at });
    const other = await h.job({ nextNominal: at, nextFireAt: at });
    const node = await h.node();
    await node.settle();
    expect(await h.due(jobId)).toMatchObject({ state: "paused", next_fire_at: null, version: 2 });
    const [job] = await h.select("select version, pause from carillon.job where id = $1", jobId);
    expect(job).toMatchObject({
      version: 2,
      pause: { actor: "system", reason: expect.stringMatching(/^quarantined: .*office/) },
    });
    expect(node.count("job.quarantined")).toBe(1);
    expect(await h.fired(other.jobId)).toEqual([at]);
  });

  it("a job whose calendar was created a moment ago is not quarantined", async () => {
    const calendar = closed(20);
    let isKnown = false;
    const calendars: CalendarSource = {
      calendarsOf: () => (isKnown ? new Map([["office", calendar]]) : new Map()),
      refresh: async () => void (isKnown = true),
    };
    const at = Math.floor(h.db.clock.now()) - 1_000;
    const { jobId } = await h.job({ schedule: daily(undefined), nextNominal: at, nextFireAt: at });
    const node = await h.node({ calendars });
    await node.settle();
    expect(await h.fired(jobId)).toEqual([at]);
    expect(node.count("job.quarantined")).toBe(0);
  });
});
