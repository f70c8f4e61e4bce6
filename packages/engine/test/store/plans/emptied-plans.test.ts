import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";
import { hot } from "./hot-statements.js";
import { all, type PlanNode, planOf } from "./plan.js";

/** Tables that stay small whatever is stored: how they are read does not matter. */
const small = new Set(["revision", "shard", "queue", "namespace", "node", "lane", "calendar", "backfill", "breaker"]);

/**
 * Columns with few values: a condition on nothing else lets a good part of the table come by. A key that stands behind some of them
 * in an index is found by as many descents as they have values.
 */
const coarse = new Set(["namespace_id", "shard", "class", "queue", "task", "scope", "kind", "position", "calendar_id"]);

/** What a statement is there to walk through: all that waits in some shards, and the first notices. */
const walked = new Set(["job_transaction.list_admissible run_blocked", "webhook.take_notices run_notice_pkey"]);

/** Found by namespace before PostgreSQL 17, which expects ten keys and counts the descent for each. */
const since17 = new Set(["job.list_by_keys"]);

let harness: StoreHarness;
let columnsOf: ReadonlyMap<string, readonly string[]>;
let version: number;

beforeAll(async () => {
  harness = await storeHarness();
  const tables = await harness.db.query<{ name: string }>({
    text: "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'carillon'",
  });
  for (const { name } of tables.rows) await harness.db.query({ text: `vacuum analyze ${name}` });
  const indexes = await harness.db.query<{ name: string; columns: string[] }>({
    text: `select c.relname as name, array(
             select trim('"' from split_part(pg_get_indexdef(c.oid, k, true), '(', 1)) from generate_series(1, i.indnkeyatts) as k
           ) as columns
           from pg_index i join pg_class c on c.oid = i.indexrelid
           where c.relnamespace = 'carillon'::regnamespace`,
  });
  columnsOf = new Map(indexes.rows.map(({ name, columns }) => [name, columns]));
  const { rows } = await harness.db.query<{ version: number }>({
    text: "select current_setting('server_version_num')::int as version",
  });
  version = rows[0]?.version ?? 0;
});

afterAll(() => harness.close());

/** Whether rows are looked up by something that tells them apart, and by which the index begins. */
function isLookup(node: PlanNode): boolean {
  const condition = node["Index Cond"] ?? "";
  const isIn = (column: string): boolean => new RegExp(`\\((?:ROW\\([a-z_, ]*)?${column}\\b`).test(condition);
  const first = (columnsOf.get(node["Index Name"] ?? "") ?? []).find((column) => !coarse.has(column));
  return first !== undefined && isIn(first);
}

function readsTooMuch(node: PlanNode): boolean {
  const isGrowing = node["Relation Name"] !== undefined && !small.has(node["Relation Name"]);
  return isGrowing && node["Node Type"].startsWith("Index") && !isLookup(node);
}

const indexOf = (node: PlanNode): string => `${node["Index Name"]} by ${node["Index Cond"] ?? "nothing"}`;

// What was drained and vacuumed has no pages and no rows: a plan that is made then serves until the table is analysed again.
describe("the plan of a hot statement, made after a vacuum of the empty tables,", () => {
  it.each(hot)("%s scans no table from end to end", async (name) => {
    const scanned = all(await planOf(harness, name)).filter((node) => node["Node Type"] === "Seq Scan");
    expect(scanned.map((node) => node["Relation Name"])).toEqual([]);
  });

  it.for(hot)("%s walks through no index of a table that grows", async (name, { skip }) => {
    skip(since17.has(name) && version < 170_000, "found by namespace before PostgreSQL 17");
    const plan = await planOf(harness, name);
    const walks = all(plan).filter((node) => readsTooMuch(node) && !walked.has(`${name} ${node["Index Name"]}`));
    expect(walks.map(indexOf)).toEqual([]);
  });
});
