import type { Instant, RunError, RunPolicy } from "@carillon/core";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { AttemptRecord } from "../../model/run-view.js";
import { columns } from "./parameters.js";
import { type EndedRow, type EndedRuns, toEnded } from "./ended-runs.js";
import type { GivenBackRun, Queued } from "./runs.js";

export interface ClaimedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  /** Tries already spent. */
  readonly spent: number;
  readonly losses: number;
  readonly fence: number;
  readonly rank: number;
  readonly priority: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  /** It was to stop before this claim: it ends without being handed out. */
  readonly isStopped: boolean;
}

export interface ClaimRequest {
  readonly session: string;
  readonly lanes: readonly number[];
  readonly namespaceIds: readonly number[];
  readonly lowestRank: number;
  readonly limit: number;
}

export interface FinishedRun {
  readonly id: string;
  readonly fence: number;
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly output: unknown;
  readonly error: RunError | null;
  readonly startedAt: Instant;
  /** Attempts that it took; 1 as a rule. */
  readonly spent?: 0 | 1;
}

export interface WaitingRun {
  readonly id: string;
  readonly shard: number;
  readonly runAt: Instant;
  /** It was to stop: nobody is to try it again. */
  readonly isStopped: boolean;
}

/** A run that its worker is asked to stop; `fence` names the claim. */
export interface StopRow {
  readonly id: string;
  readonly fence: number;
  readonly reason: string;
}

export interface RetriedRun {
  readonly id: string;
  readonly fence: number;
  readonly delayMs: number;
  readonly rank: number;
  readonly record: AttemptRecord;
}

/** Every write of a claim matches (id, fence, session); what is not answered was lost to a newer claim. */
export interface ClaimStore {
  claim(request: ClaimRequest): Promise<ClaimedRun[]>;
  /** What a session holds, whether its worker was told or not. */
  held(session: string): Promise<ClaimedRun[]>;
  finish(session: string, runs: readonly FinishedRun[]): Promise<EndedRuns>;
  retry(session: string, runs: readonly RetriedRun[]): Promise<WaitingRun[]>;
  giveBack(session: string, runs: readonly { id: string; fence: number }[]): Promise<GivenBackRun[]>;
  /** Which of these runs are to stop. */
  stops(ids: readonly string[]): Promise<StopRow[]>;
}

interface ClaimedRow {
  id: string;
  job_id: string | null;
  namespace_id: number;
  task: string;
  queue: string;
  payload: unknown;
  policy: RunPolicy | null;
  attempt: number;
  losses: number;
  fence: number;
  rank: number;
  priority: number;
  run_at: Instant;
  nominal_at: Instant;
  trigger: string;
  cancel_reason: string | null;
}

export function claimStore(db: Queryable, statements: Statements): ClaimStore {
  const claim = statements.get("run.claim");
  const held = statements.get("run.held");
  const finish = statements.get("run.finish");
  const retry = statements.get("run.retry");
  const giveBack = statements.get("run.give_back");
  const stops = statements.get("run.stops");
  return {
    async claim(request) {
      const { session, lanes, namespaceIds, lowestRank, limit } = request;
      const { rows } = await db.query<ClaimedRow>(claim, [session, lanes, namespaceIds, lowestRank, limit]);
      return rows.map(toClaimedRun).sort((a, b) => a.rank - b.rank);
    },
    async held(session) {
      const { rows } = await db.query<ClaimedRow>(held, [session]);
      return rows.map(toClaimedRun).sort((a, b) => a.rank - b.rank);
    },
    async finish(session, runs) {
      return toEnded((await db.query<EndedRow>(finish, [session, ...finishParameters(runs)])).rows);
    },
    async retry(session, runs) {
      type Row = { id: string; shard: number; run_at: Instant; stopped: boolean };
      const { rows } = await db.query<Row>(retry, [session, ...retryParameters(runs)]);
      return rows.map((row) => ({ id: row.id, shard: row.shard, runAt: row.run_at, isStopped: row.stopped }));
    },
    async giveBack(session, runs) {
      const values = columns(inLockOrder(runs), [(run) => run.id, (run) => run.fence]);
      const { rows } = await db.query<Queued & { stopped: boolean }>(giveBack, [session, ...values]);
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async stops(ids) {
      return ids.length === 0 ? [] : (await db.query<StopRow>(stops, [ids])).rows;
    },
  };
}

/** Whoever locks several runs does it in the order of their ids: a cancellation and the end of its runs wait for one another, never both ways. */
function inLockOrder<Run extends { readonly id: string }>(runs: readonly Run[]): Run[] {
  return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function finishParameters(runs: readonly FinishedRun[]): unknown[] {
  return columns(inLockOrder(runs), [
    (run) => run.id,
    (run) => run.fence,
    (run) => run.status,
    (run) => run.reason,
    (run) => jsonParam(run.output),
    (run) => (run.error === null ? null : jsonParam(run.error)),
    (run) => timestampParam(run.startedAt),
    (run) => run.spent ?? 1,
  ]);
}

function retryParameters(runs: readonly RetriedRun[]): unknown[] {
  return columns(inLockOrder(runs), [
    (run) => run.id,
    (run) => run.fence,
    (run) => run.delayMs,
    (run) => run.rank,
    (run) => jsonParam(run.record),
  ]);
}

function toClaimedRun(row: ClaimedRow): ClaimedRun {
  return {
    id: row.id,
    jobId: row.job_id,
    namespaceId: row.namespace_id,
    task: row.task,
    queue: row.queue,
    payload: row.payload,
    policy: row.policy ?? {},
    spent: row.attempt,
    losses: row.losses,
    fence: row.fence,
    rank: row.rank,
    priority: row.priority,
    runAt: row.run_at,
    nominal: row.nominal_at,
    trigger: row.trigger,
    isStopped: row.cancel_reason !== null,
  };
}
