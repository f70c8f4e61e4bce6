import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
beforeAll(async () => {
  h = await storeHarness();
});
afterAll(() => h.close());

const dayMs = 86_400_000;

describe("the days of history", () => {
  it("are made once, also when several nodes make them at the same time", async () => {
    const far = Date.parse("2031-05-01T12:00:00Z");
    const made = await Promise.all([1, 2, 3, 4].map(() => h.store.historyDays.ensure(far, 5)));
    expect(made.every((count) => count <= 5)).toBe(true);
    expect(await h.store.historyDays.ensure(far, 5)).toBe(0);
    const names = await h.db.query<{ relname: string }>({
      text: "select relname from pg_class where relname like 'run_history_203105%' and relkind = 'r' order by 1",
    });
    expect(names.rows.map((row) => row.relname)).toEqual([1, 2, 3, 4, 5].map((day) => `run_history_2031050${day}`));
  });

  it("are made by the first run that ends in one that is missing", async () => {
    const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
    const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10).replaceAll("-", "");
    for (const day of [today, tomorrow]) await h.db.query({ text: `drop table if exists carillon.run_history_${day}` });
    const id = await h.run();
    const session = await h.session();
    const [run] = await h.claim(session, 1);
    const done = { session, id, fence: run?.fence ?? 0, status: "succeeded", reason: null, output: "null" } as const;
    const succeeded = [{ ...done, error: null, startedAt: Date.now() }];
    expect((await h.store.claims.exchange({ succeeded, demand: null })).accepted).toBeNull();
    expect(await h.store.reads.finished(1, [id], 0)).toHaveLength(1);
  });
});
