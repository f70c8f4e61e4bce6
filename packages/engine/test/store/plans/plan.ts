import { loadStatements } from "../../../src/index.js";
import type { StoreHarness } from "../../harness/store-harness.js";

export interface PlanNode {
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

/** The plan that is used for every call: made without knowing the parameters, over the tables as they are now. */
export async function planOf(harness: StoreHarness, name: string): Promise<PlanNode> {
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
    if (plan === undefined) throw new Error("The server returned no plan.");
    return plan.Plan;
  });
}

/** A node and all below it. */
export function all(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(all)];
}
