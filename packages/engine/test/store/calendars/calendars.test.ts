import type { CalendarDefinition, Instant, ScheduleSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Calendars } from "../../../src/calendars/calendars.js";
import { CalendarCompiler, CalendarCache } from "../../../src/calendars/calendar-cache.js";
import { CalendarSweep } from "../../../src/calendars/calendar-sweep.js";
import { shardOf } from "../../../src/catalog/shard-of.js";
import { DueRules } from "../../../src/schedules/due-rules.js";
import { ScheduleCache } from "../../../src/schedules/schedule-cache.js";
import { type ChangeHarness, actor, changeHarness, period, setDue, spec } from "../../harness/change-harness.js";
import { testContext } from "../../harness/test-context.js";
import { fireRow } from "../../harness/store-harness.js";

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

const put = (definition: CalendarDefinition): ReturnType<Calendars["put"]> =>
  h.engine.calendars.put("default", definition, actor);

/** The first occurrence of the hourly schedule at or after the beginning of a day. */
function firstOf(dayAhead: number): Instant {
  const begin = (Math.floor(h.last / day) + dayAhead) * day;
  return h.last + Math.ceil((begin - h.last) / period) * period;
}

/** Sweeps as a node that has not received the notice of the change. */
function sweep(): Promise<number> {
  const compiler = new CalendarCompiler();
  const calendars = new CalendarCache(h.store.calendars, compiler);
  const rules = new DueRules({ schedules: new ScheduleCache(100, false), calendars, store: h.store.fires });
  const { unitOfWork } = h.store;
  const node = new CalendarSweep(testContext({ database: h.db }), { unitOfWork, rules, cache: calendars, compiler });
  return node.tick(Array.from({ length: 1_024 }, (_, shard) => shard));
}

const seen = (jobId: string): Promise<Record<string, unknown>[]> =>
  h.select("select seen_version from carillon.job_calendar where job_id = $1", jobId);

describe("a calendar", () => {
  it("makes a new version of a calendar for another definition, and none for an equal one", async () => {
    expect(await put(days("versions", 1, 2))).toMatchObject({ created: true, calendar: { version: 1 } });
    expect(await put(days("versions", 1, 2))).toMatchObject({ created: false, calendar: { version: 1 } });
    expect(await put(days("versions", 1, 3))).toMatchObject({ created: false, calendar: { version: 2 } });
    expect(await h.engine.calendars.get("default", "versions")).toMatchObject({
      version: 2,
      definition: days("versions", 1, 3),
    });
    expect(await h.select("select version, definition from carillon.calendar_version")).toEqual([
      { version: 1, definition: days("versions", 1, 2) },
    ]);
  });

  it("refuses a change of a calendar for another version", async () => {
    await put(days("conditional", 1, 1));
    const stale = h.engine.calendars.put("default", days("conditional", 1, 2), { ...actor, ifVersion: 7 });
    await expect(stale).rejects.toMatchObject({ code: "precondition_failed" });
    expect(await h.engine.calendars.get("default", "conditional")).toMatchObject({ version: 1 });
  });

  it("lists calendars by name, in pages", async () => {
    for (const name of ["list-b", "list-a", "list-c"]) await put(days(name, 1, 1));
    const first = await h.engine.calendars.list("default", { pageSize: 2, after: "list" });
    expect(first.rows.map((row) => row.definition.name)).toEqual(["list-a", "list-b"]);
    expect(first.next).toBe("list-b");
    const rest = await h.engine.calendars.list("default", { pageSize: 2, after: "list-b" });
    expect(rest.rows.map((row) => row.definition.name).slice(0, 1)).toEqual(["list-c"]);
  });

  it("refuses a calendar with a rule that cannot be compiled", async () => {
    const rules = [{ kind: "holidays", place: { country: "ZZ" }, types: ["public"] }] as const;
    await expect(put({ name: "nowhere", rules })).rejects.toMatchObject({ code: "calendar_invalid" });
    expect(await h.engine.calendars.get("default", "nowhere")).toBeNull();
  });
});

describe("a job that follows a calendar", () => {
  it("fires a job on open days of its calendar only, and stores the version", async () => {
    await put(days("follow", 0, 1));
    const job = await h.engine.jobs.create("default", spec({ schedule: hourly("follow") }));
    expect(job.nextRunAt).toBe(firstOf(2));
    expect(await seen(job.id)).toEqual([{ seen_version: 1 }]);
  });

  it("refuses a job with an unknown calendar, and suggests the most similar name", async () => {
    await put(days("de-holidays", 5, 6));
    const refused = h.engine.jobs.create("default", spec({ schedule: hourly("de-holydays") }));
    await expect(refused).rejects.toMatchObject({ code: "calendar_unknown" });
    await expect(refused).rejects.toThrow(/did you mean de-holidays/);
    const job = await h.engine.jobs.create("default", spec({ schedule: hourly("de-holidays") }));
    const edit = h.engine.jobs.edit(
      "default",
      { id: job.id },
      (now) => ({ ...now, schedule: hourly("de-holiday") }),
      actor,
    );
    await expect(edit).rejects.toThrow(/did you mean de-holidays/);
  });

  it("finds a calendar that another node has just created", async () => {
    await h.store.calendars.put(1, { definition: days("elsewhere", 0, 1) });
    const job = await h.engine.jobs.create("default", spec({ schedule: hourly() }));
    const edited = await h.engine.jobs.edit(
      "default",
      { id: job.id },
      (now) => ({ ...now, schedule: hourly("elsewhere") }),
      actor,
    );
    expect(edited.nextRunAt).toBe(firstOf(2));
    expect(await seen(job.id)).toEqual([{ seen_version: 1 }]);
    await h.engine.jobs.edit("default", { id: job.id }, (now) => ({ ...now, schedule: hourly() }), actor);
    expect(await seen(job.id)).toEqual([]);
  });

  it("prevents the deletion of its calendar until the job is cancelled", async () => {
    await put(days("needed", 5, 6));
    const job = await h.engine.jobs.create("default", spec({ key: "the-user", schedule: hourly("needed") }));
    const refused = h.engine.calendars.delete("default", "needed", actor);
    await expect(refused).rejects.toMatchObject({ code: "calendar_in_use" });
    await expect(refused).rejects.toThrow(/@the-user/);
    await h.engine.jobs.cancel("default", { id: job.id }, { running: "signal" }, actor);
    expect(await h.engine.calendars.delete("default", "needed", actor)).toBe(true);
    expect(await h.engine.calendars.delete("default", "needed", actor)).toBe(false);
    const late = h.engine.jobs.create("default", spec({ schedule: hourly("needed") }));
    await expect(late).rejects.toMatchObject({ code: "calendar_unknown" });
  });

  it("refuses a job whose calendar is deleted at the same moment", async () => {
    await put(days("vanishing", 5, 6));
    await h.engine.calendars.set("default", []);
    await h.store.calendars.delete(1, "vanishing");
    const specs = [spec({ key: "late-1", schedule: hourly("vanishing") }), spec({ key: "late-2" })];
    const [gone, made] = await h.engine.jobs.createMany("default", specs);
    expect(gone).toMatchObject({ error: { code: "calendar_unknown" } });
    expect(made).toHaveProperty("id");
    expect(await h.engine.jobs.get("default", { key: "late-1" })).toBeNull();
  });
});

describe("days that a calendar removed since the last occurrence", () => {
  /** A job that was made four days ago and whose calendar is closed since the day before yesterday. */
  async function closedSince(name: string): Promise<string> {
    await put(days(name, -2, 0));
    const { id } = await h.engine.jobs.create("default", spec({ schedule: hourly(name) }));
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

  it("adds removed days to the ledger when the rule ends before its next occurrence [INV-11]", async () => {
    const edited = await closedSince("edited");
    await h.engine.jobs.edit("default", { id: edited }, (job) => ({ ...job, payload: "new" }), actor);
    expect(await h.ledger(edited)).toMatchObject([{ version: 1, ...closed() }]);
    await h.engine.jobs.edit("default", { id: edited }, (job) => ({ ...job, schedule: hourly() }), actor);
    expect(await h.ledger(edited)).toHaveLength(1);

    const cancelled = await closedSince("cancelled");
    await h.engine.jobs.pause("default", { id: cancelled }, pause, actor);
    await h.engine.jobs.cancel("default", { id: cancelled }, { running: "keep" }, actor);
    expect(await h.ledger(cancelled)).toMatchObject([closed()]);

    const followed = await closedSince("followed");
    await put(days("followed", 1, 2));
    expect(await h.ledger(followed)).toMatchObject([{ version: 1, ...closed() }]);
    expect(await h.engine.jobs.get("default", { id: followed })).toMatchObject({ version: 2 });
    expect(await h.due(followed)).toMatchObject({ fired_through: h.last });
  });

  it("adds removed days to the ledger beside the occurrences inside a later pause [INV-11]", async () => {
    const id = await closedSince("swallowed");
    // Its next occurrence lies on the day before the closed ones at every time of day.
    const after = h.last - 3 * day - period;
    await h.engine.jobs.pause("default", { id }, pause, actor);
    await h.select(
      "update carillon.job set pause = (pause::jsonb || jsonb_build_object('after', $2::bigint))::json where id = $1",
      id,
      after,
    );
    await put(days("swallowed", -2, -1));
    await h.engine.jobs.resume("default", { id }, {}, actor);
    const reasons = (await h.ledger(id)).map(({ reason, from_at: from }) => [reason, from]);
    expect(reasons).toContainEqual(["calendar", firstOf(-2)]);
    expect(reasons).toContainEqual(["paused", after + period]);
  });
});

describe("a new version of a calendar", () => {
  it("moves the next time of a calendar's jobs at once, after the due occurrences of the old version are decided", async () => {
    await put(days("moving", 50, 51));
    const id = await h.recurring({ schedule: hourly("moving") });
    await put(days("moving", 0, 2));
    expect(await h.runs(id)).toMatchObject([{ trigger: "schedule", nominal_at: h.last, version: 1 }]);
    const job = await h.engine.jobs.get("default", { id });
    expect(job).toMatchObject({ version: 2, nextRunAt: firstOf(3), state: "active" });
    expect(await seen(id)).toEqual([{ seen_version: 2 }]);
    expect(await h.engine.jobs.versions("default", { id }, { pageSize: 10 })).toMatchObject({ rows: [{ version: 2 }] });
  });

  it("recomputes jobs in the sweep, once, if no other transaction did", async () => {
    await put(days("crash", 50, 51));
    const id = await h.recurring({ schedule: hourly("crash") });
    await h.store.calendars.put(1, { definition: days("crash", 0, 2) });
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ version: 1 });
    const sweeps = await Promise.all([sweep(), sweep(), sweep()]);
    expect(sweeps.filter((count) => count > 0)).toHaveLength(1);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ version: 2, nextRunAt: firstOf(3) });
    expect(await h.runs(id)).toHaveLength(1);
    expect(await sweep()).toBe(0);
  });

  it("makes a completed job active if a new version of its calendar opens days", async () => {
    await put(days("only", -5, -4));
    const schedule: ScheduleSpec = { kind: "every", everyMs: period, anchor: h.last, calendars: { only: ["only"] } };
    const { id } = await h.engine.jobs.create("default", spec({ schedule }));
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ state: "completed", nextRunAt: null });
    await put(days("only", 3, 3));
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ state: "active", nextRunAt: firstOf(3) });
  });

  it("leaves a paused job paused, and uses the new version of its calendar on resume", async () => {
    await put(days("paused", 50, 51));
    const id = await h.recurring({ schedule: hourly("paused") });
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await put(days("paused", 0, 2));
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ state: "paused", version: 3 });
    await h.engine.jobs.resume("default", { id }, {}, actor);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ state: "active", nextRunAt: firstOf(3) });
  });

  it("counts occurrences of a day that a new version opens inside a pause as part of the pause [INV-11]", async () => {
    await put(days("reopened", 0, 5));
    const id = await h.recurring({ schedule: hourly("reopened") });
    await setDue(h, id, firstOf(6));
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await put(days("reopened", 4, 5));
    const pausedAfter =
      "select (pause ->> 'after')::bigint <= extract(epoch from now()) * 1000 as ok from carillon.job where id = $1";
    expect(await h.select(pausedAfter, id)).toEqual([{ ok: true }]);
  });

  it("uses the newest version of a calendar in a change on a node that was not notified of it", async () => {
    await put(days("unnoticed", 50, 51));
    const id = await h.recurring({ schedule: hourly("unnoticed") });
    await h.engine.jobs.pause("default", { id }, { reason: null, until: null, missed: "none" }, actor);
    await h.store.calendars.put(1, { definition: days("unnoticed", 0, 2) });
    await h.select("update carillon.job_calendar set seen_version = 2 where job_id = $1", id);
    await h.engine.jobs.resume("default", { id }, {}, actor);
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ nextRunAt: firstOf(3) });
  });

  it("removes a due occurrence that waits if a new version closes its day, with an entry in the ledger", async () => {
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
    expect(await h.engine.jobs.get("default", { id })).toMatchObject({ nextRunAt: firstOf(3) });
  });

  it("recomputes other jobs while a transaction holds one of them", async () => {
    await put(days("held", 50, 51));
    const [one, other] = [
      await h.recurring({ schedule: hourly("held") }),
      await h.recurring({ schedule: hourly("held") }),
    ];
    await setDue(h, one, h.last + period);
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select from carillon.job_due where job_id = $1 for update" }, [one]);
      await put(days("held", 0, 2));
      expect(await h.engine.jobs.get("default", { id: other })).toMatchObject({ nextRunAt: firstOf(3) });
    });
    expect(await h.engine.jobs.get("default", { id: one })).toMatchObject({ version: 1 });
    await sweep();
    expect(await h.engine.jobs.get("default", { id: one })).toMatchObject({ version: 2, nextRunAt: firstOf(3) });
  });

  it("refuses a fire that was planned with an older version of a calendar", async () => {
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
