export { classifyPgError, sqlStateOf, type PgErrorClass } from "./store/db/classify.js";
export type { Capabilities, Database, Listening } from "./store/db/database.js";
export type { DatabaseClock } from "./store/db/database-clock.js";
export type { DatabaseEvent } from "./store/db/events.js";
export { openDatabase } from "./store/db/open-database.js";
export type { DatabaseOptions, Timeouts } from "./store/db/options.js";
export type { QueryResult, Queryable, SqlText } from "./store/db/queryable.js";
export { loadStatements } from "./store/sql/load-statements.js";
export type { Statement, Statements } from "./store/sql/statement.js";
