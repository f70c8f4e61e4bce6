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

/** As an exchange answers it, column by column: null where a run is as most are. */
export type UsualRow = readonly [
  id: string,
  jobId: string | null,
  isWithoutJob: true | null,
  namespaceId: number,
  lane: number,
  /** From 1, among the sessions that wait. */
  seat: number,
  payload: string | null,
  policy: RunPolicy | null,
  attempt: number | null,
  losses: number | null,
  fence: number | null,
  rank: number,
  priority: number | null,
  runAt: Instant,
  nominalAt: Instant | null,
  trigger: string | null,
  cancelReason: string | null,
  deadlineAt: Instant | null,
];

export function usualRun(row: readonly [...UsualRow, ...unknown[]], sessions: readonly string[]): ClaimedRun {
  // By their places: an array that is taken apart as a list costs several times as much.
  const { 0: id, 1: jobId, 2: isWithoutJob, 3: namespaceId, 4: lane, 5: seat, 6: payload, 7: policy, 8: attempt } = row;
  const { 9: losses, 10: fence, 11: rank, 12: priority, 13: runAt, 14: nominalAt, 15: trigger } = row;
  const { 16: cancelReason, 17: deadline } = row;
  const session = sessions[seat - 1];
  if (session === undefined) throw new Error(`a run was claimed for the session ${seat} of ${sessions.length}`);
  return {
    id,
    jobId: isWithoutJob === true ? null : (jobId ?? id),
    namespaceId,
    lane,
    session,
    payload: payload ?? "null",
    policy: policy ?? noPolicy,
    spent: attempt ?? 0,
    losses: losses ?? 0,
    fence: fence ?? 1,
    rank,
    priority: priority ?? 4,
    runAt,
    nominal: nominalAt ?? runAt,
    trigger: trigger ?? "once",
    deadline,
    isStopped: cancelReason !== null,
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
