import type { DurationMs } from "@carillon/core";
import { classifyPgError } from "./classify.js";
import type { Connection } from "./connection.js";
import type { QueryResult, Queryable, SqlText } from "./queryable.js";

export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** Tries after the first, for what the database itself asks to try again: serialization failures and deadlocks. */
  readonly retries?: number;
  /** Also tries again after a lost connection. Only for work that does no harm when its first commit went through. */
  readonly repeatable?: boolean;
  readonly timeoutMs?: DurationMs;
}

/** Whether a failed transaction may run again from its start. */
export function mayRetry(error: unknown, options: TransactionOptions): boolean {
  const kind = classifyPgError(error);
  return kind === "serialization" || (kind === "transient_connection" && options.repeatable === true);
}

/** Statements of one open transaction; refused once it is over, so that a forgotten await cannot write outside it. */
class OpenTransaction implements Queryable {
  readonly #connection: Connection;
  #over = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    if (this.#over) throw new Error("this transaction is over: a statement was sent after its end");
    return this.#connection.query<Row>(statement, values);
  }

  end(): void {
    this.#over = true;
  }
}

/** Runs `work` once between BEGIN and COMMIT. Anything thrown rolls back; if even that fails the connection is ended. */
export async function runTransaction<T>(
  connection: Connection,
  begin: string,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const tx = new OpenTransaction(connection);
  await connection.query({ text: begin });
  try {
    const result = await work(tx);
    tx.end();
    await connection.query({ text: "commit" });
    return result;
  } catch (error) {
    tx.end();
    await rollBack(connection);
    throw error;
  }
}

async function rollBack(connection: Connection): Promise<void> {
  if (!connection.alive) return;
  try {
    await connection.query({ text: "rollback" });
  } catch {
    connection.destroy();
  }
}
