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
  /** Whether this use has taken the key. */
  begin(use: KeyUse, keptMs: DurationMs, givenUpMs: DurationMs): Promise<boolean>;
  find(use: KeyUse): Promise<KeyRow | null>;
  /** False: another use of the key has taken it over. */
  note(tx: Queryable, use: KeyUse, effect: Effect): Promise<boolean>;
  answer(use: KeyUse, answer: KeptAnswer): Promise<void>;
  forget(use: KeyUse): Promise<void>;
  /** Returns how many were removed. */
  sweep(limit: number): Promise<number>;
}

export function receiptStore(db: Queryable, statements: Statements): ReceiptStore {
  const begin = statements.get("idempotency.begin");
  const find = statements.get("idempotency.find");
  const recordEffect = statements.get("idempotency.record_effect");
  const recordAnswer = statements.get("idempotency.record_answer");
  const release = statements.get("idempotency.release");
  const sweep = statements.get("idempotency.sweep");
  return {
    async begin(use, keptMs, givenUpMs) {
      const values = begin.values({ ...use, keptMs, abandonedMs: givenUpMs });
      return (await db.query(begin, values)).rowCount === 1;
    },
    async find(use) {
      return (await db.query<KeyRow>(find, find.values(use))).rows[0] ?? null;
    },
    async note(tx, use, effect) {
      return (await tx.query(recordEffect, recordEffect.values({ ...use, effect: jsonParam(effect) }))).rowCount === 1;
    },
    async answer(use, kept) {
      await db.query(recordAnswer, recordAnswer.values({ ...use, answer: jsonParam(kept) }));
    },
    async forget(use) {
      await db.query(release, release.values(use));
    },
    async sweep(limit) {
      return (await db.query(sweep, sweep.values({ limit }))).rowCount;
    },
  };
}

/** The ids of the objects that a call created, in the order of the request; null for a refused one. */
export interface Effect {
  readonly runs?: readonly ({ readonly id: string; readonly isNew: boolean } | null)[];
  readonly jobs?: readonly (string | null)[];
  readonly backfill?: string;
  readonly operation?: string;
  readonly namespace?: string;
  /** The secret that the answer shows, of this endpoint or of the namespace's callbacks. */
  readonly secret?: { readonly webhookId?: string; readonly value: string };
}

/** The answer to the first call. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, as it was sent; null if there was no body. */
  readonly body: string | null;
}

export interface KeyedCall {
  readonly caller: string;
  readonly key: string;
  /** Distinguishes requests. */
  readonly request: string;
}
