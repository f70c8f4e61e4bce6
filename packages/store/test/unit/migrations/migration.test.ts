import { describe, expect, it } from "vitest";
import {
  migrationLabel,
  readMigrations,
  toMigration,
  type Migration,
  planMigrations,
} from "../../../src/migrations/migration.js";

const make = (number: number, content = `create table t${number} ();`): Migration =>
  toMigration(number, `step_${number}`, content);
const files = [make(1), make(2), make(3)];

describe("planMigrations", () => {
  it("plans every migration for a new schema, in order", () => {
    expect(planMigrations(files, [])).toEqual(files);
  });

  it("plans the migrations that are left, and none when none is left", () => {
    expect(planMigrations(files, files.slice(0, 2))).toEqual([files[2]]);
    expect(planMigrations(files, files)).toEqual([]);
  });

  it("refuses a schema that is newer than the files and names both", () => {
    expect(() => planMigrations(files, [...files, make(4)])).toThrow(
      expect.objectContaining({ code: "schema_too_new", message: expect.stringMatching(/0004_step_4.*up to 3/) }),
    );
  });

  it("refuses a file that changed after it was applied", () => {
    expect(() => planMigrations(files, [make(1), make(2, "something else")])).toThrow(
      expect.objectContaining({ code: "migration_changed", message: expect.stringContaining("0002_step_2") }),
    );
  });

  it.each([
    ["files with a gap", [make(1), make(3)], []],
    ["files that do not begin at 1", [make(2)], []],
    ["two files of one number", [make(1), make(2), make(2)], []],
    ["a record with a gap", files, [make(1), make(3)]],
  ])("refuses %s", (_what, known, applied) => {
    expect(() => planMigrations(known, applied)).toThrow(expect.objectContaining({ code: "migration_missing" }));
  });
});

describe("migration file", () => {
  it("the checksum of a file does not depend on the line ends of the checkout", () => {
    expect(make(1, "a\r\nb\r\n").sha256).toBe(make(1, "a\nb\n").sha256);
    expect(make(1, "a\nb\n").sha256).not.toBe(make(1, "a\nc\n").sha256);
  });

  it("a file runs in a transaction unless its first line is -- no-transaction", () => {
    expect(make(1, "create table a ();\n-- no-transaction").transactional).toBe(true);
    expect(make(1, "-- no-transaction\ncreate index concurrently …").transactional).toBe(false);
  });

  it("the files of this package have no gap", () => {
    const own = readMigrations();
    expect(planMigrations(own, []).map(migrationLabel)).toEqual(own.map(migrationLabel));
    expect(own.length).toBeGreaterThan(0);
  });
});
