import type { Instant, RunError, RunPolicy } from "@carillon/core";

export interface ClaimedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  /** Its lane says queue and task. */
  readonly lane: number;
  readonly session: string;
  /** JSON as it is stored: who hands it on need not read it. */
  readonly payload: string;
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
  /** When it is to have ended. */
  readonly deadline: Instant | null;
  /** It was to stop before this claim: it ends without being handed out. */
  readonly isStopped: boolean;
  /** Its start is on record, as far as was asked for. */
  readonly isBegun: boolean;
}

/** Names the claim of a run: every later write must match it. */
export interface ClaimName {
  readonly session: string;
  readonly id: string;
  readonly fence: number;
}

export interface FinishedRun extends ClaimName {
  readonly status: "succeeded" | "failed" | "cancelled";
  readonly reason: string | null;
  /** JSON. */
  readonly output: string;
  readonly error: RunError | null;
  readonly startedAt: Instant;
  /** Attempts that it took; 1 as a rule. */
  readonly spent?: 0 | 1;
}

export interface ClaimedRow {
  readonly id: string;
  readonly job_id: string | null;
  readonly namespace_id: number;
  readonly lane: number;
  readonly session_id: string;
  readonly payload: string | null;
  readonly policy: RunPolicy | null;
  readonly attempt: number;
  readonly losses: number;
  readonly fence: number;
  readonly rank: number;
  readonly priority: number;
  readonly run_at: Instant;
  readonly nominal_at: Instant;
  readonly trigger: string;
  readonly cancel_reason: string | null;
  readonly deadline_at: Instant | null;
  /** Of runs that a worker had for some time. */
  readonly started_at?: Instant | null;
}

/** As an exchange answers it: null where a run is as most are. */
export interface UsualRow {
  readonly id: string;
  readonly job_id: string | null;
  readonly is_without_job: true | null;
  readonly namespace_id: number;
  readonly lane: number;
  /** From 1, among the sessions that wait. */
  readonly seat: number;
  readonly payload: string | null;
  readonly policy: RunPolicy | null;
  readonly attempt: number | null;
  readonly losses: number | null;
  readonly fence: number | null;
  readonly rank: number;
  readonly priority: number | null;
  readonly run_at: Instant;
  readonly nominal_at: Instant | null;
  readonly trigger: string | null;
  readonly cancel_reason: string | null;
  readonly deadline_at: Instant | null;
}

export function usualRun(row: UsualRow, sessions: readonly string[]): ClaimedRun {
  const session = sessions[row.seat - 1];
  if (session === undefined) throw new Error(`a run was claimed for the session ${row.seat} of ${sessions.length}`);
  return {
    id: row.id,
    jobId: row.is_without_job === true ? null : (row.job_id ?? row.id),
    namespaceId: row.namespace_id,
    lane: row.lane,
    session,
    payload: row.payload ?? "null",
    policy: row.policy ?? noPolicy,
    spent: row.attempt ?? 0,
    losses: row.losses ?? 0,
    fence: row.fence ?? 1,
    rank: row.rank,
    priority: row.priority ?? 4,
    runAt: row.run_at,
    nominal: row.nominal_at ?? row.run_at,
    trigger: row.trigger ?? "once",
    deadline: row.deadline_at,
    isStopped: row.cancel_reason !== null,
    isBegun: false,
  };
}

export function toClaimedRun(row: ClaimedRow): ClaimedRun {
  return {
    id: row.id,
    jobId: row.job_id,
    namespaceId: row.namespace_id,
    lane: row.lane,
    session: row.session_id,
    payload: row.payload ?? "null",
    policy: row.policy ?? noPolicy,
    spent: row.attempt,
    losses: row.losses,
    fence: row.fence,
    rank: row.rank,
    priority: row.priority,
    runAt: row.run_at,
    nominal: row.nominal_at,
    trigger: row.trigger,
    deadline: row.deadline_at,
    isStopped: row.cancel_reason !== null,
    isBegun: (row.started_at ?? null) !== null,
  };
}

const noPolicy: RunPolicy = Object.freeze({});
