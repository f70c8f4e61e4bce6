import { segmentsOf } from "../sql/sql-text.js";

/** A loaded Statement, or plain text, which the server parses at each call. */
export interface SqlText {
  readonly name?: string;
  readonly text: string;
  readonly prepared?: string;
  /** Rows as arrays of their columns, in the order of the statement: many rows with many columns cost a third of objects. */
  readonly rowMode?: "array";
  /** Whether it has no effect; left out: decided by its text. */
  readonly isRead?: boolean;
}

/** Words that begin a write, and the functions of the schema that write. A row lock ends with its transaction and is no effect. */
const writing =
  /\b(insert\s+into|update|delete\s+from|merge\s+into|truncate|create|alter|drop|comment|grant|do|call|copy|commit)\b|\.(enqueue|cancel_planned_runs|ensure_\w+)\(/i;
const rowLock = /\bfor\s+(no\s+key\s+)?update\b/gi;

/** Whether a statement has no effect. Only asked when its answer was lost, so its text is examined then and not at start. */
export function isRead(sql: SqlText): boolean {
  if (sql.isRead !== undefined) return sql.isRead;
  const code = segmentsOf(sql.text).map(({ kind, text }) => (kind === "code" || kind === "identifier" ? text : " "));
  return !writing.test(code.join("").replace(rowLock, ""));
}

export interface QueryResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}

/**
 * Executes statements: the pool, a dedicated connection, or a transaction. Values are bound as pg binds them, with one
 * trap: a JS array is sent as a PostgreSQL array, so a value for json or jsonb must be stringified first. Rows are read by
 * the parsers of parsers.ts, in an application's own pool too.
 */
export interface Queryable {
  query<Row extends object = Record<string, unknown>>(
    statement: SqlText,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
}
