/** A named statement of one of the .sql files of this package, for the configured schema. */
export interface Statement {
  /** entity.verb, as in the file: run.claim */
  readonly name: string;
  readonly text: string;
  /** Its name as a prepared statement: other text (another schema, another version) gives another name. */
  readonly prepared: string;
}

/** All statements of one schema, read once at start. */
export interface Statements {
  /** Throws for a name that no file has, so that a wrong name shows at start, not in the middle of the night. */
  get(name: string): Statement;
  readonly names: readonly string[];
}
