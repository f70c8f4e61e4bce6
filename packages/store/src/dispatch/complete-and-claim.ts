import type { Instant, RunError, RunPolicy } from "@carillon/core";
import { bigintArray, float8Array, intArray, namedColumns, storableJson, uuidArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The part of one lane of one namespace that a claim reads. */
export interface LaneRead {
  readonly lane: number;
  readonly namespaceId: number;
  readonly fromRank: number;
  readonly limit: number;
  readonly isSolo: boolean;
}

/** The slots for which runs are claimed. `slots` are indexes into `sessions`, in the order of filling; free slots are first. */
export interface Demand {
  /** The claiming gateway: a session that another gateway serves gets nothing. */
  readonly gatewayId: string;
  readonly sessions: readonly string[];
  readonly slots: readonly number[];
  /** How many of the slots are free; for the others a run waits at its worker. */
  readonly freeSlots: number;
  readonly reads: readonly LaneRead[];
  /** The revision of the limits that the reads respect; absent: no limits were read. */
  readonly limitsRevision?: number;
  /** The maximum of runs of each namespace, if the reads are of several. */
  readonly quotas?: ReadonlyMap<number, number> | null;
}

export interface CompleteAndClaim {
  /** Runs that succeeded. */
  readonly succeeded: readonly FinishedRun[];
  readonly demand: Demand | null;
}

export interface CompletedAndClaimed {
  /** In rank order. */
  readonly claimed: readonly ClaimedRun[];
  /** The ids that were accepted; null: all of them. */
  readonly accepted: ReadonlySet<string> | null;
  /** When these runs finished. */
  readonly finishedAt: Instant;
  /** Jobs of which another run may start now. */
  readonly freedJobs: readonly string[];
}

/** Only the last row has the outcome of the runs that succeeded, behind the columns of a run. */
type AnswerRow = readonly [
  ...run: UsualRow,
  ended: number | null,
  endedIds: readonly string[] | null,
  freedJobIds: readonly string[] | null,
  finishedAt: Instant | null,
];

const noDemand: Omit<Demand, "gatewayId"> & { gatewayId: null } = {
  gatewayId: null,
  sessions: [],
  slots: [],
  freeSlots: 0,
  reads: [],
};

export function completeAndClaimOver(
  db: Queryable,
  statements: Statements,
): (request: CompleteAndClaim) => Promise<CompletedAndClaimed> {
  const plain = { ...statements.get("run.complete_and_claim"), rowMode: "array" } as const;
  const shared = { ...statements.get("run.complete_and_claim_shared"), rowMode: "array" } as const;
  return async ({ succeeded, demand }) => {
    const values = { ...succeededValues(succeeded), ...demandValues(demand ?? noDemand) };
    const ofNamespaces = demand?.quotas ?? null;
    const quotas = ofNamespaces === null ? null : demand?.reads.map((read) => ofNamespaces.get(read.namespaceId) ?? 0);
    const { rows } = await (quotas === null
      ? db.query<AnswerRow>(plain, plain.values(values))
      : db.query<AnswerRow>(shared, shared.values({ ...values, quotas })));
    const claimed: ClaimedRun[] = [];
    let last: AnswerRow | null = null;
    for (const row of rows) {
      if (row[18] === null) claimed.push(usualRun(row, demand?.sessions ?? []));
      else last = row;
    }
    if (last === null) throw new Error("run.complete_and_claim answered without its last row");
    const { 18: ended, 19: endedIds, 20: freedJobIds, 21: finishedAt } = last;
    if (finishedAt === null) throw new Error("run.complete_and_claim answered without a time");
    claimed.sort((a, b) => a.rank - b.rank);
    const accepted = endedIds === null && ended === succeeded.length ? null : new Set(endedIds);
    return { claimed, accepted, finishedAt, freedJobs: freedJobIds ?? [] };
  };
}

function succeededValues(runs: readonly FinishedRun[]) {
  const ordered = inLockOrder(runs);
  return {
    ids: uuidArray(ordered.map((run) => run.id)),
    fences: bigintArray(ordered.map((run) => run.fence)),
    sessionIds: uuidArray(ordered.map((run) => run.session)),
    ...namedColumns(ordered, { outputs: (run) => storableJson(run.output) }),
    startedMs: float8Array(ordered.map((run) => run.startedAt)),
  };
}

function demandValues({ gatewayId, sessions, slots, freeSlots, reads, limitsRevision = 0 }: Demand | typeof noDemand) {
  return {
    waitingSessionIds: uuidArray(sessions),
    slots: intArray(slots.map((place) => place + 1)),
    freeSlots,
    ...namedColumns(reads, {
      lanes: (read) => read.lane,
      namespaceIds: (read) => read.namespaceId,
      fromRanks: (read) => read.fromRank,
      maxRuns: (read) => read.limit,
      solo: (read) => read.isSolo,
    }),
    gatewayId,
    limitsRevision,
  };
}

/** Every statement locks runs in the order of their ids, so that a cancellation and the end of its runs never wait for each other. */
export function inLockOrder<Run extends { readonly id: string }>(runs: readonly Run[]): Run[] {
  return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

export interface ClaimedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  /** The lane has its queue and task. */
  readonly lane: number;
  readonly session: string;
  /** JSON as it is stored: the gateway passes it on without parsing it. */
  readonly payload: string;
  readonly policy: RunPolicy;
  /** Attempts already spent. */
  readonly spent: number;
  readonly losses: number;
  readonly fence: number;
  readonly rank: number;
  readonly priority: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  /** The time by which it must have ended. */
  readonly deadline: Instant | null;
  /** It was cancelled before this claim: it ends without being assigned. */
  readonly isStopped: boolean;
  /** Its start is recorded; false if the statement does not read that. */
  readonly isStarted: boolean;
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
  /** Attempts that it spent; usually 1. */
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
  /** Only read for runs that a session held before the statement. */
  readonly started_at?: Instant | null;
}

/** A claimed run, column by column: null where a column has its usual value. */
export type UsualRow = readonly [
  id: string,
  jobId: string | null,
  isWithoutJob: true | null,
  namespaceId: number,
  lane: number,
  /** The index of its session among those of the demand, from 1. */
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

function usualRun(row: readonly [...UsualRow, ...unknown[]], sessions: readonly string[]): ClaimedRun {
  // By index, because destructuring the array as a list costs several times as much.
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
    isStarted: false,
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
    isStarted: (row.started_at ?? null) !== null,
  };
}

const noPolicy: RunPolicy = Object.freeze({});
