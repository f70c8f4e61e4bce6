import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { sqlDirectory } from "../sql/statements.js";

/** One step of the schema, as its file has it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  /** Of the text as written for the schema `carillon`, with line ends as \n: the same in every schema and checkout. */
  readonly sha256: string;
  readonly text: string;
  /** False when the file's first line is `-- no-transaction`: for what PostgreSQL refuses inside one. */
  readonly transactional: boolean;
}

const migrationsDirectory = `${sqlDirectory}migrations/`;

const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;

/** Reads NNNN_name.sql files in order of their numbers. A file that is not named so is an error: it would never run. */
export function readMigrations(): Migration[] {
  return readdirSync(migrationsDirectory)
    .filter((file) => file.endsWith(".sql"))
    .map((file) => {
      const [, number, name] = fileName.exec(file) ?? [];
      if (number === undefined || name === undefined) {
        throw new Error(`${file} is not named like a migration: 0001_some_name.sql`);
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

/** 0007_run_later, as messages name it. */
export function migrationLabel(migration: { readonly number: number; readonly name: string }): string {
  return `${String(migration.number).padStart(4, "0")}_${migration.name}`;
}
