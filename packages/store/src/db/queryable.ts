/** A loaded Statement, or plain text, which the server parses at each call. */
export interface SqlText {
  readonly name?: string;
  readonly text: string;
  readonly prepared?: string;
  /** Rows as arrays of their columns, in the order of the statement: many rows with many columns cost a third of objects. */
  readonly rowMode?: "array";
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
