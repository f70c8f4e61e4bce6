import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Retention } from "../../../src/runs/retention.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";
import { testContext } from "../../harness/test-context.js";

let h: StoreHarness;
beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());

const dayMs = 86_400_000;
const nameOf = (at: number): string => `run_history_${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`;

async function countOf(text: string): Promise<number> {
  return (
    (await h.db.query<{ count: number }>({ text: `select count(*)::int as count from ${text}` })).rows[0]?.count ?? 0
  );
}

describe("the days of history", () => {
  it("days of history are created once, also when several nodes create them at the same time", async () => {
    const far = Date.parse("2031-05-01T12:00:00Z");
    const made = await Promise.all([1, 2, 3, 4].map(() => h.store.historyDays.ensure(far, 5)));
    expect(made.every((count) => count <= 5)).toBe(true);
    expect(await h.store.historyDays.ensure(far, 5)).toBe(0);
    const names = await h.db.query<{ relname: string }>({
      text: "select relname from pg_class where relname like 'run_history_203105%' and relkind = 'r' order by 1",
    });
    expect(names.rows.map((row) => row.relname)).toEqual([1, 2, 3, 4, 5].map((day) => `run_history_2031050${day}`));
  });

  it("a missing day of history is created by the first run that ends on it", async () => {
    const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10).replaceAll("-", "");
    for (const day of [today, tomorrow]) await h.db.query({ text: `drop table if exists carillon.run_history_${day}` });
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const done = { session, id, fence: run?.fence ?? 0, status: "succeeded", reason: null, output: "null" } as const;
    const succeeded = [{ ...done, error: null, startedAt: Date.now() }];
    expect((await h.store.claims.completeAndClaim({ succeeded, demand: null })).accepted).toBeNull();
    expect(await h.store.reads.finished(1, [id], 0)).toHaveLength(1);
  });

  it("old days of history are dropped, with the redrives and the error groups of their runs", async () => {
    const [old, young] = [Date.now() - 91 * dayMs, Date.now() - 89 * dayMs];
    for (const at of [old, young]) {
      await h.store.historyDays.ensure(at, 1);
      const done = "(run_id, namespace_id, kind, created_at) values (gen_random_uuid(), 1, 'discard', $1)";
      await h.db.query({ text: `insert into carillon.redrive ${done}` }, [new Date(at)]);
      const group =
        "(namespace_id, fingerprint, type, message, tasks, count, first_seen_at, last_seen_at, sample_run_id)";
      const values = "values (1, $2, 'Error', 'no', '{echo}', 1, $1, $1, gen_random_uuid())";
      await h.db.query({ text: `insert into carillon.error_group ${group} ${values}` }, [new Date(at), String(at)]);
    }
    const retention = new Retention(testContext({ database: h.db, limits: { sweepBatch: 10 } }));
    await retention.keepDays();
    await retention.sweepRecords();
    expect(await countOf(`pg_class where relkind = 'r' and relname = '${nameOf(old)}'`)).toBe(0);
    expect(await countOf(`pg_class where relkind = 'r' and relname = '${nameOf(young)}'`)).toBe(1);
    expect([await countOf("carillon.redrive"), await countOf("carillon.error_group")]).toEqual([1, 1]);
  });
});
