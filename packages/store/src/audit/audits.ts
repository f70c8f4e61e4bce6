import type { Queryable, SqlText } from "../db/queryable.js";
import { type Statement, makeStatements, readStatementSources } from "../sql/statements.js";

/** The audit of one invariant of docs/invariants.md: each row of its query breaks the rule. */
export interface Audit {
  readonly invariant: number;
  readonly rule: string;
  readonly statement: Statement;
}

export interface Violation {
  readonly invariant: number;
  readonly rule: string;
  /** How many rows break it, and one of them. */
  readonly count: number;
  readonly example: Readonly<Record<string, unknown>>;
}

const auditName = /^audit\.inv_(\d+)$/;

/** Every audit, in the order of the invariants. */
export function audits(schema: string): Audit[] {
  const sources = readStatementSources();
  const statements = makeStatements(sources, schema);
  return sources.flatMap(({ name, header }) => {
    const number = auditName.exec(name)?.[1];
    const rule = header.get("purpose") ?? "";
    return number === undefined ? [] : [{ invariant: Number(number), rule, statement: statements.get(name) }];
  });
}

/** Checks one invariant; null: no row breaks it. */
export async function runAudit(db: Queryable, { invariant, rule, statement }: Audit): Promise<Violation | null> {
  const { rows } = await db.query<{ count: number; example: Violation["example"] }>(summaryOf(statement));
  const [found] = rows;
  return found === undefined || found.count === 0 ? null : { invariant, rule, ...found };
}

/** The database returns only the number of rows and one of them. */
function summaryOf({ text }: Statement): SqlText {
  return {
    text: `with found as materialized (${text})
select (select count(*) from found)::int as count, (select to_jsonb(one) from found as one limit 1) as example`,
  };
}
