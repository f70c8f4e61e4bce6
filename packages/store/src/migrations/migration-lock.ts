import { createHash } from "node:crypto";
import type { Queryable } from "../db/queryable.js";

/**
 * The migration lock of a schema. It is always asked for, never waited in: a session that waits inside
 * pg_advisory_lock holds a snapshot, for which CREATE INDEX CONCURRENTLY waits, and so the holder of the lock would
 * wait for those who wait for it.
 */
export class MigrationLock {
  readonly #key: string;

  constructor(schema: string) {
    this.#key = createHash("sha256").update(`carillon migrations of ${schema}`).digest().readBigInt64BE(0).toString();
  }

  /** Until the end of the open transaction. Safe through any pooler. */
  takeForTransaction(session: Queryable): Promise<boolean> {
    return this.#ask(session, "pg_try_advisory_xact_lock");
  }

  /** Until released, or until the session ends. Needs a connection that is one session. */
  takeForSession(session: Queryable): Promise<boolean> {
    return this.#ask(session, "pg_try_advisory_lock");
  }

  async releaseSession(session: Queryable): Promise<void> {
    await this.#ask(session, "pg_advisory_unlock");
  }

  async #ask(session: Queryable, call: string): Promise<boolean> {
    const { rows } = await session.query<{ done: boolean }>({ text: `select ${call}($1::bigint) as done` }, [
      this.#key,
    ]);
    return rows[0]?.done === true;
  }
}
