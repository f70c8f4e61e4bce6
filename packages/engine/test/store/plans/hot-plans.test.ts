import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadStatements } from "../../../src/index.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Parent Relationship"?: string;
  readonly "Join Type"?: string;
  readonly "Join Filter"?: string;
  readonly "CTE Name"?: string;
  readonly "Subplan Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Statements whose cost must grow with their batch and with nothing else. */
const hot = [
  "due.load",
  "due.fire",
  "due.pass",
  "due.hold",
  "run.insert",
  "run.insert_alike",
  "run.insert_handed",
  "run.insert_now",
  "run.load_due",
  "run.promote",
  "run.exchange",
  "run.finish",
  "run.expire",
  "job.insert",
  "later.look",
  "later.move",
  "run.find",
  "run.handed",
  "run.handed_of_lanes",
  "dedupe.insert",
  "dedupe.sweep",
  "settlement.lock_due",
  "settlement.lock_expired",
  "settlement.read",
  "settlement.live",
  "settlement.hold_live",
  "settlement.hold_untracked",
  "settlement.insert_runs",
  "settlement.end_runs",
  "settlement.stop_runs",
  "settlement.untrack_runs",
  "settlement.move",
  "settlement.admit_runs",
  "settlement.admissible",
  "change.touch",
  "limit.intake",
  "limit.block",
  "limit.of_runs",
  "limit.define",
  "limit.lock",
  "limit.release",
  "limit.holders",
  "limit.first",
  "limit.heads",
  "limit.admit",
];

/** Lists that grow without end. */
const paged = ["change.occurrences"];

let harness: StoreHarness;

beforeAll(async () => {
  harness = await storeHarness();
});

afterAll(() => harness.close());

/** The plan that is used for every call: made without knowing the parameters, and here while all tables are empty. */
async function planOf(name: string): Promise<PlanNode> {
  const { text } = loadStatements("carillon").get(name);
  const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const nulls = Array.from({ length: parameters }, () => "null").join(", ");
  return harness.db.transaction(async (tx) => {
    await tx.query({ text: "set local plan_cache_mode = force_generic_plan" });
    await tx.query({ text: `prepare plan_under_test as ${text}` });
    const explain = `explain (format json) execute plan_under_test${parameters > 0 ? `(${nulls})` : ""}`;
    const { rows } = await tx.query<{ "QUERY PLAN": { Plan: PlanNode }[] }>({ text: explain });
    await tx.query({ text: "deallocate plan_under_test" });
    const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
    if (plan === undefined) throw new Error("no plan came");
    return plan.Plan;
  });
}

function all(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(all)];
}

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
    const scanned = all(await planOf(name)).filter((node) => node["Node Type"] === "Seq Scan");
    expect(scanned.map((node) => node["Relation Name"])).toEqual([]);
  });

  it.each(hot)("%s compares no row of its batch with every other", async (name) => {
    const plan = await planOf(name);
    const singles = singlesOf(plan);
    const compared = all(plan).filter((node) => comparesAllWithAll(node, singles));
    expect(compared.map((node) => `${node["Join Type"]} join on ${node["Join Filter"]}`)).toEqual([]);
  });

  it.each(paged)("%s reads a range of an index in its order: no page costs more than the one before", async (name) => {
    const kinds = all(await planOf(name)).map((node) => node["Node Type"]);
    expect(kinds).toContain("Index Scan");
    expect(kinds.filter((kind) => kind.includes("Sort"))).toEqual([]);
  });

  it("run.handed_of_lanes reads live runs by the index of claims", async () => {
    const reads = all(await planOf("run.handed_of_lanes")).filter((node) => node["Relation Name"] === "run");
    expect(reads.map((node) => node["Index Name"])).toEqual(["run_claim"]);
  });

  it("run.handed_of_lanes reads the live runs of its lanes, and no others", async () => {
    const reads = all(await planOf("run.handed_of_lanes")).filter((node) => node["Relation Name"] === "run");
    expect(reads[0]?.["Index Cond"]).toMatch(/lane = .*namespace_id = /);
  });
});
