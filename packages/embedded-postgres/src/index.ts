export { hasEmbeddedDatabase } from "./data-dir/data-dir.js";
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from "./errors.js";
export type { EmbeddedPostgres, EmbeddedPostgresOptions, ProbeName, Probes, StopMode } from "./options.js";
export { startEmbeddedPostgres } from "./start.js";
export type { Timer } from "./timer.js";
