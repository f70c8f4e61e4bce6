import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type LimitAdmissions, limitAdmissions } from "./limit-admissions.js";
import { type LimitCounts, limitCounts } from "./limit-counts.js";
import { type LimitIntake, limitIntake } from "./limit-intake.js";
import { type LimitReads, limitReads } from "./limit-reads.js";

/** All that is kept of limits; each part is asked for by one user. */
export type LimitStore = LimitIntake & LimitAdmissions & LimitCounts & LimitReads;

export function limitStore(db: Queryable, statements: Statements): LimitStore {
  return {
    ...limitIntake(statements),
    ...limitAdmissions(db, statements),
    ...limitCounts(db, statements),
    ...limitReads(db, statements),
  };
}
