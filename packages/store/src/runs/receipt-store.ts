import type { DurationMs } from "@carillon/core";
import { jsonParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** One use of a key. */
export interface KeyUse extends KeyedCall {
  readonly namespaceId: number;
  readonly token: string;
}

export interface KeyRow {
  readonly request: string;
  readonly effect: Effect | null;
  readonly answer: KeptAnswer | null;
}

export interface ReceiptStore {
  /** Whether the key is this use's now. */
  begin(use: KeyUse, keptMs: DurationMs, givenUpMs: DurationMs): Promise<boolean>;
  find(use: KeyUse): Promise<KeyRow | null>;
  /** False: the key is somebody else's by now. */
  note(tx: Queryable, use: KeyUse, effect: Effect): Promise<boolean>;
  answer(use: KeyUse, answer: KeptAnswer): Promise<void>;
  forget(use: KeyUse): Promise<void>;
  /** Answers how many went. */
  sweep(limit: number): Promise<number>;
}

export function receiptStore(db: Queryable, statements: Statements): ReceiptStore {
  const begin = statements.get("idempotency.begin");
  const find = statements.get("idempotency.find");
  const note = statements.get("idempotency.note");
  const answer = statements.get("idempotency.answer");
  const forget = statements.get("idempotency.forget");
  const sweep = statements.get("idempotency.sweep");
  const place = ({ namespaceId, caller, key }: KeyUse): unknown[] => [namespaceId, caller, key];
  return {
    async begin(use, keptMs, givenUpMs) {
      const values = [...place(use), use.request, use.token, keptMs, givenUpMs];
      return (await db.query(begin, values)).rowCount === 1;
    },
    async find(use) {
      return (await db.query<KeyRow>(find, place(use))).rows[0] ?? null;
    },
    async note(tx, use, effect) {
      return (await tx.query(note, [...place(use), use.token, jsonParam(effect)])).rowCount === 1;
    },
    async answer(use, kept) {
      await db.query(answer, [...place(use), use.token, jsonParam(kept)]);
    },
    async forget(use) {
      await db.query(forget, [...place(use), use.token]);
    },
    async sweep(limit) {
      return (await db.query(sweep, [limit])).rowCount;
    },
  };
}

/** What a call made, by id and in the order in which it was asked for; null stands for what was refused. */
export interface Effect {
  readonly runs?: readonly ({ readonly id: string; readonly isNew: boolean } | null)[];
  readonly jobs?: readonly (string | null)[];
  readonly backfill?: string;
  readonly operation?: string;
}

/** What was sent the first time. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, as it was sent; null where nothing followed the headers. */
  readonly body: string | null;
}

export interface KeyedCall {
  readonly caller: string;
  readonly key: string;
  /** Tells one request from another. */
  readonly request: string;
}
