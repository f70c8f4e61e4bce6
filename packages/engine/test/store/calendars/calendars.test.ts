import type { CalendarDefinition, Instant, ScheduleSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actor, type ChangeHarness, changeHarness, period, setDue, spec } from "../../harness/change-harness.js";
import { fireRow } from "../../harness/store-harness.js";
import { shardOf } from "../../../src/catalog/shard-of.js";
import { CalendarSweep } from "../../../src/calendars/calendar-sweep.js";
import { CalendarCompiler } from "../../../src/calendars/compile-edition.js";
import { NodeCalendars } from "../../../src/calendars/calendar-cache.js";
import { nodeRules } from "../../../src/schedules/node-rules.js";
import { ScheduleCache } from "../../../src/schedules/schedule-cache.js";

const day = 86_400_000;

let h: ChangeHarness;

beforeAll(async () => {
  h = await changeHarness();
});

afterAll(async () => {
  await h.close();
});

/** Holds the days from..to after today, in UTC. */
function days(name: string, from: number, to: number): CalendarDefinition {
  const today = Math.floor(h.last / day);
  return { name, rules: [{ kind: "dates", ranges: [{ from: today + from, to: today + to }], yearly: [] }] };
}

function hourly(...exclude: string[]): ScheduleSpec {
  const rule = { kind: "every", everyMs: period, anchor: h.last - 1_000 * period } as const;
  return exclude.length === 0 ? rule : { ...rule, calendars: { exclude } };
}

const put = (definition: CalendarDefinition): ReturnType<ChangeHarness["api"]["putCalendar"]> =>
  h.api.putCalendar("default", definition, actor);

/** The first occurrence of the hourly schedule at or after the beginning of a day. */
function firstOf(dayAhead: number): Instant {
  const begin = (Math.floor(h.last / day) + dayAhead) * day;
  return h.last + Math.ceil((begin - h.last) / period) * period;
}

/** As a node would that has not heard of the change. */
function sweep(): Promise<number> {
  const compiler = new CalendarCompiler();
  const calendars = new NodeCalendars(h.store.calendars, compiler);
  const rules = nodeRules({ schedules: new ScheduleCache(100, false), calendars, store: h.store.fires });
  const node = new CalendarSweep({ db: h.db, store: h.store, rules, compiler, onRecomputed: () => undefined });
  return node.tick(Array.from({ length: 1_024 }, (_, shard) => shard));
}

const seen = (jobId: string): Promise<Record<string, unknown>[]> =>
  h.select("select seen_version from carillon.job_calendar where job_id = $1", jobId);

describe("a calendar", () => {
  it("has versions; an equal definition makes none", async () => {
    expect(await put(days("versions", 1, 2))).toMatchObject({ created: true, calendar: { version: 1 } });
    expect(await put(days("versions", 1, 2))).toMatchObject({ created: false, calendar: { version: 1 } });
    expect(await put(days("versions", 1, 3))).toMatchObject({ created: false, calendar: { version: 2 } });
    expect(await h.api.getCalendar("default", "versions")).toMatchObject({
      version: 2,
      definition: days("versions", 1, 3),
    });
    expect(await h.select("select version, definition from carillon.calendar_version")).toEqual([
      { version: 1, definition: days("versions", 1, 2) },
    ]);
  });

  it("is changed only on the asked condition", async () => {
    await put(days("conditional", 1, 1));
    const stale = h.api.putCalendar("default", days("conditional", 1, 2), { ...actor, ifVersion: 7 });
    await expect(stale).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await h.api.getCalendar("default", "conditional")).toMatchObject({ version: 1 });
  });

  it("is listed by name, page after page", async () => {
    for (const name of ["list-b", "list-a", "list-c"]) await put(days(name, 1, 1));
    const first = await h.api.listCalendars("default", { pageSize: 2, after: "list" });
    expect(first.rows.map((row) => row.definition.name)).toEqual(["list-a", "list-b"]);
    expect(first.next).toBe("list-b");
    const rest = await h.api.listCalendars("default", { pageSize: 2, after: "list-b" });
    expect(rest.rows.map((row) => row.definition.name).slice(0, 1)).toEqual(["list-c"]);
  });

  it("with a rule that cannot be compiled is refused", async () => {
    const rules = [{ kind: "holidays", place: { country: "ZZ" }, types: ["public"] }] as const;
    await expect(put({ name: "nowhere", rules })).rejects.toMatchObject({ code: "calendar_invalid" });
    expect(await h.api.getCalendar("default", "nowhere")).toBeNull();
  });
});

describe("a job that follows a calendar", () => {
  it("fires on open days only, and remembers the version", async () => {
    await put(days("follow", 0, 1));
    const job = await h.api.createJob("default", spec({ schedule: hourly("follow") }));
    expect(job.nextRunAt).toBe(firstOf(2));
    expect(await seen(job.id)).toEqual([{ seen_version: 1 }]);
  });

  it("is refused when the calendar does not exist, with what was probably meant", async () => {
    await put(days("de-holidays", 5, 6));
    const refused = h.api.createJob("default", spec({ schedule: hourly("de-holydays") }));
    await expect(refused).rejects.toMatchObject({ code: "calendar_unknown" });
    await expect(refused).rejects.toThrow(/did you mean de-holidays/);
    const job = await h.api.createJob("default", spec({ schedule: hourly("de-holidays") }));
    const edit = h.api.editJob("default", { id: job.id }, (now) => ({ ...now, schedule: hourly("de-holiday") }), actor);
    await expect(edit).rejects.toThrow(/did you mean de-holidays/);
  });

  it("finds a calendar that another node made a moment ago", async () => {
    await h.store.calendars.put(1, { definition: days("elsewhere", 0, 1) });
    const job = await h.api.createJob("default", spec({ schedule: hourly() }));
    const edited = await h.api.editJob(
      "default",
      { id: job.id },
      (now) => ({ ...now, schedule: hourly("elsewhere") }),
      actor,
    );
    expect(edited.nextRunAt).toBe(firstOf(2));
    expect(await seen(job.id)).toEqual([{ seen_version: 1 }]);
    await h.api.editJob("default", { id: job.id }, (now) => ({ ...now, schedule: hourly() }), actor);
    expect(await seen(job.id)).toEqual([]);
  });

  it("keeps the calendar from being deleted until it is cancelled", async () => {
    await put(days("needed", 5, 6));
    const job = await h.api.createJob("default", spec({ key: "the-user", schedule: hourly("needed") }));
    const refused = h.api.deleteCalendar("default", "needed", actor);
    await expect(refused).rejects.toMatchObject({ code: "calendar_in_use" });
    await expect(refused).rejects.toThrow(/@the-user/);
    await h.api.cancelJob("default", { id: job.id }, { running: "signal" }, actor);
    expect(await h.api.deleteCalendar("default", "needed", actor)).toBe(true);
    expect(await h.api.deleteCalendar("default", "needed", actor)).toBe(false);
    const late = h.api.createJob("default", spec({ schedule: hourly("needed") }));
    await expect(late).rejects.toMatchObject({ code: "calendar_unknown" });
  });

  it("is not stored when the calendar is deleted at the same moment", async () => {
    await put(days("vanishing", 5, 6));
    await h.api.calendarSet("default", []);
    await h.store.calendars.delete(1, "vanishing");
    const specs = [spec({ key: "late-1", schedule: hourly("vanishing") }), spec({ key: "late-2" })];
    const [gone, made] = await h.api.createJobs("default", specs);
    expect(gone).toMatchObject({ error: { code: "calendar_unknown" } });
    expect(made).toHaveProperty("id");
    expect(await h.api.getJob("default", { key: "late-1" })).toBeNull();
  });
});

describe("what a calendar took since the last occurrence", () => {
  /** A job that was made four days ago and whose calendar is closed since the day before yesterday. */
  async function closedSince(name: string): Promise<string> {
    await put(days(name, -2, 0));
    const { id } = await h.api.createJob("default", spec({ schedule: hourly(name) }));
    const back = "update carillon.job set created_at = created_at - interval '4 days' where id = $1";
    await h.select(back, id);
    const settled = new Date(h.last - 3 * day).toISOString();
    await h.select("update carillon.job_due set fired_through = $2 where job_id = $1", id, settled);
    return id;
  }
  const closed = (): object => {
    const from = firstOf(-2);
    return { reason: "calendar", from_at: from, to_at: h.last, count: (h.last - from) / period + 1 };
  };
  const pause = { reason: null, until: null, missed: "none" } as const;

  it("is in the ledger when the rule ends before its next occurrence: edited, cancelled, closed anew [INV-11]", async () => {
    const edited = await closedSince("edited");
    await h.api.editJob("default", { id: edited }, (job) => ({ ...job, payload: "new" }), actor);
    expect(await h.ledger(edited)).toMatchObject([{ version: 1, ...closed() }]);
    await h.api.editJob("default", { id: edited }, (job) => ({ ...job, schedule: hourly() }), actor);
    expect(await h.ledger(edited)).toHaveLength(1);

    const cancelled = await closedSince("cancelled");
    await h.api.pauseJob("default", { id: cancelled }, pause, actor);
    await h.api.cancelJob("default", { id: cancelled }, { running: "keep" }, actor);
    expect(await h.ledger(cancelled)).toMatchObject([closed()]);

    const followed = await closedSince("followed");
    await put(days("followed", 1, 2));
    expect(await h.ledger(followed)).toMatchObject([{ version: 1, ...closed() }]);
    expect(await h.api.getJob("default", { id: followed })).toMatchObject({ version: 2 });
    expect(await h.due(followed)).toMatchObject({ fired_through: h.last });
  });

  it("is in the ledger beside what a pause swallowed after it [INV-11]", async () => {
    const id = await closedSince("swallowed");
    // Its next occurrence lies on the day before the closed ones at every time of day.
    const after = h.last - 3 * day - period;
    await h.api.pauseJob("default", { id }, pause, actor);
    await h.select(
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1",
      id,
      after,
    );
    await put(days("swallowed", -2, -1));
    await h.api.resumeJob("default", { id }, {}, actor);
    const reasons = (await h.ledger(id)).map(({ reason, from_at: from }) => [reason, from]);
    expect(reasons).toContainEqual(["calendar", firstOf(-2)]);
    expect(reasons).toContainEqual(["paused", after + period]);
  });
});

describe("a new version of a calendar", () => {
  it("moves the next time of its jobs at once, after what was due under the old one is settled", async () => {
    await put(days("moving", 50, 51));
    const id = await h.recurring({ schedule: hourly("moving") });
    await put(days("moving", 0, 2));
    expect(await h.runs(id)).toMatchObject([{ trigger: "schedule", nominal_at: h.last, version: 1 }]);
    const job = await h.api.getJob("default", { id });
    expect(job).toMatchObject({ version: 2, nextRunAt: firstOf(3), state: "active" });
    expect(await seen(id)).toEqual([{ seen_version: 2 }]);
    expect(await h.api.listVersions("default", { id }, { pageSize: 10 })).toMatchObject({ rows: [{ version: 2 }] });
  });

  it("is followed by the sweep when nobody got to it before, once", async () => {
    await put(days("crash", 50, 51));
    const id = await h.recurring({ schedule: hourly("crash") });
    await h.store.calendars.put(1, { definition: days("crash", 0, 2) });
    expect(await h.api.getJob("default", { id })).toMatchObject({ version: 1 });
    const sweeps = await Promise.all([sweep(), sweep(), sweep()]);
    expect(sweeps.filter((count) => count > 0)).toHaveLength(1);
    expect(await h.api.getJob("default", { id })).toMatchObject({ version: 2, nextRunAt: firstOf(3) });
    expect(await h.runs(id)).toHaveLength(1);
    expect(await sweep()).toBe(0);
  });

  it("wakes a job that had nothing left to fire", async () => {
    await put(days("only", -5, -4));
    const schedule: ScheduleSpec = { kind: "every", everyMs: period, anchor: h.last, calendars: { only: ["only"] } };
    const { id } = await h.api.createJob("default", spec({ schedule }));
    expect(await h.api.getJob("default", { id })).toMatchObject({ state: "completed", nextRunAt: null });
    await put(days("only", 3, 3));
    expect(await h.api.getJob("default", { id })).toMatchObject({ state: "active", nextRunAt: firstOf(3) });
  });

  it("leaves a paused job paused, and counts when it is resumed", async () => {
    await put(days("paused", 50, 51));
    const id = await h.recurring({ schedule: hourly("paused") });
    await h.api.pauseJob("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await put(days("paused", 0, 2));
    expect(await h.api.getJob("default", { id })).toMatchObject({ state: "paused", version: 3 });
    await h.api.resumeJob("default", { id }, {}, actor);
    expect(await h.api.getJob("default", { id })).toMatchObject({ state: "active", nextRunAt: firstOf(3) });
  });

  it("opens a day within a pause: its occurrences are swallowed like the others [INV-11]", async () => {
    await put(days("reopened", 0, 5));
    const id = await h.recurring({ schedule: hourly("reopened") });
    await setDue(h, id, firstOf(6));
    await h.api.pauseJob("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await put(days("reopened", 4, 5));
    const pausedAfter =
      "select (pause ->> 'after')::bigint <= extract(epoch from now()) * 1000 as ok from carillon.job where id = $1";
    expect(await h.select(pausedAfter, id)).toEqual([{ ok: true }]);
  });

  it("is known to a change of a job although this node has not heard of it", async () => {
    await put(days("unheard", 50, 51));
    const id = await h.recurring({ schedule: hourly("unheard") });
    await h.api.pauseJob("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await h.store.calendars.put(1, { definition: days("unheard", 0, 2) });
    await h.select("update carillon.job_calendar set seen_version = 2 where job_id = $1", id);
    await h.api.resumeJob("default", { id }, {}, actor);
    expect(await h.api.getJob("default", { id })).toMatchObject({ nextRunAt: firstOf(3) });
  });

  it("takes away an occurrence that is due and waits, with an entry in the ledger", async () => {
    await put(days("waiting", 50, 51));
    const id = await h.recurring({ schedule: hourly("waiting") });
    const until = h.last + day;
    await h.select(
      "update carillon.job_due set next_fire_at = $2 where job_id = $1",
      id,
      new Date(until).toISOString(),
    );
    await put(days("waiting", 0, 2));
    expect(await h.runs(id)).toEqual([]);
    expect(await h.ledger(id)).toMatchObject([{ reason: "superseded", from_at: h.last, to_at: h.last, count: 1 }]);
    expect(await h.api.getJob("default", { id })).toMatchObject({ nextRunAt: firstOf(3) });
  });

  it("is not waited for by jobs that somebody else holds", async () => {
    await put(days("held", 50, 51));
    const [one, other] = [
      await h.recurring({ schedule: hourly("held") }),
      await h.recurring({ schedule: hourly("held") }),
    ];
    await setDue(h, one, h.last + period);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select from carillon.job_due where job_id = $1 for update" }, [one]);
      await put(days("held", 0, 2));
      expect(await h.api.getJob("default", { id: other })).toMatchObject({ nextRunAt: firstOf(3) });
    });
    expect(await h.api.getJob("default", { id: one })).toMatchObject({ version: 1 });
    await sweep();
    expect(await h.api.getJob("default", { id: one })).toMatchObject({ version: 2, nextRunAt: firstOf(3) });
  });

  it("makes a fire do nothing that was planned with the calendars of before", async () => {
    await put(days("planned", 50, 51));
    const { revision } = await h.store.fires.windows();
    const id = await h.recurring({ schedule: hourly("planned") });
    await setDue(h, id, h.last + period);
    await put(days("planned", 50, 52));
    await setDue(h, id, h.last);
    const [job] = (await h.store.fires.load([shardOf(id, 1_024)], h.last + 1, 100)).filter((one) => one.jobId === id);
    if (job === undefined) throw new Error("the job is not due");
    const rows = [fireRow(job, h.last + period)];
    expect(await h.store.fires.fire({ fence: h.fence, windows: revision }, rows)).toEqual([]);
    const present = await h.store.fires.windows();
    expect(await h.store.fires.fire({ fence: h.fence, windows: present.revision }, rows)).toHaveLength(1);
  });
});
