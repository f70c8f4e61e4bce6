import { describe, expect, it } from "vitest";
import {
  type Statements,
  collectSources,
  makeStatements,
  parseStatementFile,
  readStatementSources,
} from "../../../src/sql/statements.js";

const file = `-- What this file is about.

-- name: run.claim
-- purpose: takes queued runs
--          for one session
-- fence: none
select 1
-- a comment of the body
from carillon.run;

-- name: run.read
-- purpose: reads
select 2
`;

describe("parseStatementFile", () => {
  it("reads each statement with its header, without its semicolon", () => {
    const [claim, read] = parseStatementFile("run.sql", file).statements;
    expect(claim?.name).toBe("run.claim");
    expect(Object.fromEntries(claim?.header ?? [])).toEqual({
      purpose: "takes queued runs for one session",
      fence: "none",
    });
    expect(claim?.text).toBe("select 1\n-- a comment of the body\nfrom carillon.run");
    expect(read?.text).toBe("select 2");
  });

  it("refuses SQL that belongs to no statement", () => {
    expect(() => parseStatementFile("run.sql", "select 1;\n-- name: a.b\nselect 2")).toThrow(/before the first/);
  });
});

describe("the statements of this package", () => {
  const sources = readStatementSources();

  it("has statements", () => {
    expect(sources.length).toBeGreaterThan(0);
  });

  it.each(sources.map(({ name, header, text }) => [name, { header, text }] as const))(
    "%s has a purpose, a fence if it writes, only named parameters, and a name of the form entity.verb",
    (name, { header, text }) => {
      expect(name).toMatch(/^[a-z_]+\.[a-z_0-9]+$/);
      expect(header.get("purpose")).toMatch(/\S/);
      expect(/^\s*(insert|update|delete)\b/.test(text) && !header.has("fence")).toBe(false);
      expect(text).not.toMatch(/;\s*$|\$\d/);
    },
  );
});

describe("named parameters", () => {
  const statement = (text: string) =>
    makeStatements([{ name: "test.find", header: new Map(), text }], "one").get("test.find");

  it("are numbered in the order of their first appearance", () => {
    const found = statement("select :id::uuid, :from_ms where id = :id");
    expect(found.text).toBe("select $1::uuid, $2 where id = $1");
    expect(found.params).toEqual(["id", "from_ms"]);
  });

  it("take their values from an object with their names in camelCase", () => {
    expect(statement("select :id, :from_ms").values({ fromMs: 5, id: "a" })).toEqual(["a", 5]);
  });

  it("are not found in casts, slices, literals, identifiers and comments", () => {
    const text = `select a::int, b[1:2], c[d : e], ':f', ":g" -- :h`;
    expect(statement(text).text).toBe(text);
  });

  it("are refused beside numbered ones", () => {
    expect(() => statement("select :id, $1")).toThrow("both named and numbered");
  });
});

describe("makeStatements", () => {
  const from = (files: Record<string, string>, schema = "one"): Statements =>
    makeStatements(collectSources(new Map(Object.entries(files))), schema);

  it("makes the text and the prepared name for the configured schema", () => {
    const one = from({ "run.sql": file }).get("run.claim");
    const other = from({ "run.sql": file }, "other").get("run.claim");
    expect(one.text).toContain('from "one".run');
    expect(one.prepared).toMatch(/^run\.claim_[0-9a-f]{12}$/);
    expect(one.prepared).not.toBe(other.prepared);
  });

  it("keeps prepared names within the 63 bytes that PostgreSQL allows", () => {
    const name = `entity.${"x".repeat(80)}`;
    const statements = from({ "a.sql": `-- name: ${name}\n-- purpose: a\nselect 1` });
    expect(statements.get(name).prepared.length).toBeLessThanOrEqual(63);
  });

  it("throws for a name that no file has", () => {
    expect(() => from({ "run.sql": file }).get("run.claims")).toThrow(/run\.claims/);
  });

  it("refuses one name in two files", () => {
    expect(() => from({ "a.sql": file, "b.sql": file })).toThrow(/run\.claim is already in a\.sql/);
  });

  it("inserts a part into every statement that names it, with the indent of its line", () => {
    const part = "-- part: run.conditions\n-- purpose: which\nid = :id\nand true";
    const statement = "-- name: run.find\n-- purpose: finds\nselect 1\nwhere\n  --+ run.conditions\nlimit 1";
    const statements = from({ "a.sql": statement, "b.sql": part });
    expect(statements.names).toEqual(["run.find"]);
    expect(statements.get("run.find").text).toBe("select 1\nwhere\n  id = $1\n  and true\nlimit 1");
  });

  it("refuses a part that no file has", () => {
    expect(() => from({ "a.sql": "-- name: a.b\n-- purpose: x\nselect 1\n--+ a.c" })).toThrow(/a\.b has the part a\.c/);
  });

  it("refuses a statement without text", () => {
    expect(() => from({ "a.sql": "-- name: a.b\n-- purpose: x" })).toThrow(/a\.b is empty/);
  });
});
