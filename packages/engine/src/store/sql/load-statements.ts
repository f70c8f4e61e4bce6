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

/** Every statement of the directory's files, as written; names are unique over all files. */
export function readStatementSources(directory: string = sqlDirectory): StatementSource[] {
  const seen = new Map<string, string>();
  return statementFiles(directory).flatMap((file) =>
    parseStatementFile(file, readFileSync(`${directory}${file}`, "utf8")).map((source) => {
      const other = seen.get(source.name);
      if (other !== undefined) throw new Error(`${file}: the statement ${source.name} is already in ${other}`);
      if (source.text === "") throw new Error(`${file}: the statement ${source.name} is empty`);
      seen.set(source.name, file);
      return source;
    }),
  );
}

function statementFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith(".sql") && !notStatements.has(file))
    .sort();
}

/** Reads all statements and puts the configured schema into them. Called once, at start. */
export function loadStatements(schema: string, directory: string = sqlDirectory): Statements {
  const byName = new Map(
    readStatementSources(directory).map(({ name, text }) => [name, toStatement(name, qualify(text, schema))]),
  );
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
  return Object.freeze({ name, text, prepared: `${name.slice(0, 48)}_${digest}` });
}
