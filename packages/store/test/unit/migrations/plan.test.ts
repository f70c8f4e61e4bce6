import { describe, expect, it } from "vitest";
import {
  migrationLabel,
  readMigrations,
  toMigration,
  type Migration,
} from "../../../src/migrations/migration-files.js";
import { planMigrations } from "../../../src/migrations/plan.js";

const make = (number: number, content = `create table t${number} ();`): Migration =>
  toMigration(number, `step_${number}`, content);
const files = [make(1), make(2), make(3)];

describe("planMigrations", () => {
  it("runs everything on a new schema, in order", () => {
    expect(planMigrations(files, [])).toEqual(files);
  });

  it("runs what is left, and nothing when nothing is", () => {
    expect(planMigrations(files, files.slice(0, 2))).toEqual([files[2]]);
    expect(planMigrations(files, files)).toEqual([]);
  });

  it("refuses a schema newer than the files, naming both", () => {
    expect(() => planMigrations(files, [...files, make(4)])).toThrow(
      expect.objectContaining({ code: "schema_too_new", message: expect.stringMatching(/0004_step_4.*up to 3/) }),
    );
  });

  it("refuses a file that changed after it was run", () => {
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

describe("migration files", () => {
  it("have one checksum whatever the line ends of the checkout", () => {
    expect(make(1, "a\r\nb\r\n").sha256).toBe(make(1, "a\nb\n").sha256);
    expect(make(1, "a\nb\n").sha256).not.toBe(make(1, "a\nc\n").sha256);
  });

  it("run in a transaction unless their first line says otherwise", () => {
    expect(make(1, "create table a ();\n-- no-transaction").transactional).toBe(true);
    expect(make(1, "-- no-transaction\ncreate index concurrently …").transactional).toBe(false);
  });

  it("of this package plan without complaint", () => {
    const own = readMigrations();
    expect(planMigrations(own, []).map(migrationLabel)).toEqual(own.map(migrationLabel));
    expect(own.length).toBeGreaterThan(0);
  });
});
