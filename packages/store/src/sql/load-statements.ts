import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { putPartsIn } from "./put-parts-in.js";
import { qualify } from "./schema-name.js";
import { parseStatementFile, type StatementSource } from "./statement-file.js";
import type { Statement, Statements } from "./statement.js";

/** The statements lie beside the code that runs them, in src; from dist the way there is as long. */
export const sqlDirectory = fileURLToPath(new URL("../../src/", import.meta.url));

/** Migrations and the dump of the schema are no statements. */
const migrationFolder = "migrations";

/** Reads all statements and puts the configured schema into them. Called once, at start. */
export function loadStatements(schema: string): Statements {
  return makeStatements(readStatementSources(), schema);
}

/** Every statement of this package, as written. */
export function readStatementSources(): StatementSource[] {
  const folders = readdirSync(sqlDirectory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders
    .filter(({ name }) => name !== migrationFolder)
    .flatMap(({ name }) => readdirSync(sqlDirectory + name).map((file) => `${name}/${file}`))
    .filter((file) => file.endsWith(".sql"));
  return collectSources(new Map(files.sort().map((file) => [file, readFileSync(sqlDirectory + file, "utf8")])));
}

/** The statements of several files, by file name, with their parts in them; names are unique over all files. */
export function collectSources(files: ReadonlyMap<string, string>): StatementSource[] {
  const parsed = [...files].map(([file, content]) => ({ file, ...parseStatementFile(file, content) }));
  const fileOf = new Map<string, string>();
  const claimName = (file: string, { name, text }: StatementSource): void => {
    const other = fileOf.get(name);
    if (other !== undefined) throw new Error(`${file}: the statement ${name} is already in ${other}`);
    if (text === "") throw new Error(`${file}: the statement ${name} is empty`);
    fileOf.set(name, file);
  };
  for (const { file, statements, parts } of parsed) for (const one of [...parts, ...statements]) claimName(file, one);
  const partTexts = new Map(parsed.flatMap(({ parts }) => parts.map(({ name, text }) => [name, text] as const)));
  return parsed.flatMap(({ statements }) => statements.map((source) => putPartsIn(source, partTexts)));
}

export function makeStatements(sources: readonly StatementSource[], schema: string): Statements {
  const byName = new Map(sources.map(({ name, text }) => [name, toStatement(name, qualify(text, schema))]));
  return {
    names: [...byName.keys()],
    get(name) {
      const statement = byName.get(name);
      if (statement === undefined) throw new Error(`no .sql file of @carillon/store has a statement named ${name}`);
      return statement;
    },
  };
}

function toStatement(name: string, text: string): Statement {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return Object.freeze({ name, text, prepared: `${name.slice(0, 40)}_${digest}` });
}
