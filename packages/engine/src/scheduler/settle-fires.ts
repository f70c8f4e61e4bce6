import type { FireStore } from "../schedules/fire-store.js";
import { type DueOccurrence, type OccurrenceOutcome, fireOccurrences } from "../jobs/transaction/fire-occurrences.js";
import type { JobUnitOfWork } from "../jobs/transaction/job-unit-of-work.js";
import type { Fired, FireRow, Store } from "@carillon/store";

/** The scheduler's port over PostgreSQL. */
export function fireStore(store: Store, unitOfWork: JobUnitOfWork): FireStore {
  const { runs } = store;
  return {
    ...store.due,
    settle: settleRows(unitOfWork),
    windows: store.windowsInForce,
    loadRuns: (...args) => runs.loadDue(...args),
    promote: (...args) => runs.promote(...args),
  };
}

/** Fires jobs whose runs may wait for others, in one job transaction. PostgreSQL and the memory tables share it. */
export function settleRows(unitOfWork: JobUnitOfWork): FireStore["settle"] {
  return async ({ fence, windows }, rows) => {
    const work = { fence, windows, rows: rows.map(toOccurrence) };
    const { outcomes, applied } = await unitOfWork.transaction((tx) => fireOccurrences(unitOfWork, tx, work));
    const { stopped, ended } = applied;
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
