import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { EngineEvent } from "../../../../src/index.js";
import { actor, type ChangeHarness, changeHarness, overlapping } from "../../../harness/change-harness.js";

let h: ChangeHarness;
let events: EngineEvent[] = [];
beforeAll(async () => {
  // The events of occurrences; job.created and job.updated are emitted too.
  h = await changeHarness((event) => {
    if (!event.type.startsWith("job.")) events.push(event);
  });
});
afterAll(() => h.close());
beforeEach(() => {
  events = [];
});

const edit = (id: string) =>
  h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: "new", priority: 9 }), actor);

describe("a change that decides due occurrences", () => {
  it("emits the fire of a due occurrence that a change decided, with the class before the change", async () => {
    const id = await h.recurring();
    await edit(id);
    const [run] = await h.runs(id);
    const what = {
      namespaceId: 1,
      task: expect.any(String),
      queue: "default",
      jobId: id,
      runId: run?.["id"],
      scheduledFor: h.last,
      priorityClass: "normal",
      lateMs: expect.any(Number),
    };
    expect(events).toEqual([{ type: "run.fired", trigger: "schedule", ...what }]);
    expect(events[0]).toMatchObject({ lateMs: Number(run?.["created_at"]) - h.last });
  });

  it("emits late, missed and skipped occurrences that a change decided", async () => {
    const [late, busy] = [await h.recurring({ firing: { misfireThresholdMs: 0 } }, 2), await h.recurring()];
    await edit(late);
    expect(events).toMatchObject([
      { type: "run.fired", scheduledFor: h.last },
      { type: "run.late", jobId: late, scheduledFor: h.last },
      { type: "occurrence.missed", jobId: late, count: 2 },
    ]);
    events = [];
    await h.engine.jobs.runNow("default", { id: busy }, {}, actor);
    await edit(busy);
    expect(events).toEqual([{ type: "occurrence.skipped", jobId: busy, reason: "overlap", count: 1 }]);
  });

  it("emits run.blocked for a run that waits for others", async () => {
    const id = await h.recurring(overlapping("queue_one"));
    await h.engine.jobs.runNow("default", { id }, {}, actor);
    await edit(id);
    expect(events).toMatchObject([{ type: "run.blocked", jobId: id, scheduledFor: h.last }]);
  });

  it("emits nothing for a change that changes nothing", async () => {
    const id = await h.recurring();
    await h.engine.jobs.edit("default", { id }, (job) => job, actor);
    await expect(h.engine.jobs.rollback("default", { id }, 7, actor)).rejects.toMatchObject({
      code: "version_unknown",
    });
    expect(events).toEqual([]);
  });
});
