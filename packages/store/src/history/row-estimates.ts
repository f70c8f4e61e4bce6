import type { Queryable, SqlText } from "../db/queryable.js";

interface PlanLine {
  readonly "QUERY PLAN": readonly { readonly Plan: { readonly "Plan Rows": number } }[];
}

/** How many rows the planner expects of a statement with these values. Nothing is read but its statistics. */
export async function estimateRows(db: Queryable, { text }: SqlText, values: readonly unknown[]): Promise<number> {
  const { rows } = await db.query<PlanLine>({ text: `explain (format json) ${text}` }, values);
  return rows[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
}

/** How many rows of a statement there are. */
export async function countRows(db: Queryable, { text }: SqlText, values: readonly unknown[]): Promise<number> {
  const counted = { text: `select count(*)::int as count from (${text}) as counted` };
  return (await db.query<{ count: number }>(counted, values)).rows[0]?.count ?? 0;
}
