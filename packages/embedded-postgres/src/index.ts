export { hasEmbeddedDatabase } from "./data-dir/has-database.js";
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from "./errors.js";
export type { EmbeddedPostgres, EmbeddedPostgresOptions, ProbeName, Probes, StopMode } from "./options.js";
export { startEmbeddedPostgres } from "./start.js";
export type { Timer } from "./timer.js";
