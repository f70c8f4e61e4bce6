import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { qualify } from "./schema-name.js";
import { parseStatementFile, type StatementSource } from "./statement-file.js";
import type { Statement, Statements } from "./statement.js";

/** packages/engine/sql, at the same depth from src/store/sql and from dist/store/sql. */
export const sqlDirectory = fileURLToPath(new URL("../../../sql/", import.meta.url));

/** The committed picture of the schema: documentation, not statements. */
const notStatements = new Set(["schema.sql"]);

/** Reads all statements and puts the configured schema into them. Called once, at start. */
export function loadStatements(schema: string): Statements {
  return makeStatements(readStatementSources(), schema);
}

/** Every statement of packages/engine/sql, as written. */
export function readStatementSources(): StatementSource[] {
  const files = readdirSync(sqlDirectory).filter((file) => file.endsWith(".sql") && !notStatements.has(file));
  return collectSources(new Map(files.sort().map((file) => [file, readFileSync(`${sqlDirectory}${file}`, "utf8")])));
}

/** The statements of several files, by file name; names are unique over all of them. */
export function collectSources(files: ReadonlyMap<string, string>): StatementSource[] {
  const fileOf = new Map<string, string>();
  return [...files].flatMap(([file, content]) =>
    parseStatementFile(file, content).map((source) => {
      const other = fileOf.get(source.name);
      if (other !== undefined) throw new Error(`${file}: the statement ${source.name} is already in ${other}`);
      if (source.text === "") throw new Error(`${file}: the statement ${source.name} is empty`);
      fileOf.set(source.name, file);
      return source;
    }),
  );
}

export function makeStatements(sources: readonly StatementSource[], schema: string): Statements {
  const byName = new Map(sources.map(({ name, text }) => [name, toStatement(name, qualify(text, schema))]));
  return {
    names: [...byName.keys()],
    get(name) {
      const statement = byName.get(name);
      if (statement === undefined) throw new Error(`no file in packages/engine/sql has a statement named ${name}`);
      return statement;
    },
  };
}

function toStatement(name: string, text: string): Statement {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return Object.freeze({ name, text, prepared: `${name.slice(0, 40)}_${digest}` });
}
