import { type CallbackAnswer, type Instant, callbackSessionId } from "@carillon/core";
import { columns, jsonParam, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Kept } from "../runs/run-record-store.js";
import type { Statements } from "../sql/statements.js";
import { type ClaimName, inLockOrder } from "./complete-and-claim.js";

/** A run that is to go on without a worker. */
export interface AwaitingRun extends ClaimName {
  readonly until: Instant;
  readonly startedAt: Instant;
}

/** A run that waited for a callback. */
export interface CalledRun {
  readonly id: string;
  readonly fence: number;
  readonly startedAt: Instant | null;
  /** Null: none arrived in time, or the run was cancelled. */
  readonly answer: CallbackAnswer | null;
}

export interface CallbackStore {
  /** The answer to an earlier claim of the same try; `lost`: the claim is over. */
  open(claim: ClaimName, tokenHash: string): Promise<Kept | null | "lost">;
  /** Returns the runs that wait now, each with whether its callback was answered before. */
  wait(runs: readonly AwaitingRun[]): Promise<ReadonlyMap<string, boolean>>;
  /** Null: it was not taken. */
  answer(tokenHash: string, answer: CallbackAnswer): Promise<(CalledRun & { readonly waits: boolean }) | null>;
  /** Why it was not taken. */
  state(tokenHash: string): Promise<"unknown" | "used" | "over">;
  /** Closes what is overdue; answers how many. */
  expire(limit: number): Promise<number>;
  due(limit: number): Promise<CalledRun[]>;
  /** Waiting runs that are to stop. */
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
  const settle = statements.get("callback.settle");
  return {
    async open({ session, id, fence }, tokenHash) {
      type Row = { value: string | null; at: Instant | null };
      const [row] = (await db.query<Row>(open, [session, id, fence, tokenHash])).rows;
      if (row === undefined) return "lost";
      return row.value === null || row.at === null ? null : { value: row.value, at: row.at };
    },
    async wait(runs) {
      const values = columns(inLockOrder(runs), [
        (run) => run.session,
        (run) => run.id,
        (run) => run.fence,
        (run) => timestampParam(run.until),
        (run) => timestampParam(run.startedAt),
      ]);
      const { rows } = await db.query<{ id: string; answered: boolean }>(wait, [...values, callbackSessionId]);
      const waiting = new Map<string, boolean>();
      for (const row of rows) waiting.set(row.id, row.answered || waiting.get(row.id) === true);
      return waiting;
    },
    async answer(tokenHash, given) {
      const values = [tokenHash, jsonParam(given)];
      const [row] = (await db.query<CalledRow & { waits: boolean }>(answer, values)).rows;
      return row === undefined ? null : { ...toCalled(row), waits: row.waits };
    },
    async state(tokenHash) {
      const [row] = (await db.query<{ used: boolean }>(state, [tokenHash])).rows;
      return row === undefined ? "unknown" : row.used ? "used" : "over";
    },
    async expire(limit) {
      return (await db.query(expire, [limit])).rowCount;
    },
    async due(limit) {
      return (await db.query<CalledRow>(due, [limit])).rows.map(toCalled);
    },
    async stopped(limit) {
      return (await db.query<CalledRow>(stopped, [limit])).rows.map(toCalled);
    },
    async settle(runs) {
      await db.query(settle, columns(inLockOrder(runs), [(run) => run.id, (run) => run.fence]));
    },
  };
}

function toCalled({ run_id: id, fence, begun_at: startedAt, answer }: CalledRow): CalledRun {
  return { id, fence, startedAt, answer: answer === null ? null : (JSON.parse(answer) as CallbackAnswer) };
}
