import { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { assertSchemaName, qualify, quotedSchema } from "../../../src/sql/sql-text.js";

describe("schema names", () => {
  it.each(["carillon", "_x", "a1_b2", "a".repeat(63)])("allows %s", (name) => {
    expect(quotedSchema(name)).toBe(`"${name}"`);
  });

  it.each(["", "Carillon", "1a", "a-b", 'a"b', "a.b", "a".repeat(64), "pg_x", "a b", "a\n"])("refuses %j", (name) => {
    expect(() => assertSchemaName(name)).toThrow(CarillonError);
  });
});

describe("qualify", () => {
  it("puts the configured schema in place of carillon, quoted", () => {
    expect(qualify("select * from carillon.run r join carillon.job on (carillon.f(r))", "other")).toBe(
      'select * from "other".run r join "other".job on ("other".f(r))',
    );
  });

  it("leaves other names that contain carillon alone", () => {
    const sql = "select my_carillon.a, x.carillon.b, carillons.c, carillon from carillon_x.d";
    expect(qualify(sql, "other")).toBe(sql);
  });

  it("leaves literals, quoted identifiers and comments alone", () => {
    const sql = "select 'carillon.run', \"carillon.run\" -- carillon.run\n/* carillon.run */";
    expect(qualify(sql, "other")).toBe(sql);
  });

  it("rewrites the code of a function but not its literals", () => {
    expect(qualify("create function carillon.f() as $$ select 'carillon.x' from carillon.run $$", "other")).toBe(
      'create function "other".f() as $$ select \'carillon.x\' from "other".run $$',
    );
  });
});
