import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { CarillonError } from "@carillon/core";
import { sqlDirectory } from "../sql/statements.js";

/** One step of the schema, read from its file. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Of the text as written for the schema `carillon`, with line ends as \n: the same in every schema and checkout. */
  readonly sha256: string;
  readonly text: string;
  /** False when the file's first line is `-- no-transaction`: for statements that PostgreSQL refuses inside one. */
  readonly transactional: boolean;
}

/** A migration that the schema records as applied. */
export type AppliedMigration = Pick<Migration, "number" | "name" | "sha256">;

const migrationsDirectory = `${sqlDirectory}migrations/`;
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** Reads the NNNN_name.sql files in the order of their numbers. Refuses a file with any other name: it would never run. */
export function readMigrations(): Migration[] {
  return readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => {
      const [, number, name] = fileName.exec(file) ?? [];
      if (number === undefined || name === undefined) {
        throw new Error(`The file ${file} is not named like a migration, such as 0001_some_name.sql.`);
      }
      return toMigration(Number(number), name, readFileSync(`${migrationsDirectory}${file}`, "utf8"));
    })
    .sort((a, b) => a.number - b.number);
}

export function toMigration(number: number, name: string, content: string): Migration {
  const text = content.replaceAll("\r\n", "\n");
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { number, name, sha256, text, transactional: !/^-- no-transaction\b/.test(text) };
}

/** The name of a migration in messages, such as 0001_initial. */
export function migrationLabel({ number, name }: Pick<Migration, "number" | "name">): string {
  return `${String(number).padStart(4, "0")}_${name}`;
}

/**
 * The migrations that are still to run, in order. Refuses a schema that is newer than the files, a file that changed after it was
 * applied, and a gap on either side.
 */
export function planMigrations(
  files: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  assertNoGap(files, "The migration files");
  const newest = files.at(-1)?.number ?? 0;
  const latest = applied.at(-1);
  if (latest !== undefined && latest.number > newest) {
    throw new CarillonError(
      "schema_too_new",
      `The schema is at migration ${migrationLabel(latest)}, and this version has migrations up to ${newest}. Start a version that has it.`,
    );
  }
  assertNoGap(applied, "The migrations recorded in the schema");
  for (const one of applied) assertUnchanged(files, one);
  return files.slice(applied.length);
}

function assertNoGap(list: readonly { readonly number: number }[], what: string): void {
  const at = list.findIndex(({ number }, index) => number !== index + 1);
  if (at === -1) return;
  throw new CarillonError(
    "migration_missing",
    `${what} must be numbered 1, 2, 3, … without a gap or a repeat: expected ${at + 1}, found ${list[at]?.number}.`,
  );
}

function assertUnchanged(files: readonly Migration[], applied: AppliedMigration): void {
  if (files[applied.number - 1]?.sha256 === applied.sha256) return;
  throw new CarillonError(
    "migration_changed",
    `Migration ${migrationLabel(applied)} was applied with another content than this version has. A released migration is never edited: restore the file, or start the version that applied it.`,
  );
}
