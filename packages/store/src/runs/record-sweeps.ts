import type { Instant } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

/** Removes what runs that have ended left behind. */
export interface RecordSweeps {
  /** Looks at so many after this run; answers where to go on, null at the end. */
  states(after: string, limit: number): Promise<string | null>;
  steps(after: string, limit: number): Promise<string | null>;
  callbacks(after: string, limit: number): Promise<string | null>;
  /** What was done about runs, and kinds of errors, that nobody has seen since; answers how many went. */
  failures(before: Instant, limit: number): Promise<number>;
  /** Answers how many went. */
  onces(limit: number): Promise<number>;
}

export function recordSweeps(db: Queryable, statements: Statements): RecordSweeps {
  const states = statements.get("record.sweep_states");
  const steps = statements.get("record.sweep_steps");
  const callbacks = statements.get("callback.sweep");
  const onces = statements.get("record.sweep_onces");
  const redrives = statements.get("failure.sweep_redrives");
  const groups = statements.get("failure.sweep_groups");
  const sweep = async (statement: typeof states, after: string, limit: number): Promise<string | null> => {
    const [row] = (await db.query<{ last: string | null; seen: number }>(statement, [after, limit])).rows;
    return row === undefined || row.seen < limit ? null : row.last;
  };
  return {
    states: (after, limit) => sweep(states, after, limit),
    steps: (after, limit) => sweep(steps, after, limit),
    callbacks: (after, limit) => sweep(callbacks, after, limit),
    async failures(before, limit) {
      const values = [timestampParam(before), limit];
      return (await db.query(redrives, values)).rowCount + (await db.query(groups, values)).rowCount;
    },
    async onces(limit) {
      return (await db.query(onces, [limit])).rowCount;
    },
  };
}
