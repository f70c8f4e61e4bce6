import type { RunError, RunPolicy } from "@carillon/core";
import { jsonParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type EndedRow, type EndedRuns, toEnded } from "../runs/ended-runs.js";
import { columns } from "../dispatch/parameters.js";

/** A lane whose queued runs have limits; null: of every namespace. */
export interface LimitedLane {
  readonly lane: number;
  readonly namespaceId: number | null;
}

/** A run whose limits are not written down yet. */
export interface ArrivedRun {
  readonly id: string;
  readonly namespaceId: number;
  readonly jobId: string | null;
  readonly lane: number;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
}

export interface BlockedRun {
  readonly id: string;
  readonly limits: string;
  readonly lane: number;
}

export interface RefusedRun {
  readonly id: string;
  readonly error: RunError;
}

/** What takes runs in asks of the store. */
export interface LimitIntake {
  /** Of the first lanes first. */
  intake(tx: Queryable, lanes: readonly LimitedLane[], most: { ofEach: number; ofAll: number }): Promise<ArrivedRun[]>;
  block(tx: Queryable, runs: readonly BlockedRun[]): Promise<void>;
  refuse(tx: Queryable, runs: readonly RefusedRun[]): Promise<EndedRuns>;
}

export function limitIntake(statements: Statements): LimitIntake {
  const [intake, block] = [statements.get("limit.intake"), statements.get("limit.block")];
  const refuse = statements.get("limit.refuse");
  return {
    async intake(tx, lanes, { ofEach, ofAll }) {
      type Row = Omit<ArrivedRun, "namespaceId" | "jobId" | "policy"> & {
        namespace_id: number;
        job_id: string | null;
        policy: RunPolicy | null;
      };
      const values = [...columns(lanes, [(one) => one.lane, (one) => one.namespaceId]), ofEach, ofAll];
      return (await tx.query<Row>(intake, values)).rows.map((row) => {
        const { id, lane, task, queue, payload, namespace_id: namespaceId, job_id: jobId, policy } = row;
        return { id, namespaceId, jobId, lane, task, queue, payload, policy: policy ?? {} };
      });
    },
    async block(tx, runs) {
      if (runs.length === 0) return;
      const values = columns(runs, [(run) => run.id, (run) => run.limits, (run) => run.lane]);
      const { rowCount } = await tx.query(block, values);
      if (rowCount !== runs.length)
        throw new Error(`limit.block changed ${rowCount} of ${runs.length} rows that this transaction holds`);
    },
    async refuse(tx, runs) {
      if (runs.length === 0) return new Map();
      const values = columns(runs, [
        (run) => run.id,
        (run) => jsonParam(run.error),
        (run) => run.error.fingerprint ?? null,
      ]);
      return toEnded((await tx.query<EndedRow>(refuse, values)).rows);
    },
  };
}
