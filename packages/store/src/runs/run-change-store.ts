import type { Instant } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { JobHistory, JobStats } from "../history/job-history.js";
import type { Statements } from "../sql/statements.js";

export interface CancelledRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  /** False: it is running, and its worker is asked to stop. */
  readonly isEnded: boolean;
  /** Other runs of this job may wait for its end. */
  readonly freedJobId: string | null;
}

export interface MovedRun {
  readonly id: string;
  readonly state: "queued" | "blocked" | "scheduled" | "retrying";
  readonly lane: number;
  readonly rank: number;
  readonly namespaceId: number;
  readonly shard: number;
  readonly runAt: Instant;
}

export interface EndingOfRuns {
  readonly reason: string;
  /** Running ones are asked to stop. */
  readonly isOfRunning: boolean;
}

export interface RunChangeStore {
  cancel(namespaceId: number, ids: readonly string[], how: EndingOfRuns): Promise<CancelledRun[]>;
  /** null: it waits neither for its time nor for a worker. */
  reschedule(namespaceId: number, id: string, runAt: Instant, rank: number): Promise<MovedRun | null>;
  /** Moves a far-future run into the hot table, so that it can be changed there. */
  promote(namespaceId: number, id: string): Promise<void>;
  jobStats(namespaceId: number, jobId: string, limit: number): Promise<JobStats>;
}

export function runChangeStore(db: Queryable, statements: Statements, history: JobHistory): RunChangeStore {
  const cancel = statements.get("run_change.cancel");
  const reschedule = statements.get("run_change.reschedule");
  const promote = statements.get("run_change.promote");
  return {
    async cancel(namespaceId, ids, { reason, isOfRunning }) {
      type Row = {
        id: string;
        job_id: string | null;
        task: string;
        queue: string;
        is_ended: boolean;
        freed_job_id: string | null;
      };
      const { rows } = await db.query<Row>(cancel, cancel.values({ namespaceId, ids, reason, isOfRunning }));
      return rows.map(({ id, job_id: jobId, task, queue, is_ended: isEnded, freed_job_id: freedJobId }) => {
        return { id, jobId, task, queue, isEnded, freedJobId };
      });
    },
    async reschedule(namespaceId, id, runAt, rank) {
      type Row = Omit<MovedRun, "runAt"> & { run_at: Instant };
      const values = reschedule.values({ namespaceId, id, runAt: timestampParam(runAt), rank });
      const { rows } = await db.query<Row>(reschedule, values);
      const [row] = rows;
      if (row === undefined) return null;
      const { run_at: at, ...moved } = row;
      return { ...moved, runAt: at };
    },
    async promote(namespaceId, id) {
      await db.query(promote, promote.values({ namespaceId, id }));
    },
    jobStats: (namespaceId, jobId, limit) => history.stats(namespaceId, jobId, limit),
  };
}
