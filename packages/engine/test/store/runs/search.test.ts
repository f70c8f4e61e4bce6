import { parseLabelSelector, uuidV7Of } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunLister } from "../../../src/runs/run-lister.js";
import { RunReader } from "../../../src/runs/run-reader.js";
import { fillHistory, foreignCount, searchCount } from "../../harness/search-history.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";
import type { RunFilter } from "@carillon/store";

let h: StoreHarness;
let lister: RunLister;
let ids: string[];
const now = Date.now();

beforeAll(async () => {
  h = await storeHarness();
  lister = new RunLister(h.store.search, new RunReader(h.store.reads));
  ids = await fillHistory(h, now);
});
afterAll(() => h.close());

interface ListOptions {
  readonly namespaceId?: number;
  readonly pageSize?: number;
  readonly oldestFirst?: boolean;
}

/** All rows of a list, and its number of pages. */
async function all(filter: RunFilter, { namespaceId = 1, pageSize = 50, oldestFirst = false }: ListOptions = {}) {
  const numberOf = new Map(ids.map((id, n) => [id, n]));
  const found: number[] = [];
  for (let after: string | null = null, pages = 1; ; pages += 1) {
    const page = await lister.list(namespaceId, filter, { pageSize, after, oldestFirst });
    found.push(...page.rows.map((run) => numberOf.get(run.id) ?? -1));
    if (page.next === null) return { found, pages };
    after = page.next;
  }
}

const expected = (is: (n: number) => boolean): number[] =>
  ids.flatMap((_, n) => (n >= foreignCount && is(n) ? [n] : [])).toReversed();

const customer = (value: number) => [{ key: "$.customer.id", isIn: true, among: [String(value)] }];

const filters: [string, RunFilter, (n: number) => boolean][] = [
  ["owner", { owner: "o57" }, (n) => n % 4_000 === 57],
  ["a label", { labels: parseLabelSelector("n=56") }, (n) => n % 8_000 === 56],
  ["a value of the payload", { labels: customer(6_047) }, (n) => n === 6_047],
  ["labels in a set", { labels: parseLabelSelector("kind=a,n in (56,58)") }, (n) => [56, 58].includes(n % 8_000)],
  ["a label's absence", { labels: parseLabelSelector("!kind,n!=4"), owner: "o57" }, (n) => n % 4_000 === 57],
  ["failed", { status: ["failed"] }, (n) => n % 5_000 === 41],
  ["cancelled", { status: ["cancelled", "skipped"] }, (n) => n % 5_000 === 42],
  ["task", { task: "rare" }, (n) => n === 45],
  ["queue", { queue: "rare" }, (n) => n === 45],
  ["trigger", { trigger: "run_now" }, (n) => n % 6_000 === 43],
  ["two values in one index", { owner: "o57", status: ["succeeded"], task: "echo" }, (n) => n % 4_000 === 57],
  ["two values that no run has together", { owner: "o57", task: "rare" }, () => false],
  [
    "time",
    { createdFrom: now - 30_500, createdBefore: now - 20_500 },
    (n) => n >= searchCount - 30 && n < searchCount - 20,
  ],
  ["an old time", { createdBefore: now - (searchCount - 50) * 1_000 + 500 }, (n) => n <= 50],
];

describe("a search of finished runs", () => {
  it.each(filters)("a search by %s gives each match once, newest first", async (_, filter, is) => {
    expect((await all(filter)).found).toEqual(expected(is));
    expect((await all(filter, { pageSize: 2 })).found).toEqual(expected(is));
  });

  it.each(filters)("a search by %s gives the same matches, oldest first", async (_, filter, is) => {
    expect((await all(filter, { pageSize: 3, oldestFirst: true })).found).toEqual(expected(is).toReversed());
  });

  it("a search by a one-off job gives its own run and its later ones, in either order", async () => {
    const ofJob = expected((n) => n === 50 || n % 7_000 === 49);
    const jobId = ids[50] ?? "";
    expect((await all({ jobId }, { pageSize: 2 })).found).toEqual(ofJob);
    expect((await all({ jobId }, { pageSize: 2, oldestFirst: true })).found).toEqual(ofJob.toReversed());
  });

  it("a page scans a bounded number of rows: it may be empty before the last", async () => {
    const noMatch = { workerId: ids[60] ?? "", trigger: "schedule" as const };
    const { rows, next } = await lister.list(1, noMatch, { pageSize: 50 });
    expect([rows, next]).toEqual([[], expect.any(String)]);
    expect((await all(noMatch)).pages).toBe(3);
  });

  it("a search that an index serves is one page, however old its matches are", async () => {
    const served = ["owner", "a label", "a value of the payload", "failed", "cancelled", "task", "queue", "trigger"];
    for (const [, filter] of filters.filter(([name]) => served.includes(name)))
      expect((await all(filter)).pages).toBe(1);
  });

  it("a search of a small namespace beside a large one is one page, also without a filter", async () => {
    const [small] = (
      await h.db.query<{ id: number }>({ text: "select id from carillon.namespace where name = 'small'" })
    ).rows;
    const newestFirst = Array.from({ length: foreignCount }, (_, n) => foreignCount - 1 - n);
    expect(await all({}, { namespaceId: small?.id ?? 0 })).toEqual({ found: newestFirst, pages: 1 });
    expect(await all({ owner: "o17" }, { namespaceId: small?.id ?? 0 })).toEqual({ found: [17], pages: 1 });
  });

  it("a total is an estimate within a tenth, or a count that is exact up to a bound", async () => {
    const total = searchCount - foreignCount;
    const estimated = await lister.total(1, {}, "estimate");
    expect(estimated.accuracy).toBe("estimate");
    expect(Math.abs(estimated.count - total)).toBeLessThan(total / 10);
    expect(await lister.total(1, {}, "exact")).toEqual({ count: total, accuracy: "exact" });
    expect(await lister.total(1, { owner: "o57" }, "exact")).toEqual({ count: 6, accuracy: "exact" });
  });
});

describe("a search of a small namespace beside many live runs", () => {
  const liveCount = 20_500;
  let alone: { readonly namespaceId: number; readonly ids: readonly string[] };

  beforeAll(async () => {
    const { rows } = await h.db.query<{ id: number }>({
      text: "insert into carillon.namespace (name) values ('crowd'), ('alone') returning id",
    });
    const [crowd, namespaceId] = rows.map((row) => row.id);
    const made = Array.from({ length: liveCount }, (_, n) => uuidV7Of(now + n, 0, 0, n));
    const own = [made[0] ?? "", made[30] ?? "", made[20_400] ?? ""];
    await h.db.query(
      {
        text: `insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                 trigger, task, queue)
               select i.id, i.id, case when i.id = any ($3::uuid[]) then $4::int else $2::int end, 0, 1, 'queued', 4, 0, now(), now(), now(),
                      'once', 'echo', 'default'
               from unnest($1::uuid[]) as i (id)`,
      },
      [made, crowd, own, namespaceId],
    );
    alone = { namespaceId: namespaceId ?? 0, ids: own };
  });

  it.each([
    ["newest first", false],
    ["oldest first", true],
  ])(
    "a search %s of a small namespace gives each run once, over pages that scan a bounded number of rows",
    async (_, oldestFirst) => {
      const found: string[][] = [];
      for (let after: string | null = null; ;) {
        const page = await lister.list(alone.namespaceId, {}, { pageSize: 50, after, oldestFirst });
        found.push(page.rows.map((run) => run.id));
        if (page.next === null) break;
        after = page.next;
      }
      expect(found.length).toBeGreaterThan(1);
      expect(found.flat()).toEqual(oldestFirst ? alone.ids : alone.ids.toReversed());
    },
  );
});
