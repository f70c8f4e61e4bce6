import type { FireStore } from "../schedules/fire-store.js";
import {
  type DueOccurrence,
  type OccurrenceOutcome,
  settleOccurrences,
} from "../jobs/transaction/settle-occurrences.js";
import type { Settler } from "../jobs/transaction/settler.js";
import type { Fired, FireRow, Queryable, Store } from "@carillon/store";

export interface SettleParts {
  readonly settler: Settler;
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

/** The scheduler's port over PostgreSQL. */
export function fireStore(store: Store, settler: Settler): FireStore {
  const { runs } = store;
  return {
    ...store.due,
    settle: settleRows({ settler, transaction: store.settle }),
    windows: store.windowsInForce,
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
