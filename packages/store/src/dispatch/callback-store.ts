import { type CallbackAnswer, type Instant, callbackSessionId } from "@carillon/core";
import { jsonParam, namedColumns, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Kept } from "../runs/run-record-store.js";
import type { Statements } from "../sql/statements.js";
import { type ClaimName, inLockOrder } from "./complete-and-claim.js";

/** A run that starts to wait for its callback, without a worker. */
export interface AwaitingRun extends ClaimName {
  readonly until: Instant;
  readonly startedAt: Instant;
}

/** A run that waited for a callback. */
export interface CalledRun {
  readonly id: string;
  readonly fence: number;
  readonly startedAt: Instant | null;
  /** null: none arrived in time, or the run was cancelled. */
  readonly answer: CallbackAnswer | null;
}

export interface CallbackStore {
  /** Returns the answer to an earlier claim of the same attempt; `lost`: the claim is over. */
  open(claim: ClaimName, tokenHash: string): Promise<Kept | null | "lost">;
  /** Returns the ids of the runs that now wait; the value says whether the callback was answered before. */
  wait(runs: readonly AwaitingRun[]): Promise<ReadonlyMap<string, boolean>>;
  /** null: the answer was refused. */
  answer(tokenHash: string, answer: CallbackAnswer): Promise<(CalledRun & { readonly waits: boolean }) | null>;
  /** Why an answer was refused. */
  state(tokenHash: string): Promise<"unknown" | "used" | "over">;
  /** Closes overdue callbacks; returns how many. */
  expire(limit: number): Promise<number>;
  due(limit: number): Promise<CalledRun[]>;
  /** Waiting runs that were asked to stop. */
  stopped(limit: number): Promise<CalledRun[]>;
  settle(runs: readonly Pick<CalledRun, "id" | "fence">[]): Promise<void>;
}

interface CalledRow {
  readonly run_id: string;
  readonly fence: number;
  readonly begun_at: Instant | null;
  readonly answer: string | null;
}

export function callbackStore(db: Queryable, statements: Statements): CallbackStore {
  const open = statements.get("callback.open");
  const wait = statements.get("callback.wait");
  const answer = statements.get("callback.answer");
  const state = statements.get("callback.state");
  const expire = statements.get("callback.expire");
  const due = statements.get("callback.due");
  const stopped = statements.get("callback.stopped");
  const close = statements.get("callback.close");
  return {
    async open({ session: sessionId, id: runId, fence }, tokenHash) {
      type Row = { value: string | null; at: Instant | null };
      const [row] = (await db.query<Row>(open, open.values({ sessionId, runId, fence, tokenHash }))).rows;
      if (row === undefined) return "lost";
      return row.value === null || row.at === null ? null : { value: row.value, at: row.at };
    },
    async wait(runs) {
      const ofRuns = namedColumns(inLockOrder(runs), {
        sessionIds: (run) => run.session,
        runIds: (run) => run.id,
        fences: (run) => run.fence,
        untilTimes: (run) => timestampParam(run.until),
        startTimes: (run) => timestampParam(run.startedAt),
      });
      const values = wait.values({ ...ofRuns, callbackSessionId });
      const { rows } = await db.query<{ id: string; answered: boolean }>(wait, values);
      const waiting = new Map<string, boolean>();
      for (const row of rows) waiting.set(row.id, row.answered || waiting.get(row.id) === true);
      return waiting;
    },
    async answer(tokenHash, given) {
      const values = answer.values({ tokenHash, answer: jsonParam(given) });
      const [row] = (await db.query<CalledRow & { waits: boolean }>(answer, values)).rows;
      return row === undefined ? null : { ...toCalled(row), waits: row.waits };
    },
    async state(tokenHash) {
      const [row] = (await db.query<{ used: boolean }>(state, state.values({ tokenHash }))).rows;
      return row === undefined ? "unknown" : row.used ? "used" : "over";
    },
    async expire(limit) {
      return (await db.query(expire, expire.values({ limit }))).rowCount;
    },
    async due(limit) {
      return (await db.query<CalledRow>(due, due.values({ limit }))).rows.map(toCalled);
    },
    async stopped(limit) {
      return (await db.query<CalledRow>(stopped, stopped.values({ limit }))).rows.map(toCalled);
    },
    async settle(runs) {
      const ofRuns = namedColumns(inLockOrder(runs), { runIds: (run) => run.id, fences: (run) => run.fence });
      await db.query(close, close.values(ofRuns));
    },
  };
}

function toCalled({ run_id: id, fence, begun_at: startedAt, answer }: CalledRow): CalledRun {
  return { id, fence, startedAt, answer: answer === null ? null : (JSON.parse(answer) as CallbackAnswer) };
}
