import type { DurationMs, Timers } from "@carillon/core";
import { type Connection, isLostName } from "./connection.js";
import { AnswerLost, ConnectionLost, classifyPgError, sqlStateOf } from "./errors.js";
import { isRead, type QueryResult, type Queryable, type SqlText } from "./queryable.js";

export interface TransactionOptions {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  /** Tries after the first, for failures that had no effect: serialization failures and deadlocks. 3 by default. */
  readonly retries?: number;
  /** Also tries again after a lost connection: only for work that may be done twice, since the first commit may have succeeded. */
  readonly repeatable?: boolean;
  /** For the whole of one try. */
  readonly timeoutMs?: DurationMs;
}

/** Whether a failed transaction may run again from its start. */
export function mayRetry(error: unknown, options: TransactionOptions): boolean {
  const kind = classifyPgError(error);
  if (kind === "transient_connection") return options.repeatable === true;
  return kind === "serialization" || isLostName(sqlStateOf(error));
}

export interface TransactionLimits {
  readonly timers: Timers;
  readonly timeoutMs: DurationMs;
  readonly idleMs: DurationMs;
}

/**
 * Runs `work` once between BEGIN and COMMIT; an error rolls back. BEGIN is awaited before the first statement is sent:
 * if it were refused, a statement sent behind it would commit alone.
 */
export async function runTransaction<T>(
  connection: Connection,
  work: (tx: Queryable) => Promise<T>,
  options: TransactionOptions,
  limits: TransactionLimits,
): Promise<T> {
  const tx = new OpenTransaction(connection);
  const limitMs = limits.timeoutMs + clientGraceMs;
  const timer = limits.timers.setTimeout(
    () => connection.destroy(new ConnectionLost(`a transaction took longer than ${limits.timeoutMs} ms`)),
    limitMs,
  );
  const { answerMs } = connection;
  let isCommitting = false;
  if (answerMs !== 0) connection.limitAnswers(Math.max(answerMs, limitMs));
  try {
    await connection.query({ text: beginText(connection, options, limits) });
    const result = await work(tx);
    tx.end();
    isCommitting = true;
    await connection.query(tx.commit);
    return result;
  } catch (error) {
    tx.end();
    await rollBack(connection);
    // Without COMMIT the server rolls back, whether or not it received the last statement.
    throw error instanceof AnswerLost && !isCommitting ? new ConnectionLost(error.message, { cause: error }) : error;
  } finally {
    limits.timers.clearTimeout(timer);
    connection.limitAnswers(answerMs);
  }
}

/** The server's own timeout is shorter; this one is for servers without one, and for a network that drops packets. */
const clientGraceMs = 1_000;
const firstWithTransactionTimeout = 170_000;

/** One round trip. The limits are local to the transaction, so they hold through poolers and lent pools as well. */
function beginText(connection: Connection, options: TransactionOptions, limits: TransactionLimits): string {
  const { timeoutMs, idleMs } = limits;
  const parts = [
    `begin isolation level ${options.isolation ?? "read committed"}`,
    `set local statement_timeout = ${timeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${Math.min(idleMs, timeoutMs)}`,
  ];
  if ((connection.facts?.versionNum ?? 0) >= firstWithTransactionTimeout) {
    parts.push(`set local transaction_timeout = ${timeoutMs}`);
  }
  return parts.join("; ");
}

async function rollBack(connection: Connection): Promise<void> {
  if (!connection.alive) return;
  try {
    await connection.query({ text: "rollback" });
  } catch {
    connection.destroy();
  }
}

/** Takes statements of one open transaction and refuses them after its end, so that a forgotten await cannot write outside it. */
class OpenTransaction implements Queryable {
  readonly #connection: Connection;
  #over = false;
  readonly #statements = new Set<SqlText>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>> {
    if (this.#over) throw new Error("this transaction is over: a statement was sent after its end");
    this.#statements.add(statement);
    return this.#connection.query<Row>(statement, values);
  }

  /** It has an effect if one of the statements has, which only matters if its answer is lost. */
  get commit(): SqlText {
    const statements = this.#statements;
    return {
      text: "commit",
      get isRead() {
        return [...statements].every(isRead);
      },
    };
  }

  end(): void {
    this.#over = true;
  }
}
