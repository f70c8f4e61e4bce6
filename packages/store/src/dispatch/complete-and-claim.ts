import type { Instant, RunError, RunPolicy } from "@carillon/core";
import { bigintArray, columns, float8Array, intArray, storableJson, uuidArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** From where on, and how many runs at most, a claim looks at of one lane of one namespace. */
export interface LaneRead {
  readonly lane: number;
  readonly namespaceId: number;
  readonly low: number;
  readonly most: number;
  readonly isSolo: boolean;
}

/** Who waits for runs. `places` are indexes into `sessions`, in the order in which they are filled; free slots come first. */
export interface Demand {
  /** Who claims: a session that another gateway serves gets nothing. */
  readonly gatewayId: string;
  readonly sessions: readonly string[];
  readonly places: readonly number[];
  /** How many of the places are slots that are free at once. */
  readonly free: number;
  readonly reads: readonly LaneRead[];
  /** Of the limits of queues and namespaces that the reads go by; left out: of none. */
  readonly limitsRevision?: number;
  /** Most of each namespace, if the reads are of several. */
  readonly quotas?: ReadonlyMap<number, number> | null;
}

export interface Exchange {
  /** Runs that succeeded. */
  readonly succeeded: readonly FinishedRun[];
  readonly demand: Demand | null;
}

export interface Exchanged {
  /** In rank order. */
  readonly claimed: readonly ClaimedRun[];
  /** The ids that were accepted; null: all of them. */
  readonly accepted: ReadonlySet<string> | null;
  /** Jobs of which another run may start now. */
  readonly freedJobs: readonly string[];
}

/** What became of those that succeeded stands in the last row alone, behind the columns of a run. */
type ExchangeRow = readonly [
  ...run: UsualRow,
  ended: number | null,
  endedIds: readonly string[] | null,
  freedJobIds: readonly string[] | null,
];

const nobody: Omit<Demand, "gatewayId"> & { gatewayId: null } = {
  gatewayId: null,
  sessions: [],
  places: [],
  free: 0,
  reads: [],
};

export function exchangeOver(db: Queryable, statements: Statements): (exchange: Exchange) => Promise<Exchanged> {
  const plain = { ...statements.get("run.exchange"), rowMode: "array" } as const;
  const shared = { ...statements.get("run.exchange_shared"), rowMode: "array" } as const;
  return async ({ succeeded, demand }) => {
    const values = [...succeededParameters(succeeded), ...demandParameters(demand ?? nobody)];
    const quotas = demand?.quotas ?? null;
    const { rows } = await (quotas === null
      ? db.query<ExchangeRow>(plain, values)
      : db.query<ExchangeRow>(shared, [...values, demand?.reads.map((read) => quotas.get(read.namespaceId) ?? 0)]));
    const claimed: ClaimedRun[] = [];
    let last: ExchangeRow | null = null;
    for (const row of rows) {
      if (row[18] === null) claimed.push(usualRun(row, demand?.sessions ?? []));
      else last = row;
    }
    if (last === null) throw new Error("an exchange was not answered in full");
    const { 18: ended, 19: endedIds, 20: freedJobIds } = last;
    claimed.sort((a, b) => a.rank - b.rank);
    const accepted = endedIds === null && ended === succeeded.length ? null : new Set(endedIds);
    return { claimed, accepted, freedJobs: freedJobIds ?? [] };
  };
}

function succeededParameters(runs: readonly FinishedRun[]): unknown[] {
  const ordered = inLockOrder(runs);
  return [
    uuidArray(ordered.map((run) => run.id)),
    bigintArray(ordered.map((run) => run.fence)),
    uuidArray(ordered.map((run) => run.session)),
    ...columns(ordered, [(run) => storableJson(run.output)]),
    float8Array(ordered.map((run) => run.startedAt)),
  ];
}

function demandParameters(demand: Demand | typeof nobody): unknown[] {
  const { gatewayId, sessions, places, free, reads, limitsRevision = 0 } = demand;
  return [
    uuidArray(sessions),
    intArray(places.map((place) => place + 1)),
    free,
    ...columns(reads, [
      (read) => read.lane,
      (read) => read.namespaceId,
      (read) => read.low,
      (read) => read.most,
      (read) => read.isSolo,
    ]),
    gatewayId,
    limitsRevision,
  ];
}

/**
 * Whoever locks several runs does it in the order of their ids: a cancellation and the end of its runs wait for one another,
 * never both ways.
 */
export function inLockOrder<Run extends { readonly id: string }>(runs: readonly Run[]): Run[] {
  return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

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

function usualRun(row: readonly [...UsualRow, ...unknown[]], sessions: readonly string[]): ClaimedRun {
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
