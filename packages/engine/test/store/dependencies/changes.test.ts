import { type AfterSchedule, formatId } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AfterHarness, afterHarness } from "../../harness/after-harness.js";
import { actor, spec } from "../../harness/change-harness.js";

let h: AfterHarness;
beforeAll(async () => {
  h = await afterHarness();
});
afterAll(() => h.close());

const name = (id: string): string => formatId("job", id);
const on = (id: string) => [{ job: name(id), on: "success" }] as const;
const count = async (id: string): Promise<number> => (await h.started(id)).length;
const waitFor = (id: string, ups: readonly string[]) =>
  h.api.editJob(
    "default",
    { id },
    (current) => ({
      ...current,
      schedule: { kind: "after", after: ups.flatMap((up) => on(up)) } satisfies AfterSchedule,
    }),
    actor,
  );
const cancel = (id: string, dependants?: "refuse" | "detach") =>
  h.api.cancelJob("default", { id }, { running: "keep", ...(dependants && { dependants }) }, actor);

describe("who may wait for whom", () => {
  it("refuses a job that does not exist, or has ended", async () => {
    const gone = await h.upstream();
    await cancel(gone);
    for (const job of ["nobody", name(gone), name("0193e2c4-0000-7000-8000-000000000000")]) {
      await expect(h.waiting([{ job, on: "success" }])).rejects.toMatchObject({
        code: "upstream_unknown",
        items: [{ pointer: "/schedule/after/0/job" }],
      });
    }
    const down = await h.upstream();
    await expect(waitFor(down, [gone])).rejects.toMatchObject({ code: "upstream_unknown" });
  });

  it("refuses a circle, however long, and leaves the job as it was", async () => {
    const a = await h.upstream();
    const b = await h.waiting(on(a));
    const c = await h.waiting(on(b));
    for (const up of [a, b, c]) {
      await expect(waitFor(a, [up])).rejects.toMatchObject({ code: "dependency_cycle" });
    }
    expect((await h.api.getJob("default", { id: a }))?.schedule).toEqual({ kind: "manual" });
  });

  it("lets one of two changes that would close a circle together through, never both", async () => {
    const [a, c] = [await h.upstream(), await h.upstream()];
    const [b, d] = [await h.waiting(on(c)), await h.waiting(on(a))];
    const done = await Promise.allSettled([waitFor(a, [b]), waitFor(c, [d])]);
    expect(done.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("refuses to end a job that others wait for, or detaches them, as asked", async () => {
    const [a, b] = [await h.upstream(), await h.upstream({ key: "b" })];
    const down = await h.waiting([...on(a), ...on(b)], { key: "down" });
    await expect(cancel(a)).rejects.toMatchObject({ code: "job_has_dependants" });
    await expect(cancel(a)).rejects.toThrow(/^down waits for this job/);
    await cancel(a, "detach");
    await h.runOnce(b);
    await h.tell();
    expect(await count(down)).toBe(1);
    await cancel(down);
    await cancel(b);
  });
});

describe("a job that was detached", () => {
  it("waits again once the same definition is said again, for whoever has the key by then", async () => {
    const first = await h.upstream({ key: "source" });
    const define = () =>
      h.api.upsertJob(
        "default",
        "follower",
        () => spec({ key: "follower", schedule: { kind: "after", after: [{ job: "source", on: "success" }] } }),
        actor,
      );
    const { job } = await define();
    await cancel(first, "detach");
    const second = await h.upstream({ key: "source" });
    await h.runOnce(second);
    await h.tell();
    expect(await count(job.id)).toBe(0);
    expect((await define()).created).toBe(false);
    await h.runOnce(second);
    await h.tell();
    expect(await count(job.id)).toBe(1);
    const { version } = (await define()).job;
    expect((await define()).job.version).toBe(version);
  });
});

describe("a change of a job that waits", () => {
  it("lets it hear first of what has ended before", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting(on(a));
    await h.runOnce(a);
    await waitFor(down, [b]);
    expect(await count(down)).toBe(1);
    await h.runOnce(a);
    await h.tell();
    expect(await count(down)).toBe(1);
    await h.runOnce(b);
    await h.tell();
    expect(await count(down)).toBe(2);
  });

  it("keeps what is met where the schedule stays the same", async () => {
    const [a, b] = [await h.upstream(), await h.upstream()];
    const down = await h.waiting([...on(a), ...on(b)]);
    await h.runOnce(a);
    await h.api.editJob("default", { id: down }, (current) => ({ ...current, priority: 9 }), actor);
    await h.runOnce(b);
    await h.tell();
    expect(await count(down)).toBe(1);
  });

  it("to another kind of schedule ends the waiting", async () => {
    const a = await h.upstream();
    const down = await h.waiting(on(a));
    await h.api.editJob("default", { id: down }, (current) => ({ ...current, schedule: { kind: "manual" } }), actor);
    await h.runOnce(a);
    await h.tell();
    expect(await count(down)).toBe(0);
    await cancel(a);
  });

  it.each([
    ["none", 0, 3],
    ["latest", 1, 2],
    ["all", 3, 0],
  ] as const)("is not started while it is paused; resumed with %s it is told %i", async (missed, told, noted) => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    await h.runOnce(up);
    await h.api.pauseJob("default", { id: down }, { reason: null, until: null, missed: "none" }, actor);
    for (let n = 0; n < 3; n++) await h.runOnce(up);
    await h.tell();
    expect(await count(down)).toBe(1);
    expect(await h.api.countMissed("default", { id: down })).toBe(3);
    expect((await h.api.resumeJob("default", { id: down }, { missed }, actor)).missed).toBe(3);
    await h.tell();
    expect(await count(down)).toBe(1 + told);
    const ledger = await h.ledger(down);
    expect(ledger.reduce((sum, entry) => sum + Number(entry["count"]), 0)).toBe(noted);
  });

  it("whose pause runs out is told what the pause said", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    const until = h.db.clock.now() + 60_000;
    await h.api.pauseJob("default", { id: down }, { reason: null, until, missed: "latest" }, actor);
    for (let n = 0; n < 2; n++) await h.runOnce(up);
    await h.tell();
    await h.select("update carillon.job_due set next_fire_at = now() - interval '1 second' where job_id = $1", down);
    const version = Number((await h.due(down))["version"]);
    expect(await h.expirePauses(h.fence, [{ jobId: down, version }])).toEqual([down]);
    await h.tell();
    expect(await count(down)).toBe(1);
  });
});

describe("two nodes", () => {
  it("that tell the same job at once start it once for each end", async () => {
    const up = await h.upstream();
    const down = await h.waiting(on(up));
    const other = h.newRunner();
    for (let n = 0; n < 20; n++) await h.runOnce(up);
    await Promise.all([h.tell(), other.tick(), other.tick(), h.tell()]);
    await h.tell();
    expect(await count(down)).toBe(20);
  });

  it("of which one dies before it has told leave it to the other: what ended a run wrote it down with it", async () => {
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

  it("write the start and what was heard together, or neither", async () => {
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
