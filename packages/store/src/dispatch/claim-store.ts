import type { Instant } from "@carillon/core";
import { jsonParam, namedColumns, storableJson, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { AttemptRecord } from "../runs/run-reads.js";
import type { GivenBackRun, Queued } from "../runs/run-store.js";
import type { Statements } from "../sql/statements.js";
import {
  type ClaimName,
  type ClaimedRow,
  type ClaimedRun,
  type CompleteAndClaim,
  type CompletedAndClaimed,
  type FinishedRun,
  completeAndClaimOver,
  inLockOrder,
  toClaimedRun,
} from "./complete-and-claim.js";

export interface WaitingRun {
  readonly id: string;
  readonly shard: number;
  readonly runAt: Instant;
  /** It was cancelled: it gets no further attempt. */
  readonly isStopped: boolean;
}

/** A run that its worker is asked to stop; `fence` names the claim. */
export interface StopRow {
  readonly id: string;
  readonly fence: number;
  readonly reason: string;
}

export interface RetriedRun extends ClaimName {
  readonly delayMs: number;
  readonly rank: number;
  readonly record: AttemptRecord;
}

export interface DeferredRun extends ClaimName {
  readonly delayMs: number;
  readonly rank: number;
  readonly reason: string | null;
}

/** A result whose sender does not know whether it was accepted. */
export interface SentResult {
  readonly id: string;
  readonly fence: number;
  readonly isSuccess: boolean;
}

/** A claim for the first run of a strict queue. */
export interface StrictClaim {
  readonly gatewayId: string;
  readonly session: string;
  readonly namespaceId: number;
  readonly queue: string;
  /** The lanes of the queue that the session serves. */
  readonly lanes: readonly number[];
  /** The lanes from which a run may only be claimed as the probe of a half-open breaker. */
  readonly trials: readonly { readonly lane: number; readonly breaker: string }[];
}

/** Every write of a claim matches (id, fence, session); a run that is not returned was lost to a newer claim. */
export interface ClaimStore {
  /** Ends runs that succeeded and claims others, in one commit. */
  completeAndClaim(request: CompleteAndClaim): Promise<CompletedAndClaimed>;
  /** Claims the first run of a strict queue; null if there is none, the slot is taken, or the session cannot execute it. */
  claimStrict(claim: StrictClaim): Promise<ClaimedRun | null>;
  /** The runs that sessions hold, whether their workers know of them or not. */
  held(sessions: readonly string[]): Promise<ClaimedRun[]>;
  finish(runs: readonly FinishedRun[]): Promise<EndedClaims>;
  /** The same, for runs whose success webhooks subscribe to. */
  finishNoticed(runs: readonly FinishedRun[]): Promise<EndedClaims>;
  retry(runs: readonly RetriedRun[]): Promise<WaitingRun[]>;
  giveBack(session: string, runs: readonly { id: string; fence: number }[]): Promise<GivenBackRun[]>;
  /** Makes claimed runs wait for some time without spending an attempt. */
  defer(runs: readonly DeferredRun[]): Promise<WaitingRun[]>;
  /** Records that runs started `agoMs` ago. */
  started(session: string, runs: readonly { id: string; fence: number; agoMs: number }[]): Promise<void>;
  /** The runs among these that a session holds. */
  heldAmong(session: string, ids: readonly string[]): Promise<ClaimedRun[]>;
  /** Which results of a session were accepted before. */
  accepted(session: string, results: readonly SentResult[], since: Instant): Promise<Set<string>>;
  /** Whether some run of these lanes waits for a worker. */
  areWaiting(namespaceId: number, lanes: readonly number[]): Promise<boolean>;
  /** The runs among these that were cancelled. */
  stops(ids: readonly string[]): Promise<StopRow[]>;
}

/** `slow` executes statements that read all live runs: no hot statement may wait behind them. */
export function claimStore(db: Queryable, statements: Statements, slow: Queryable = db): ClaimStore {
  const claimStrict = statements.get("run.claim_strict");
  const held = statements.get("run.held");
  const finish = statements.get("run.finish");
  const finishNoticed = statements.get("run.finish_with_notices");
  const retry = statements.get("run.retry");
  const giveBack = statements.get("run.give_back");
  const defer = statements.get("run.defer");
  const started = statements.get("run.started");
  const heldAmong = statements.get("run.held_among");
  const accepted = statements.get("run.accepted");
  const areWaiting = statements.get("run.are_waiting");
  const stops = statements.get("run.stop_requests");
  return {
    completeAndClaim: completeAndClaimOver(db, statements),
    async claimStrict({ namespaceId, queue, lanes, session, gatewayId, trials }) {
      const tried = namedColumns(trials, {
        trialLanes: (trial) => trial.lane,
        trialBreakers: (trial) => trial.breaker,
      });
      const values = claimStrict.values({ namespaceId, queue, lanes, sessionId: session, gatewayId, ...tried });
      const { rows } = await db.query<ClaimedRow>(claimStrict, values);
      return rows[0] === undefined ? null : toClaimedRun(rows[0]);
    },
    async held(sessions) {
      const { rows } = await slow.query<ClaimedRow>(held, held.values({ sessionIds: sessions }));
      return rows.map(toClaimedRun).sort((a, b) => a.rank - b.rank);
    },
    async finish(runs) {
      return toEndedClaims((await db.query<EndedClaimRow>(finish, finish.values(finishedColumns(runs)))).rows);
    },
    async finishNoticed(runs) {
      const values = finishNoticed.values(finishedColumns(runs));
      return toEndedClaims((await db.query<EndedClaimRow>(finishNoticed, values)).rows);
    },
    async retry(runs) {
      return (await db.query<WaitingRow>(retry, retry.values(retriedColumns(runs)))).rows.map(toWaiting);
    },
    async giveBack(session, runs) {
      const ofRuns = namedColumns(inLockOrder(runs), { ids: (run) => run.id, fences: (run) => run.fence });
      const values = giveBack.values({ sessionId: session, ...ofRuns });
      const { rows } = await db.query<Queued & { stopped: boolean }>(giveBack, values);
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async defer(runs) {
      return (await db.query<WaitingRow>(defer, defer.values(deferredColumns(runs)))).rows.map(toWaiting);
    },
    async started(session, runs) {
      const ofRuns = namedColumns(inLockOrder(runs), {
        ids: (run) => run.id,
        fences: (run) => run.fence,
        agoMs: (run) => Math.round(run.agoMs),
      });
      await db.query(started, started.values({ sessionId: session, ...ofRuns }));
    },
    async heldAmong(session, ids) {
      const values = heldAmong.values({ sessionId: session, ids });
      return (await db.query<ClaimedRow>(heldAmong, values)).rows.map(toClaimedRun);
    },
    async accepted(session, results, since) {
      const ofResults = namedColumns(results, {
        ids: (one) => one.id,
        fences: (one) => one.fence,
        successes: (one) => one.isSuccess,
      });
      const values = accepted.values({ sessionId: session, notBefore: timestampParam(since), ...ofResults });
      const { rows } = await db.query<{ id: string }>(accepted, values);
      return new Set(rows.map((row) => row.id));
    },
    async areWaiting(namespaceId, lanes) {
      const { rows } = await db.query<{ waiting: boolean }>(areWaiting, areWaiting.values({ namespaceId, lanes }));
      return rows[0]?.waiting === true;
    },
    async stops(ids) {
      return ids.length === 0 ? [] : (await db.query<StopRow>(stops, stops.values({ ids }))).rows;
    },
  };
}

const finishedColumns = (runs: readonly FinishedRun[]) =>
  namedColumns(inLockOrder(runs), {
    sessionIds: (run) => run.session,
    ids: (run) => run.id,
    fences: (run) => run.fence,
    statuses: (run) => run.status,
    reasons: (run) => run.reason,
    outputs: (run) => storableJson(run.output),
    errors: (run) => (run.error === null ? null : jsonParam(run.error)),
    startTimes: (run) => timestampParam(run.startedAt),
    spentAttempts: (run) => run.spent ?? 1,
    fingerprints: (run) => run.error?.fingerprint ?? null,
  });

/** The runs whose result was accepted, by id. */
export type EndedClaims = ReadonlyMap<string, EndedClaim>;

export interface EndedClaim {
  /** The job of which another run may wait for the end. */
  readonly freedJobId: string | null;
  readonly finishedAt: Instant;
}

interface EndedClaimRow {
  readonly id: string;
  readonly freed_job_id: string | null;
  readonly finished_at: Instant;
}

function toEndedClaims(rows: readonly EndedClaimRow[]): EndedClaims {
  return new Map(
    rows.map(({ id, freed_job_id: freedJobId, finished_at: finishedAt }) => [id, { freedJobId, finishedAt }]),
  );
}

interface WaitingRow {
  readonly id: string;
  readonly shard: number;
  readonly run_at: Instant;
  readonly stopped: boolean;
}

function toWaiting(row: WaitingRow): WaitingRun {
  return { id: row.id, shard: row.shard, runAt: row.run_at, isStopped: row.stopped };
}

const deferredColumns = (runs: readonly DeferredRun[]) =>
  namedColumns(inLockOrder(runs), {
    sessionIds: (run) => run.session,
    ids: (run) => run.id,
    fences: (run) => run.fence,
    delaysMs: (run) => Math.round(run.delayMs),
    ranks: (run) => run.rank,
    reasons: (run) => run.reason,
  });

const retriedColumns = (runs: readonly RetriedRun[]) =>
  namedColumns(inLockOrder(runs), {
    sessionIds: (run) => run.session,
    ids: (run) => run.id,
    fences: (run) => run.fence,
    delaysMs: (run) => run.delayMs,
    ranks: (run) => run.rank,
    records: (run) => jsonParam(run.record),
  });
