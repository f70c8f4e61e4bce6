import { CarillonError } from "@carillon/core";
import { migrationLabel, type Migration } from "./migration-files.js";

/** A migration that the schema has seen. */
export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
}

/**
 * What is still to run, in order. Refuses whatever could not be brought forward safely: a schema newer than the files, a
 * file that changed after it was run, a gap on either side.
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
      `The schema is at migration ${migrationLabel(latest)}, and this version knows migrations up to ${newest}. Start a version that knows it.`,
    );
  }
  assertNoGap(applied, "The migrations recorded in the schema");
  for (const done of applied) assertUnchanged(files, done);
  return files.slice(applied.length);
}

function assertNoGap(list: readonly { readonly number: number }[], what: string): void {
  const at = list.findIndex(({ number }, index) => number !== index + 1);
  if (at === -1) return;
  throw new CarillonError(
    "migration_missing",
    `${what} must be numbered 1, 2, 3, … without a gap or a repeat: in place of ${at + 1} there is ${list[at]?.number}.`,
  );
}

function assertUnchanged(files: readonly Migration[], done: AppliedMigration): void {
  const file = files[done.number - 1];
  if (file?.sha256 === done.sha256) return;
  throw new CarillonError(
    "migration_changed",
    `Migration ${migrationLabel(done)} was run with another content than this version has. A migration is never edited once released: restore the file, or start the version that ran it.`,
  );
}
