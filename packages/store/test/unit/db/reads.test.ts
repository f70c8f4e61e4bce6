import { describe, expect, it } from "vitest";
import { isRead } from "../../../src/db/queryable.js";
import { makeStatements, readStatementSources } from "../../../src/sql/statements.js";

describe("isRead", () => {
  const sources = readStatementSources();
  const statements = makeStatements(sources, "other_schema");

  it("takes every statement for a read whose fence says so", () => {
    const reads = sources.filter(({ header }) => header.get("fence")?.startsWith("none, a read"));
    expect(reads.filter(({ name }) => !isRead(statements.get(name))).map(({ name }) => name)).toEqual([]);
    expect(reads.length).toBeGreaterThan(100);
  });

  it("takes no statement for a read that calls a function of the schema which writes", () => {
    const called = sources
      .filter(({ name }) => isRead(statements.get(name)))
      .flatMap(({ text }) => [...text.matchAll(/carillon\.(\w+)\(/g)].map(([, name]) => name));
    expect(called).toEqual(["refuse_ended"]);
  });

  it.each([
    "select 1",
    "select * from t for update",
    "select * from t for no key update of t",
    "select 'delete from t'",
    "begin",
    "rollback",
  ])("takes %s for a read", (text) => expect(isRead({ text })).toBe(true));

  it.each([
    "insert into t values (1)",
    "with a as (delete from t returning id) select id from a",
    "create table t ()",
    'select "s".enqueue()',
  ])("takes %s for a write", (text) => expect(isRead({ text })).toBe(false));
});
