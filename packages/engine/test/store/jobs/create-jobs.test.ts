import type { JobSpec } from "@carillon/core";
import { freshDatabase } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CreatedJob, type Database, Engine, openDatabase } from "../../../src/index.js";
import { hostPorts, newId } from "../../harness/store-harness.js";

let database: Database;
let engine: Engine;
let drop: () => Promise<void>;

beforeEach(async () => {
  const fresh = await freshDatabase({ migrated: true });
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, schema: "carillon", ...hostPorts });
  const node = { name: "test", address: null, version: "0" };
  const limits = { insertBatch: 100, insertQueue: 200 };
  engine = new Engine({ database, ...hostPorts, newId, node, alone: true, limits });
});

afterEach(async () => {
  await database.close();
  await drop();
});

const spec = (over: Partial<JobSpec> = {}): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: { n: 1 },
  schedule: { kind: "cron", cron: "0 0 * * *", timeZone: "UTC" },
  policy: {},
  labels: {},
  ...over,
});

const many = (count: number, of: (index: number) => Partial<JobSpec>): JobSpec[] =>
  Array.from({ length: count }, (_, index) => spec(of(index)));

const idOf = (created: CreatedJob | undefined): string => {
  if (created === undefined || "error" in created) throw new Error("it was not created", { cause: created });
  return created.id;
};

const codes = (created: readonly CreatedJob[]): unknown[] =>
  created.map((one) => ("error" in one ? (one.error as { code?: string }).code : "stored"));

describe("a batch of jobs", () => {
  it("stores a batch of jobs that is larger than a statement and the queue, and returns the outcomes in its order", async () => {
    const created = await engine.jobs.createMany(
      "default",
      many(1_234, (index) => ({ payload: { index } })),
    );
    expect(new Set(created.map(idOf)).size).toBe(1_234);
    for (const index of [0, 99, 100, 1_233]) {
      const job = await engine.jobs.get("default", { id: idOf(created[index]) });
      expect(job).toMatchObject({ payload: { index }, state: "active", nextRunAt: expect.any(Number) });
    }
    const stored = await database.query<{ count: number }>({ text: "select count(*) as count from carillon.job_due" });
    expect(stored.rows).toEqual([{ count: 1_234 }]);
  });

  it("stores the valid jobs of a batch when the node or the database refuses others", async () => {
    const created = await engine.jobs.createMany("default", [
      spec({ key: "a" }),
      spec({ schedule: { kind: "cron", cron: "61 * * * *", timeZone: "UTC" } }),
      spec({ key: "a" }),
      spec({ schedule: { kind: "at", at: 1_000 } }),
      spec({ priority: 77 }),
      spec({ key: "b" }),
    ]);
    expect(codes(created)).toEqual(["stored", "cron_invalid", "key_taken", "schedule_in_past", "23514", "stored"]);
    expect(await engine.jobs.get("default", { key: "b" })).toMatchObject({ id: idOf(created[5]) });
    const found = await engine.jobs.byKeys("default", ["b", "unused"]);
    expect(found.map(({ id, key }) => [id, key])).toEqual([[idOf(created[5]), "b"]]);
  });

  it("stores recurring and one-off jobs of one batch, and each one-off job as one row", async () => {
    const at = database.clock.now();
    const created = await engine.jobs.createMany("default", [
      spec(),
      spec({ schedule: { kind: "at", at } }),
      spec({ schedule: { kind: "at", at: at + 60_000 } }),
    ]);
    const runs = await database.query<{ id: string; state: string }>({
      text: "select id, state from carillon.run order by run_at",
    });
    expect(runs.rows).toEqual([
      { id: idOf(created[1]), state: "queued" },
      { id: idOf(created[2]), state: "scheduled" },
    ]);
  });

  it("stores only the firing policies that differ from the defaults, and the overlap policy in the row that a fire reads", async () => {
    const [created] = await engine.jobs.createMany("default", [spec({ firing: { overlap: "allow" } })]);
    const rows = await database.query({
      text: "select j.firing, d.overlap from carillon.job j join carillon.job_due d on d.job_id = j.id",
    });
    expect(idOf(created)).not.toBe("");
    expect(rows.rows).toEqual([{ firing: { overlap: "allow" }, overlap: "allow" }]);
  });
});
