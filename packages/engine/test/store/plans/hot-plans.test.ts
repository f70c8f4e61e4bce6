import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";
import { hot } from "./hot-statements.js";
import { all, type PlanNode, planOf } from "./plan.js";

/** Each part of it has one row at most, whatever the planner thinks. */
const ofOne = new Set(["run.claim_strict"]);

/** Lists that grow without end. */
const paged = ["job_change.list_occurrences"];

let harness: StoreHarness;

beforeAll(async () => {
  harness = await storeHarness();
});

afterAll(() => harness.close());

/** What is read before by its primary key, so that it has one row at most. */
function singlesOf(plan: PlanNode): Set<string> {
  const isByKey = (node: PlanNode): boolean =>
    (node["Index Name"] ?? "").endsWith("_pkey") && /^\(id = \$\d+\)$/.test(node["Index Cond"] ?? "");
  const singles = all(plan).filter((node) => {
    const [read, ...others] = all(node).filter((part) => part["Node Type"] !== "LockRows");
    return node["Subplan Name"]?.startsWith("CTE ") && read !== undefined && others.length === 0 && isByKey(read);
  });
  return new Set(singles.map((node) => node["Subplan Name"]?.slice("CTE ".length) ?? ""));
}

/** Compares each row of one side with each row of the other. */
function comparesAllWithAll(node: PlanNode, singles: ReadonlySet<string>): boolean {
  if (node["Node Type"] !== "Nested Loop") return false;
  const inner = (node.Plans ?? []).find((plan) => plan["Parent Relationship"] === "Inner");
  if (inner?.["Node Type"] === "CTE Scan" && singles.has(inner["CTE Name"] ?? "")) return false;
  // A function that is called for each row, such as unnest of its array, is no comparison.
  if (inner?.["Node Type"] === "Function Scan" && node["Join Filter"] === undefined) return false;
  return inner !== undefined && ["CTE Scan", "Function Scan", "Materialize"].includes(inner["Node Type"]);
}

describe("the plan of a hot statement, made while the tables are empty,", () => {
  it.each(hot)("%s scans no table from end to end", async (name) => {
    const scanned = all(await planOf(harness, name)).filter((node) => node["Node Type"] === "Seq Scan");
    expect(scanned.map((node) => node["Relation Name"])).toEqual([]);
  });

  it.each(hot.filter((name) => !ofOne.has(name)))("%s compares no row of its batch with every other", async (name) => {
    const plan = await planOf(harness, name);
    const singles = singlesOf(plan);
    const compared = all(plan).filter((node) => comparesAllWithAll(node, singles));
    expect(compared.map((node) => `${node["Join Type"]} join on ${node["Join Filter"]}`)).toEqual([]);
  });

  it.each(paged)("%s reads a range of an index in its order: no page costs more than the one before", async (name) => {
    const kinds = all(await planOf(harness, name)).map((node) => node["Node Type"]);
    expect(kinds).toContain("Index Scan");
    expect(kinds.filter((kind) => kind.includes("Sort"))).toEqual([]);
  });

  it("run.find_direct reads live runs by the index of claims", async () => {
    const reads = all(await planOf(harness, "run.find_direct")).filter((node) => node["Relation Name"] === "run");
    expect(reads.map((node) => node["Index Name"])).toEqual(["run_claim"]);
  });

  it("run.find_direct reads the live runs of its lanes, and no others", async () => {
    const reads = all(await planOf(harness, "run.find_direct")).filter((node) => node["Relation Name"] === "run");
    expect(reads[0]?.["Index Cond"]).toMatch(/lane = .*namespace_id = /);
  });
});
