import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { segmentsOf, splitStatements } from "../../../src/sql/sql-text.js";

const kinds = (sql: string): string[] => segmentsOf(sql).map(({ kind, text }) => `${kind}:${text}`);

describe("segmentsOf", () => {
  it("returns segments that are the whole text when joined", () => {
    const pieces = fc.constantFrom("'", '"', "--", "\n", "/*", "*/", "$$", "$a$", "e'", "\\", "x", ";", "''", "a$$");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const sql = parts.join("");
        expect(
          segmentsOf(sql)
            .map(({ text }) => text)
            .join(""),
        ).toBe(sql);
      }),
    );
  });

  it("ends a literal at its closing quote, not at a doubled one", () => {
    expect(kinds("a 'it''s' b")).toEqual(["code:a ", "string:'it''s'", "code: b"]);
  });

  it("lets a backslash escape a quote only in an E literal", () => {
    expect(kinds("E'a\\'b' c")).toEqual(["code:E", "string:'a\\'b'", "code: c"]);
    expect(kinds("'a\\' c")).toEqual(["string:'a\\'", "code: c"]);
    expect(kinds("type'a\\' c")).toEqual(["code:type", "string:'a\\'", "code: c"]);
  });

  it("nests block comments", () => {
    expect(kinds("/* a /* b */ c */ d")).toEqual(["comment:/* a /* b */ c */", "code: d"]);
  });

  it("ends a line comment at the end of its line", () => {
    expect(kinds("-- it's\na")).toEqual(["comment:-- it's\n", "code:a"]);
  });

  it("matches a dollar quote by its tag", () => {
    expect(kinds("$f$ a $$ ' $g$ $f$ b")).toEqual(["dollar:$f$ a $$ ' $g$ $f$", "code: b"]);
  });

  it("finds no dollar quote in a parameter or inside a name", () => {
    expect(kinds("select $1, a$b$c, $2")).toEqual(["code:select $1, a$b$c, $2"]);
  });
});

describe("splitStatements", () => {
  it("cuts at semicolons in code only", () => {
    const sql = "select ';' as \"a;b\"; -- not; here\ncreate function f() as $$ a; b; $$;\n/* x; */ select 1";
    expect(splitStatements(sql)).toEqual([
      "select ';' as \"a;b\"",
      "-- not; here\ncreate function f() as $$ a; b; $$",
      "/* x; */ select 1",
    ]);
  });

  it("returns no statement for comments alone", () => {
    expect(splitStatements("-- no-transaction\n;; /* nothing */ ;\n")).toEqual([]);
  });
});
