import type { Instant } from "@carillon/core";
import { columns, jsonParam, storableJson, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { AttemptRecord } from "../runs/run-reads.js";
import { type EndedRow, type EndedRuns, type GivenBackRun, type Queued, toEnded } from "../runs/run-store.js";
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
  /** It was cancelled: it must not be tried again. */
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
  /** The lanes of which a run may only be tried, for a breaker of which no other run is tried. */
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
  finish(runs: readonly FinishedRun[]): Promise<EndedRuns>;
  /** The same, for runs whose success webhooks subscribe to. */
  finishNoticed(runs: readonly FinishedRun[]): Promise<EndedRuns>;
  retry(runs: readonly RetriedRun[]): Promise<WaitingRun[]>;
  giveBack(session: string, runs: readonly { id: string; fence: number }[]): Promise<GivenBackRun[]>;
  /** Returns runs to wait for a time, without spending anything. */
  defer(runs: readonly DeferredRun[]): Promise<WaitingRun[]>;
  /** Records that runs were started, so long ago. */
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
  const finishNoticed = statements.get("run.finish_noticed");
  const retry = statements.get("run.retry");
  const giveBack = statements.get("run.give_back");
  const defer = statements.get("run.defer");
  const started = statements.get("run.started");
  const heldAmong = statements.get("run.recall");
  const accepted = statements.get("run.accepted");
  const areWaiting = statements.get("run.are_waiting");
  const stops = statements.get("run.stops");
  return {
    completeAndClaim: completeAndClaimOver(db, statements),
    async claimStrict({ namespaceId, queue, lanes, session, gatewayId, trials }) {
      const tried = columns(trials, [(trial) => trial.lane, (trial) => trial.breaker]);
      const values = [namespaceId, queue, lanes, session, gatewayId, ...tried];
      const { rows } = await db.query<ClaimedRow>(claimStrict, values);
      return rows[0] === undefined ? null : toClaimedRun(rows[0]);
    },
    async held(sessions) {
      const { rows } = await slow.query<ClaimedRow>(held, [sessions]);
      return rows.map(toClaimedRun).sort((a, b) => a.rank - b.rank);
    },
    async finish(runs) {
      return toEnded((await db.query<EndedRow>(finish, finishParameters(runs))).rows);
    },
    async finishNoticed(runs) {
      return toEnded((await db.query<EndedRow>(finishNoticed, finishParameters(runs))).rows);
    },
    async retry(runs) {
      return (await db.query<WaitingRow>(retry, retryParameters(runs))).rows.map(toWaiting);
    },
    async giveBack(session, runs) {
      const values = columns(inLockOrder(runs), [(run) => run.id, (run) => run.fence]);
      const { rows } = await db.query<Queued & { stopped: boolean }>(giveBack, [session, ...values]);
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async defer(runs) {
      return (await db.query<WaitingRow>(defer, deferParameters(runs))).rows.map(toWaiting);
    },
    async started(session, runs) {
      const values = columns(inLockOrder(runs), [(run) => run.id, (run) => run.fence, (run) => Math.round(run.agoMs)]);
      await db.query(started, [session, ...values]);
    },
    async heldAmong(session, ids) {
      return (await db.query<ClaimedRow>(heldAmong, [session, ids])).rows.map(toClaimedRun);
    },
    async accepted(session, results, since) {
      const [ids, fences, successes] = columns(results, [(one) => one.id, (one) => one.fence, (one) => one.isSuccess]);
      const values = [session, ids, fences, timestampParam(since), successes];
      const { rows } = await db.query<{ id: string }>(accepted, values);
      return new Set(rows.map((row) => row.id));
    },
    async areWaiting(namespaceId, lanes) {
      const { rows } = await db.query<{ waiting: boolean }>(areWaiting, [namespaceId, lanes]);
      return rows[0]?.waiting === true;
    },
    async stops(ids) {
      return ids.length === 0 ? [] : (await db.query<StopRow>(stops, [ids])).rows;
    },
  };
}

function finishParameters(runs: readonly FinishedRun[]): unknown[] {
  return columns(inLockOrder(runs), [
    (run) => run.session,
    (run) => run.id,
    (run) => run.fence,
    (run) => run.status,
    (run) => run.reason,
    (run) => storableJson(run.output),
    (run) => (run.error === null ? null : jsonParam(run.error)),
    (run) => timestampParam(run.startedAt),
    (run) => run.spent ?? 1,
    (run) => run.error?.fingerprint ?? null,
  ]);
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

function deferParameters(runs: readonly DeferredRun[]): unknown[] {
  return columns(inLockOrder(runs), [
    (run) => run.session,
    (run) => run.id,
    (run) => run.fence,
    (run) => Math.round(run.delayMs),
    (run) => run.rank,
    (run) => run.reason,
  ]);
}

function retryParameters(runs: readonly RetriedRun[]): unknown[] {
  return columns(inLockOrder(runs), [
    (run) => run.session,
    (run) => run.id,
    (run) => run.fence,
    (run) => run.delayMs,
    (run) => run.rank,
    (run) => jsonParam(run.record),
  ]);
}
