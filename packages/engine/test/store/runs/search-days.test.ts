import { parseLabelSelector, uuidV7Of } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadStatements } from "../../../src/index.js";
import { RunLister } from "../../../src/runs/run-lister.js";
import { RunReader } from "../../../src/runs/run-reader.js";
import { HistoryDays, maxDaysAtOnce, type Queryable, type RunFilter, runSearch, type SqlText } from "@carillon/store";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

const dayMs = 86_400_000;
const dayCount = 24;
const now = Date.now();
const today = Math.floor(now / dayMs) * dayMs;

/** Five runs end each day. One of seven was created up to 20 days before. */
const runs = Array.from({ length: dayCount * 5 }, (_, n) => {
  const endedAt = today - Math.floor(n / 5) * dayMs - (n % 5) * 600_000 - 1;
  const lag = n % 7 === 3 ? (n % 20) * dayMs : 1_000;
  return { n, endedAt, id: uuidV7Of(endedAt - lag, 0, 0, n) };
});

let h: StoreHarness;
let lister: RunLister;
/** A lister whose time budget is spent after each statement. */
let hasty: RunLister;
/** The number of days in the plan of each statement. */
let planned: number[];

beforeAll(async () => {
  h = await storeHarness();
  await h.store.historyDays.ensure(today - (dayCount + 1) * dayMs, dayCount + 2);
  await h.db.query(
    {
      text: `insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
               queue, labels, owner, attempt, losses, fence, started_at, finished_at)
             select r.id, r.id, 1, case when r.n % 40 = 5 then 'failed' else 'succeeded' end, 4, r.at, r.at, r.at, 'once',
                    case when r.n = ${runs.length - 1} then 'ancient' else 'echo' end, 'default', case when r.n % 30 = 1 then '{"kind":"rare"}'::jsonb end, 'o' || r.n % 3, 1, 0, 1, r.at, r.at
             from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as r (id, n, at)`,
    },
    [runs.map((run) => run.id), runs.map((run) => run.n), runs.map((run) => new Date(run.endedAt).toISOString())],
  );
  const db = planning(h.db);
  let reads = 0;
  lister = listerBy(db, () => Date.now());
  hasty = listerBy(h.db, () => Date.now() + reads++ * 50);
});
afterAll(() => h.close());

function listerBy(db: Queryable, clock: () => number): RunLister {
  const common = { db, statements: loadStatements("carillon"), now: clock };
  const search = runSearch({ ...common, days: new HistoryDays({ ...common, schema: "carillon" }) });
  return new RunLister(search, new RunReader(h.store.reads));
}

/** The same database, which records how many days each statement scans. */
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

async function pagesOf(by: RunLister, filter: RunFilter, oldestFirst: boolean): Promise<number[][]> {
  const numberOf = new Map(runs.map((run) => [run.id, run.n]));
  const pages: number[][] = [];
  for (let after: string | null = null; ;) {
    const page = await by.list(1, filter, { pageSize: 9, after, oldestFirst });
    pages.push(page.rows.map((run) => numberOf.get(run.id) ?? -1));
    if (page.next === null) return pages;
    after = page.next;
  }
}

describe("a search of runs that ended over many days", () => {
  it.each<[string, RunFilter, (n: number) => boolean]>([
    ["nothing", {}, () => true],
    ["owner", { owner: "o1" }, (n) => n % 3 === 1],
    ["a label", { labels: parseLabelSelector("kind=rare") }, (n) => n % 30 === 1],
    ["failed", { status: ["failed"] }, (n) => n % 40 === 5],
    ["a task without runs", { task: "unused" }, () => false],
  ])("a search by %s over many days gives each match once, in either order of creation", async (_, filter, is) => {
    const expected = runs.filter((run) => is(run.n)).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const numbers = expected.map((run) => run.n);
    expect((await pagesOf(lister, filter, false)).flat()).toEqual(numbers);
    expect((await pagesOf(lister, filter, true)).flat()).toEqual(numbers.toReversed());
  });

  it.each([
    ["newest first", false],
    ["oldest first", true],
  ])(
    "a search %s in pages that end with their time budget loses no run and gives none twice",
    async (_, oldestFirst) => {
      const whole = (await pagesOf(lister, { owner: "o1" }, oldestFirst)).flat();
      const pages = await pagesOf(hasty, { owner: "o1" }, oldestFirst);
      expect(pages.slice(0, -1).some((page) => page.length < 9)).toBe(true);
      expect(pages.flat()).toEqual(whole);
    },
  );

  it("one statement of a search scans a bounded number of days", () => {
    expect(planned.length).toBeGreaterThan(20);
    expect(Math.max(...planned)).toBeLessThanOrEqual(maxDaysAtOnce + 1);
  });

  it("a total over many days is counted or estimated", async () => {
    expect(await lister.total(1, { owner: "o1" }, "exact")).toEqual({ count: 40, accuracy: "exact" });
    expect((await lister.total(1, {}, "estimate")).accuracy).toBe("estimate");
  });

  it("the last success and the statistics of a job cover runs of all days", async () => {
    const oldest = runs.at(-1);
    const id = oldest?.id ?? "";
    expect((await h.store.records.lastSuccess(1, id))?.at).toBe(oldest?.endedAt);
    expect(await h.store.records.lastSuccess(1, uuidV7Of(1, 0, 0, 0))).toBeNull();
    const stats = await h.store.runChanges.jobStats(1, id, 10);
    expect(stats).toMatchObject({ finished: 1, succeeded: 1, failed: 0, lastAt: oldest?.endedAt, durationP50Ms: 0 });
  });

  it("the tasks of finished runs are listed, also from days that were read before", async () => {
    for (const _ of ["first", "again"]) {
      expect((await h.store.catalogue.tasks(1, { limit: 5 })).map((task) => task.name)).toEqual(["ancient", "echo"]);
    }
    expect((await h.store.catalogue.tasks(1, { limit: 1, only: "ancient" })).map((task) => task.name)).toEqual([
      "ancient",
    ]);
    expect(await h.store.catalogue.tasks(1, { limit: 1, after: "echo" })).toEqual([]);
  });

  it("a run is found by its id, however long after its creation it ended", async () => {
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
