import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

/**
 * What nodes keep in memory. A fire compares `windows`, and so grows with calendars too: its next time depends on them. A claim compares
 * `limits`: who has limits of its own.
 */
export type RevisionName = "windows" | "calendars" | "limits";

/** Call in the transaction of the change. */
export type GrowRevisions = (tx: Queryable, names: readonly RevisionName[]) => Promise<void>;

export function growRevisions(statements: Statements): GrowRevisions {
  const grow = statements.get("revision.grow");
  return async (tx, names) => {
    const { rowCount } = await tx.query(grow, [names]);
    if (rowCount !== names.length) throw new Error(`revision.grow changed ${rowCount} of ${names.length} rows`);
  };
}
