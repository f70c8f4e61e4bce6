import type { CalendarDefinition, Instant, JobSpec } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BackfillHarness, backfillHarness, defaults, lastOf } from "../../harness/backfill-harness.js";
import { actor, every, overlapping, period, spec } from "../../harness/change-harness.js";

let h: BackfillHarness;
beforeAll(async () => {
  h = await backfillHarness();
});
afterAll(() => h.close());

const allowing = overlapping("allow");
const ago = (periods: number): Instant => h.last - periods * period;
const iso = (instant: Instant): string => new Date(instant).toISOString();

/** Replaces parts of a definition, as if that had happened so long ago. */
async function editedAt(id: string, at: Instant, change: Partial<JobSpec>): Promise<void> {
  await h.engine.jobs.edit("default", { id }, (current) => ({ ...current, ...change }), actor);
  await h.select(
    `update carillon.job_version set valid_to = $2
     where job_id = $1 and version = (select max(version) from carillon.job_version where job_id = $1)`,
    id,
    iso(at),
  );
}

const count = (id: string, periods: number): Promise<number> =>
  h.engine.backfills.count("default", { id }, { ...defaults, ...lastOf(h, periods) });

describe("the definition in force at a past instant", () => {
  it("defines task, payload, queue, priority, policies, labels and owner of the run, up to and including the instant of its change", async () => {
    const first = { payload: { n: "old" }, labels: { a: "1" }, owner: "u1", policy: { timeoutMs: 5_000 }, priority: 2 };
    const job = await h.settledJob({ ...allowing, ...first });
    await editedAt(job, ago(3), { payload: null, labels: {}, policy: {}, priority: 9, task: "other", queue: "q2" });
    await editedAt(job, ago(1) - 1, { payload: { n: "new" }, task: "third" });
    const { id } = await h.start(job, 5);
    await h.drain();
    expect(await h.places(job)).toEqual([4, 3, 2, 1, 0]);
    const old = { task: "echo", queue: "default", version: 1, ...first };
    const then = { task: "other", queue: "q2", version: 2, payload: null, labels: null, policy: null, priority: 9 };
    const now = { ...then, task: "third", version: 3, payload: { n: "new" } };
    expect(await h.runs(job)).toMatchObject([old, old, { ...then, owner: "u1" }, now, now]);
    expect(await h.get(id)).toMatchObject({ state: "done", made: 5 });
  });

  it("makes runs that a worker of its lane can claim", async () => {
    const job = await h.settledJob({ ...allowing, task: "lane-of-then" });
    await editedAt(job, ago(1), { task: "lane-of-now" });
    await h.start(job, 3);
    await h.drain();
    const lanes = await h.select(
      "select r.task, l.task as lane from carillon.run r join carillon.lane l on l.id = r.lane where job_id = $1 order by nominal_at",
      job,
    );
    expect(lanes.map(({ task, lane }) => [task, lane])).toEqual([
      ["lane-of-then", "lane-of-then"],
      ["lane-of-then", "lane-of-then"],
      ["lane-of-now", "lane-of-now"],
    ]);
  });

  it("defines the instants of the range", async () => {
    const job = await h.settledJob({ ...allowing, schedule: every(h.last, 2 * period) });
    await editedAt(job, ago(4), { schedule: every(h.last, period) });
    expect(await count(job, 9)).toBe(3 + 4);
    const { id } = await h.start(job, 9);
    await h.drain();
    expect(await h.places(job)).toEqual([8, 6, 4, 3, 2, 1, 0]);
    expect(await h.get(id)).toMatchObject({ state: "done", made: 7, total: 7 });
  });

  it("may have no instants for a part of the range", async () => {
    const job = await h.settledJob(allowing);
    await editedAt(job, ago(4), { schedule: { kind: "manual" } });
    await editedAt(job, ago(2), { schedule: every(h.last) });
    expect(await count(job, 6)).toBe(4);
    await h.start(job, 6);
    await h.drain();
    expect(await h.places(job)).toEqual([5, 4, 1, 0]);
  });

  it("does not define the overlap policy, which is the job's present one", async () => {
    const job = await h.settledJob(overlapping("skip"));
    await editedAt(job, ago(0), overlapping("allow"));
    const { id } = await h.start(job, 3);
    await h.drain();
    expect(await h.get(id)).toMatchObject({ state: "done", made: 3, skipped: 0 });
  });
});

describe("the calendars in force at a past instant", () => {
  const dayMs = 24 * period;
  const daily = { kind: "every", everyMs: dayMs } as const;
  const without = (name: string, instant: Instant): CalendarDefinition => {
    const day = Math.floor(instant / dayMs);
    return { name, rules: [{ kind: "dates", ranges: [{ from: day, to: day }], yearly: [] }] };
  };

  /** A daily job that leaves out a day: first the fourth last one, then, since three days, the second last. */
  async function dailyJob(name: string): Promise<{ job: string; day: (count: number) => Instant }> {
    const day = (days: number): Instant => h.last - days * dayMs;
    await h.engine.calendars.put("default", without(name, day(3)), actor);
    const calendars = { exclude: [name] };
    const job = await h.settledJob({ ...allowing, schedule: { ...daily, anchor: day(100), calendars } });
    await h.engine.calendars.put("default", without(name, day(1)), actor);
    await h.select(
      "update carillon.calendar_version v set valid_to = $2 from carillon.calendar c where c.id = v.calendar_id and c.name = $1",
      name,
      iso(day(2) - 1),
    );
    return { job, day };
  }

  it("define the instants of the range", async () => {
    const { job, day } = await dailyJob("then");
    const range = { from: day(5), to: day(0) };
    expect(await h.engine.backfills.count("default", { id: job }, { ...defaults, ...range })).toBe(4);
    await h.select(
      "update carillon.job_due set next_nominal_at = $2, next_fire_at = $2 where job_id = $1",
      job,
      iso(h.last + dayMs),
    );
    const { id } = await h.start(job, 1, range);
    await h.drain();
    expect((await h.runs(job)).map((run) => run["nominal_at"])).toEqual([day(5), day(4), day(2), day(0)]);
    expect(await h.get(id)).toMatchObject({ state: "done", total: 4, made: 4 });
  });

  it("abort a backfill, with the reason, when one of them is deleted during it", async () => {
    const { job, day } = await dailyJob("gone");
    await editedAt(job, day(1), { schedule: { ...daily, anchor: day(100) } });
    const { id } = await h.start(job, 1, { from: day(5), to: day(2) });
    expect(await h.engine.calendars.delete("default", "gone", actor)).toBe(true);
    await h.drain();
    expect(await h.get(id)).toMatchObject({
      state: "aborted",
      made: 0,
      reason: expect.stringContaining('Calendar "gone"'),
    });
    await expect(h.start(job, 1, { from: day(5), to: day(2) })).rejects.toMatchObject({ code: "backfill_invalid" });
  });
});

describe("the range of a backfill", () => {
  it.each([
    ["if it ends before it begins", () => ({ from: h.last, to: h.last - 1 }), /before it begins/],
    ["if it ends in the future", () => ({ from: h.last, to: h.last + period }), /is in the future/],
    ["if it begins before 1970", () => ({ from: -1, to: h.last }), /before 1970/],
    ["with a rate of nothing", () => ({ perSecond: 0 }), /rate must be/],
    ["with half a run at a time", () => ({ concurrency: 0.5 }), /concurrency must be/],
    ["without an occurrence", () => ({ from: h.last + 1, to: h.last + 2 }), /no occurrence in that range/],
  ])("is refused %s", async (_what, range, message) => {
    const job = await h.settledJob();
    await expect(h.start(job, 1, range())).rejects.toMatchObject({ code: "backfill_invalid" });
    await expect(h.start(job, 1, range())).rejects.toThrow(message);
  });

  it("is refused with more occurrences than one backfill may have", async () => {
    const schedule = { kind: "cron", cron: "* * * * * *", timeZone: "UTC" } as const;
    const { id } = await h.engine.jobs.create("default", spec({ schedule }));
    const request = { ...defaults, from: h.last - 1_000_100_000, to: h.last };
    await expect(h.engine.backfills.count("default", { id }, request)).rejects.toThrow(/more than 1000000 occurrences/);
  });

  it("is refused for a job without a schedule", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    await expect(h.start(id, 3)).rejects.toThrow(/no schedule of its own/);
  });

  it("is refused for a job that does not exist or is cancelled", async () => {
    await expect(h.start("0190aaaa-0000-7000-8000-000000000001", 3)).rejects.toMatchObject({ code: "not_found" });
    const job = await h.settledJob();
    await h.engine.jobs.cancel("default", { id: job }, { running: "signal" }, actor);
    await expect(h.start(job, 3)).rejects.toMatchObject({ code: "job_ended" });
    await expect(count(job, 3)).rejects.toMatchObject({ code: "job_ended" });
  });
});
