import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Retention } from "../../../src/runs/retention.js";
import { type BackfillHarness, backfillHarness } from "../../harness/backfill-harness.js";
import { actor, overlapping, period, spec } from "../../harness/change-harness.js";
import { testContext } from "../../harness/test-context.js";

const dayMs = 86_400_000;
const historyDays = 90;

let h: BackfillHarness;
beforeAll(async () => {
  h = await backfillHarness();
});
afterAll(() => h.close());

/** Sweeps at a later day, in parts so small that each table takes several. */
async function sweep(daysLater: number): Promise<void> {
  const now = (): number => h.db.clock.now() + daysLater * dayMs;
  const retention = new Retention(testContext({ database: h.db, now, limits: { sweepBatch: 2, historyDays } }));
  // A round begins again at its end: 20 passes are enough for every table.
  for (let pass = 0; pass < 20; pass += 1) await retention.sweepJobs();
}

const cancel = (id: string) =>
  h.engine.jobs.cancel("default", { id }, { running: "signal", dependants: "refuse" }, actor);
const exists = async (id: string): Promise<boolean> => (await h.engine.jobs.get("default", { id })) !== null;
const rowsOf = async (id: string): Promise<number[]> => {
  const tables = ["job", "job_due", "job_version", "occurrence", "backfill"];
  const columns = ["id", "job_id", "job_id", "job_id", "job_id"];
  const counts = tables.map((table, at) =>
    h.select(`select 1 from carillon.${table} where ${columns[at]} = $1`, id).then((rows) => rows.length),
  );
  return Promise.all(counts);
};

/** A job with entries in the ledger, a replaced definition and a backfill that has ended. */
async function withRecords(): Promise<string> {
  const id = await h.settledJob(overlapping("skip"));
  await h.start(id, 1);
  await h.drain();
  await h.forgetRuns(id);
  await h.drain();
  await h.engine.jobs.edit("default", { id }, (job) => ({ ...job, payload: "new" }), actor);
  const note = `insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, recorded_at)
                select $1, 1, 1, 'missed', now() + n * interval '1 minute', now() + n * interval '1 minute', 1, now()
                from generate_series(1, 5) as n`;
  await h.select(note, id);
  return id;
}

describe("retention of jobs", () => {
  it("the ledger and ended backfills of a live job are deleted with the history of their time, its versions are kept", async () => {
    const id = await withRecords();
    expect(await rowsOf(id)).toEqual([1, 1, 1, 5, 1]);
    await sweep(historyDays - 1);
    expect(await rowsOf(id)).toEqual([1, 1, 1, 5, 1]);
    await sweep(historyDays + 1);
    expect(await rowsOf(id)).toEqual([1, 1, 1, 0, 0]);
    expect(await exists(id)).toBe(true);
  });

  it("an open range of the ledger is kept while it grows", async () => {
    const id = await h.recurring(overlapping("queue_one"), 3);
    for (let count = 0; count < 4; count += 1) await h.fire(id);
    expect(await h.ledger(id)).toMatchObject([{ reason: "overlap", count: 2 }]);
    await sweep(historyDays + 1);
    expect(await h.ledger(id)).toMatchObject([{ reason: "overlap", count: 2 }]);
  });

  it("the records of a cancelled job are deleted all at once, with the history of its time", async () => {
    const id = await withRecords();
    await cancel(id);
    await sweep(historyDays - 1);
    expect(await rowsOf(id)).toEqual([1, 1, 1, 5, 1]);
    await sweep(historyDays + 1);
    expect(await rowsOf(id)).toEqual([0, 0, 0, 0, 0]);
  });

  it("a completed job is deleted with its records unless it has a key or a live run: a repeated upsert must find that it has run [INV-1]", async () => {
    const at = h.last - period;
    const once = { schedule: { kind: "at", at }, ...overlapping("queue_all") } as const;
    const made = { plain: spec(once), keyed: spec({ ...once, key: "once" }), live: spec(once) };
    const ids = new Map<string, string>();
    for (const [name, one] of Object.entries(made)) {
      const { id } = await h.engine.jobs.create("default", one);
      ids.set(name, id);
      const pick = {
        text: "update carillon.job_due set state = 'completed', next_nominal_at = null, next_fire_at = null, fired_through = next_nominal_at where job_id = $1",
      };
      if (name === "live") await h.engine.jobs.runNow("default", { id }, {}, actor);
      await h.db.query(pick, [id]);
    }
    await sweep(historyDays + 1);
    const left: string[] = [];
    for (const [name, id] of ids) if (await exists(id)) left.push(name);
    expect(left).toEqual(["keyed", "live"]);
  });

  it("a completed job is kept while another job depends on it", async () => {
    const { id } = await h.engine.jobs.create("default", spec());
    const after = { kind: "after", after: [{ job: id, on: "finish" }] } as const;
    const waiting = await h.engine.jobs.create("default", spec({ schedule: after }));
    await h.select("update carillon.job_due set state = 'completed' where job_id = $1", id);
    await sweep(historyDays + 1);
    expect([await exists(id), await exists(waiting.id)]).toEqual([true, true]);
  });
});
