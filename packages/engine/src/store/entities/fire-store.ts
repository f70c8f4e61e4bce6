import type { Fired, FireRow, FireStore } from "../../scheduler/fire-store.js";
import { type DueOccurrence, type OccurrenceOutcome, settleOccurrences } from "../../settlement/settle-occurrences.js";
import type { Settler } from "../../settlement/settler.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { dueStore } from "./due.js";
import type { RunStore } from "./runs.js";
import { windowsInForce } from "./windows.js";

export interface SettleParts {
  readonly settler: Settler;
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

export interface FireStoreParts extends SettleParts {
  readonly runs: Pick<RunStore, "loadDue" | "promote">;
}

/** The scheduler's port over PostgreSQL. */
export function fireStore(db: Queryable, statements: Statements, parts: FireStoreParts): FireStore {
  const { runs } = parts;
  return {
    ...dueStore(db, statements),
    settle: settleRows(parts),
    windows: windowsInForce(db, statements),
    loadRuns: (...args) => runs.loadDue(...args),
    promote: (...args) => runs.promote(...args),
  };
}

/** The fires whose runs may wait for others, as one settlement: the same over every store. */
export function settleRows({ settler, transaction }: SettleParts): FireStore["settle"] {
  return async ({ fence, windows }, rows) => {
    const work = { fence, windows, rows: rows.map(toOccurrence) };
    const { outcomes, settled } = await transaction((tx) => settleOccurrences(settler, tx, work));
    const { stopped, ended } = settled;
    return { fired: outcomes.map(toFired), stopped: stopped.map((run) => run.id), ended };
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
