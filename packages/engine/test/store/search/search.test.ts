import { randomBytes } from "node:crypto";
import { parseLabelSelector, uuidv7 } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunLister } from "../../../src/jobs/run-lister.js";
import { RunReader } from "../../../src/jobs/run-reader.js";
import type { RunFilter } from "../../../src/model/api.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let lister: RunLister;
const now = Date.now();
/** More than one page looks through. */
const count = 24_000;
const idOf = (n: number): string => uuidv7(now - (count - n) * 1_000, randomBytes);
const ids = Array.from({ length: count }, (_, n) => idOf(n));

beforeAll(async () => {
  h = await storeHarness();
  lister = new RunLister(h.store.search, new RunReader(h.store.reads));
  // Run n has the owner o<n % 4000>, the label n=<n % 8000>, and task rare once.
  await h.db.query(
    {
      text: `insert into carillon.run_history (id, job_id, namespace_id, status, priority, run_at, nominal_at, created_at, trigger, task,
               queue, labels, owner, attempt, losses, fence, started_at, finished_at)
             select i.id, i.id, 1, case when i.n % 5000 = 1 then 'failed' when i.n % 5000 = 2 then 'cancelled' else 'succeeded' end, 4,
                    t.at, t.at, t.at, case when i.n % 6000 = 3 then 'run_now:x' else 'once' end,
                    case when i.n = 5 then 'rare' else 'echo' end, 'default',
                    case when i.n % 2 = 0 then jsonb_build_object('n', (i.n % 8000)::text, 'kind', 'a') end,
                    case when i.n % 2 = 1 then 'o' || i.n % 4000 end, 1, 0, 1, t.at, now()
             from unnest($1::uuid[]) with ordinality as o (id, place)
             cross join lateral (select o.id, (o.place - 1)::int as n) i
             cross join lateral (select to_timestamp($2::float8 / 1000) - (${count} - i.n) * interval '1 second' as at) t`,
    },
    [ids, now],
  );
  await h.db.query({ text: "analyze carillon.run_history" });
});
afterAll(() => h.close());

const numberOf = new Map(ids.map((id, n) => [id, n]));

/** All pages of a list; `pages` says how many there were. */
async function all(filter: RunFilter, pageSize = 50) {
  const found: number[] = [];
  let pages = 0;
  for (let after: string | null = null; ; pages += 1) {
    const page = await lister.list(1, filter, { pageSize, after });
    found.push(...page.rows.map((run) => numberOf.get(run.id) ?? -1));
    if (page.next === null) return { found, pages: pages + 1 };
    after = page.next;
  }
}

const expected = (is: (n: number) => boolean): number[] => ids.flatMap((_, n) => (is(n) ? [n] : [])).toReversed();

describe("searching finished runs", () => {
  it.each<[string, RunFilter, (n: number) => boolean]>([
    ["owner", { owner: "o17" }, (n) => n % 4_000 === 17],
    ["a label", { labels: parseLabelSelector("n=16") }, (n) => n % 8_000 === 16],
    ["labels in a set", { labels: parseLabelSelector("kind=a,n in (16,18)") }, (n) => [16, 18].includes(n % 8_000)],
    ["a label's absence", { labels: parseLabelSelector("!kind,n!=4"), owner: "o17" }, (n) => n % 4_000 === 17],
    ["failed", { status: ["failed"] }, (n) => n % 5_000 === 1],
    ["cancelled", { status: ["cancelled", "skipped"] }, (n) => n % 5_000 === 2],
    ["task", { task: "rare" }, (n) => n === 5],
    ["trigger", { trigger: "run_now" }, (n) => n % 6_000 === 3],
    ["time", { createdFrom: now - 30_500, createdBefore: now - 20_500 }, (n) => n >= count - 30 && n < count - 20],
    ["an old time", { createdBefore: now - (count - 10) * 1_000 + 500 }, (n) => n <= 10],
  ])("by %s gives each match once, newest first", async (_, filter, is) => {
    expect((await all(filter)).found).toEqual(expected(is));
    expect((await all(filter, 2)).found).toEqual(expected(is));
  });

  it("looks through a bounded number of rows for one page: it may be empty and not the last", async () => {
    const { rows, next } = await lister.list(1, { task: "rare" }, { pageSize: 50 });
    expect([rows, next]).toEqual([[], expect.any(String)]);
    expect((await all({ task: "rare" })).pages).toBe(3);
  });

  it("by what an index serves is one page, however far back it lies", async () => {
    for (const filter of [{ owner: "o17" }, { labels: parseLabelSelector("n=16") }, { status: ["failed" as const] }]) {
      expect((await all(filter)).pages).toBe(1);
    }
  });
});
