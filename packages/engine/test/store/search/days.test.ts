import { parseLabelSelector, uuidV7Of } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadStatements } from "../../../src/index.js";
import { RunLister } from "../../../src/jobs/run-lister.js";
import { RunReader } from "../../../src/jobs/run-reader.js";
import type { RunFilter } from "../../../src/model/api.js";
import type { Queryable, SqlText } from "../../../src/store/db/queryable.js";
import { HistoryDays, mostDaysAtOnce } from "../../../src/store/entities/history-days.js";
import { runSearch } from "../../../src/store/entities/run-search.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const dayMs = 86_400_000;
const dayCount = 24;
const now = Date.now();
const today = Math.floor(now / dayMs) * dayMs;

/** Each day five runs end. One of seven was made up to 20 days before. */
const runs = Array.from({ length: dayCount * 5 }, (_, n) => {
  const endedAt = today - Math.floor(n / 5) * dayMs - (n % 5) * 600_000 - 1;
  const lag = n % 7 === 3 ? (n % 20) * dayMs : 1_000;
  return { n, endedAt, id: uuidV7Of(endedAt - lag, 0, 0, n) };
});

let h: StoreHarness;
let lister: RunLister;
/** How many days each statement had in its plan. */
let planned: number[];

beforeAll(async () => {
  h = await storeHarness();
  await h.store.historyDays.ensure(today - (dayCount + 1) * dayMs, dayCount + 2);
  await h.db.query(
    {
      text: `insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
               queue, labels, owner, attempt, losses, fence, started_at, finished_at)
             select r.id, r.id, 1, case when r.n % 40 = 5 then 'failed' else 'succeeded' end, 4, r.at, r.at, r.at, 'once', 'echo',
                    'default', case when r.n % 30 = 1 then '{"kind":"rare"}'::jsonb end, 'o' || r.n % 3, 1, 0, 1, r.at, r.at
             from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as r (id, n, at)`,
    },
    [runs.map((run) => run.id), runs.map((run) => run.n), runs.map((run) => new Date(run.endedAt).toISOString())],
  );
  const statements = loadStatements("carillon");
  const common = { db: planning(h.db), statements, now: () => Date.now() };
  const search = runSearch({ ...common, days: new HistoryDays({ ...common, schema: "carillon" }) });
  lister = new RunLister(search, new RunReader(h.store.reads));
});
afterAll(() => h.close());

/** The same database, which notes how many days each statement would look through. */
function planning(db: Queryable): Queryable {
  planned = [];
  return {
    async query<Row extends object>(statement: SqlText, values?: readonly unknown[]) {
      if (!statement.text.startsWith("explain")) {
        const { rows } = await db.query<{ "QUERY PLAN": string }>({ text: `explain ${statement.text}` }, values);
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
        planned.push(new Set([...plan.matchAll(/run_history_\d{8}\b/g)].map(([name]) => name)).size);
      }
      return db.query<Row>(statement, values);
    },
  };
}

async function all(filter: RunFilter, oldestFirst: boolean): Promise<number[]> {
  const numberOf = new Map(runs.map((run) => [run.id, run.n]));
  const found: number[] = [];
  for (let after: string | null = null; ;) {
    const page = await lister.list(1, filter, { pageSize: 9, after, oldestFirst });
    found.push(...page.rows.map((run) => numberOf.get(run.id) ?? -1));
    if (page.next === null) return found;
    after = page.next;
  }
}

describe("searching runs that ended over many days", () => {
  it.each<[string, RunFilter, (n: number) => boolean]>([
    ["nothing", {}, () => true],
    ["owner", { owner: "o1" }, (n) => n % 3 === 1],
    ["a label", { labels: parseLabelSelector("kind=rare") }, (n) => n % 30 === 1],
    ["failed", { status: ["failed"] }, (n) => n % 40 === 5],
    ["what never was", { task: "nobody" }, () => false],
  ])("by %s gives each once in the order in which they were made, in either order", async (_, filter, is) => {
    const expected = runs.filter((run) => is(run.n)).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const numbers = expected.map((run) => run.n);
    expect(await all(filter, false)).toEqual(numbers);
    expect(await all(filter, true)).toEqual(numbers.toReversed());
  });

  it("looks through a bounded number of days by one statement", () => {
    expect(planned.length).toBeGreaterThan(20);
    expect(Math.max(...planned)).toBeLessThanOrEqual(mostDaysAtOnce + 1);
  });

  it("counts them all, and estimates how many there are", async () => {
    expect(await lister.total(1, { owner: "o1" }, "exact")).toEqual({ count: 40, accuracy: "exact" });
    expect((await lister.total(1, {}, "estimate")).accuracy).toBe("estimate");
  });

  it("finds one by its id, however long after it was made it ended", async () => {
    const found = await new RunReader(h.store.reads).findMany(
      1,
      runs.map((run) => run.id),
    );
    expect(found.size).toBe(runs.length);
    for (const { id } of [runs[3], runs[87]].filter((run) => run !== undefined)) {
      expect((await new RunReader(h.store.reads).find(1, id))?.id).toBe(id);
    }
  });
});
