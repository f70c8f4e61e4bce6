// Generated from the .sql files of this package by scripts/generate/statement-params.mjs.

/** The named parameters of each statement that has some, in camelCase. */
export interface StatementParams {
}
