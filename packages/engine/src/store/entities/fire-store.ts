import type { Fired, FireRow, FireStore } from "../../scheduler/fire-store.js";
import { type DueOccurrence, type OccurrenceOutcome, settleOccurrences } from "../../settlement/settle-occurrences.js";
import type { Settler } from "../../settlement/settler.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { dueStore } from "./due.js";
import type { RunStore } from "./runs.js";
import { windowsInForce } from "./windows.js";

export interface FireStoreParts {
  readonly runs: Pick<RunStore, "loadDue" | "promote">;
  readonly settler: Settler;
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

/** The scheduler's port over PostgreSQL. */
export function fireStore(db: Queryable, statements: Statements, parts: FireStoreParts): FireStore {
  const { runs, settler, transaction } = parts;
  return {
    ...dueStore(db, statements),
    async settle({ fence, windows }, rows) {
      const work = { fence, windows, rows: rows.map(toOccurrence) };
      const { outcomes, settled } = await transaction((tx) => settleOccurrences(settler, tx, work));
      return { fired: outcomes.map(toFired), stopped: settled.stopped.map((run) => run.id) };
    },
    windows: windowsInForce(db, statements),
    loadRuns: (...args) => runs.loadDue(...args),
    promote: (...args) => runs.promote(...args),
  };
}

function toOccurrence({ job, next, catchUpTo, notes }: FireRow): DueOccurrence {
  const { jobId, version, nominal, runsMade } = job;
  return { jobId, version, nominal, runsMade, next, catchUpTo, notes };
}

function toFired({ jobId, outcome, run, due }: OccurrenceOutcome): Fired {
  const isLast = due.nominal === null;
  return { jobId, outcome, run, isLast, runsMade: due.runsMade };
}
