import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BackfillView, Engine } from "../../../src/index.js";
import { defaults } from "../../harness/backfill-harness.js";
import { actor, every, overlapping, period, spec } from "../../harness/change-harness.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
const days: unknown[] = [];

beforeAll(async () => {
  h = await EngineHarness.create();
  engine = await h.startNode("a");
  await h.startNode("b");
  await h.startWorker(engine, { name: "day", run: async (payload) => days.push(payload) });
});
afterAll(() => h.close());

const ended = (id: string) => (): boolean =>
  h.events.some((event) => event.type === "backfill.ended" && event.backfillId === id);

async function start(over: object): Promise<BackfillView> {
  const last = Math.floor(h.database.clock.now()) - 60_000;
  const job = await engine.jobs.create("default", spec({ task: "day", schedule: every(last), ...over }));
  const range = { from: last - 19 * period, to: last };
  return engine.backfills.start("default", { id: job.id }, { ...defaults, ...range }, actor);
}

describe("backfills on running nodes", () => {
  it("nodes whose loops run make all runs of a backfill, and workers run them, one at a time if the job requires it [INV-1]", async () => {
    const started = [await start(overlapping("allow")), await start(overlapping("skip"))];
    for (const { id } of started) await h.until(ended(id));
    await h.until(() => h.countEnds() === 40);
    for (const { id } of started)
      expect(await engine.backfills.get("default", id)).toMatchObject({ state: "done", made: 20, skipped: 0 });
    expect(days).toHaveLength(40);
    const { rows } = await engine.runs.list("default", { jobId: started[0]?.jobId ?? "" }, { pageSize: 100 });
    expect(new Set(rows.map((run) => run.trigger.scheduledFor)).size).toBe(20);
    expect(rows[0]?.trigger).toMatchObject({ kind: "backfill", id: started[0]?.id });
  });
});
