import { type AfterSchedule, formatId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DependencyHarness, dependencyHarness } from "../../harness/dependency-harness.js";
import { actor, spec } from "../../harness/change-harness.js";

let h: DependencyHarness;
beforeAll(async () => {
  h = await dependencyHarness();
});
afterAll(() => h.close());

const name = (id: string): string => formatId("job", id);
const on = (id: string) => [{ job: name(id), on: "success" }] as const;
const count = async (id: string): Promise<number> => (await h.started(id)).length;
const waitFor = (id: string, ups: readonly string[]) =>
  h.engine.jobs.edit(
    "default",
    { id },
    (current) => ({
      ...current,
      schedule: { kind: "after", after: ups.flatMap((up) => on(up)) } satisfies AfterSchedule,
    }),
    actor,
  );
const cancel = (id: string, dependants?: "refuse" | "detach") =>
  h.engine.jobs.cancel("default", { id }, { running: "keep", ...(dependants && { dependants }) }, actor);

describe("the dependencies of jobs", () => {
  it("refuses an upstream job that does not exist or has ended", async () => {
    const gone = await h.upstream();
    await cancel(gone);
    for (const job of ["unknown", name(gone), name("0193e2c4-0000-7000-8000-000000000000")]) {
      await expect(h.waiting([{ job, on: "success" }])).rejects.toMatchObject({
        code: "upstream_unknown",
        items: [{ pointer: "/schedule/after/0/job" }],
      });
    }
    const down = await h.upstream();
    await expect(waitFor(down, [gone])).rejects.toMatchObject({ code: "upstream_unknown" });
  });

  it("refuses a circle of any length, and leaves the job as it was", async () => {
    const a = await h.upstream();
    const b = await h.waiting(on(a));
    const c = await h.waiting(on(b));
    for (const up of [a, b, c]) {
      await expect(waitFor(a, [up])).rejects.toMatchObject({ code: "dependency_cycle" });
    }
    expect((await h.engine.jobs.get("default", { id: a }))?.schedule).toEqual({ kind: "manual" });
  });

  it("applies one of two concurrent changes that would close a circle together", async () => {
    const [a, c] = [await h.upstream(), await h.upstream()];
    const [b, d] = [await h.waiting(on(c)), await h.waiting(on(a))];
    const done = await Promise.allSettled([waitFor(a, [b]), waitFor(c, [d])]);
    expect(done.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("refuses to cancel a job with waiting jobs, or detaches them, as requested", async () => {
    const [a, b] = [await h.upstream(), await h.upstream({ key: "b" })];
    const down = await h.waiting([...on(a), ...on(b)], { key: "down" });
    await expect(cancel(a)).rejects.toMatchObject({ code: "job_has_dependants" });
    await expect(cancel(a)).rejects.toThrow(/^Jobs wait for this one \(down\)/);
    await cancel(a, "detach");
    await h.runOnce(b);
    await h.processEnds();
    expect(await count(down)).toBe(1);
    await cancel(down);
    await cancel(b);
  });
});

describe("a job that was detached", () => {
  it("links a detached job again when the same definition is stored, to the job that has the key then", async () => {
    const first = await h.upstream({ key: "source" });
    const define = () =>
      h.engine.jobs.upsert(
        "default",
        "follower",
        () => spec({ key: "follower", schedule: { kind: "after", after: [{ job: "source", on: "success" }] } }),
        actor,
      );
    const { job } = await define();
    await cancel(first, "detach");
    const second = await h.upstream({ key: "source" });
    await h.runOnce(second);
    await h.processEnds();
    expect(await count(job.id)).toBe(0);
    expect((await define()).created).toBe(false);
    await h.runOnce(second);
    await h.processEnds();
    expect(await count(job.id)).toBe(1);
    const { version } = (await define()).job;
    expect((await define()).job.version).toBe(version);
  });
});

describe("a change of a waiting job", () => {
  it("processes the ends before a change of the waiting job first", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting(on(a));
    await h.runOnce(a);
    await waitFor(down, [b]);
    expect(await count(down)).toBe(1);
    await h.runOnce(a);
    await h.processEnds();
    expect(await count(down)).toBe(1);
    await h.runOnce(b);
    await h.processEnds();
    expect(await count(down)).toBe(2);
  });

  it("keeps the progress of a waiting job when its schedule stays the same", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting([...on(a), ...on(b)]);
    await h.runOnce(a);
    await h.engine.jobs.edit("default", { id: down }, (current) => ({ ...current, priority: 9 }), actor);
    await h.runOnce(b);
    await h.processEnds();
    expect(await count(down)).toBe(1);
  });

  it("ends the waiting when a job gets another kind of schedule", async () => {
    const a = await h.upstream();
    const down = await h.waiting(on(a));
    await h.engine.jobs.edit(
      "default",
      { id: down },
      (current) => ({ ...current, schedule: { kind: "manual" } }),
      actor,
    );
    await h.runOnce(a);
    await h.processEnds();
    expect(await count(down)).toBe(0);
    await cancel(a);
  });

  it.each([
    ["none", 0, 3],
    ["latest", 1, 2],
    ["all", 3, 0],
  ] as const)(
    "defers the ends for a paused job, and a resume with %s processes %i of them",
    async (missed, processed, noted) => {
      const up = await h.upstream();
      const down = await h.waiting(on(up));
      await h.runOnce(up);
      await h.engine.jobs.pause("default", { id: down }, { reason: null, until: null, missed: "none" }, actor);
      for (let n = 0; n < 3; n++) await h.runOnce(up);
      await h.processEnds();
      expect(await count(down)).toBe(1);
      expect(await h.engine.jobs.countMissed("default", { id: down })).toBe(3);
      expect((await h.engine.jobs.resume("default", { id: down }, { missed }, actor)).missed).toBe(3);
      await h.processEnds();
      expect(await count(down)).toBe(1 + processed);
      const ledger = await h.ledger(down);
      expect(ledger.reduce((sum, entry) => sum + Number(entry["count"]), 0)).toBe(noted);
    },
  );

  it("applies the choice of an expired pause to the deferred ends", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    const until = h.db.clock.now() + 60_000;
    await h.engine.jobs.pause("default", { id: down }, { reason: null, until, missed: "latest" }, actor);
    for (let n = 0; n < 2; n++) await h.runOnce(up);
    await h.processEnds();
    await h.select("update carillon.job_due set next_fire_at = now() - interval '1 second' where job_id = $1", down);
    const version = Number((await h.due(down))["version"]);
    expect(await h.expirePauses(h.fence, [{ jobId: down, version }])).toEqual([down]);
    await h.processEnds();
    expect(await count(down)).toBe(1);
  });
});

describe("two nodes that process ends", () => {
  it("starts a job once for each end although two nodes process its ends at once", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    const other = h.newRunner();
    for (let n = 0; n < 20; n++) await h.runOnce(up);
    await Promise.all([h.processEnds(), other.tick(), other.tick(), h.processEnds()]);
    await h.processEnds();
    expect(await count(down)).toBe(20);
  });

  it("processes an end on another node if the first dies before it does", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    const run = await h.begin(up);
    await expect(
      h.db.transaction(async (tx) => {
        await tx.query({ text: "delete from carillon.run where id = $1" }, [run]);
        throw new Error("the node dies before the commit");
      }),
    ).rejects.toThrow("dies");
    await h.newRunner().tick();
    expect(await count(down)).toBe(0);
    await h.end(run);
    await h.newRunner().tick();
    expect(await count(down)).toBe(1);
  });

  it("writes the new run and the processed end together, or neither", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    await h.runOnce(up);
    const lock = "select from carillon.job_due where job_id = $1 for update";
    await h.db.transaction(async (tx) => {
      await tx.query({ text: lock }, [down]);
      await h.newRunner().tick();
    });
    expect(await count(down)).toBe(0);
    await h.newRunner().tick();
    expect(await count(down)).toBe(1);
  });
});
