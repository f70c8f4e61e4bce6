import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actor, type ChangeHarness, changeHarness, spec } from "../../harness/change-harness.js";

let h: ChangeHarness;
beforeAll(async () => {
  h = await changeHarness();
});
afterAll(() => h.close());

const last = Date.UTC(9999, 11, 31, 23, 59, 59);
const dayMs = 86_400_000;

describe("the last instants that PostgreSQL can store", () => {
  it("stores deadlines after the year 9999, for runs and for jobs", async () => {
    const late = { schedule: { kind: "at", at: last }, policy: { deadlineMs: dayMs } } as const;
    const run = await h.engine.jobs.create("default", spec(late));
    expect(run).toMatchObject({ nextRunAt: last });
    const job = await h.engine.jobs.create("default", spec({ ...late, key: "late" }));
    expect(
      await h.engine.jobs.pause("default", { id: run.id }, { reason: null, until: last, missed: "none" }, actor),
    ).toMatchObject({ state: "paused" });
    expect((await h.engine.jobs.get("default", { id: job.id }))?.nextRunAt).toBe(last);
  });

  it("fires the last instants that PostgreSQL can store, with their jitter", async () => {
    const schedule = { kind: "every", everyMs: dayMs, anchor: last, startsAt: last, jitterMs: dayMs - 1 } as const;
    const job = await h.engine.jobs.create("default", spec({ schedule }));
    expect(job.nextRunAt).toBeGreaterThan(last);
    expect(await h.due(job.id)).toMatchObject({ next_nominal_at: last, next_fire_at: job.nextRunAt });
  });
});
