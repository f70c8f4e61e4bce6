import * as fc from "fast-check";
import { types } from "pg";
import { describe, expect, it } from "vitest";
import { jsonParam, timestampParam } from "../../../src/db/parameters.js";
import { parseBigint, parseTimestamp, queryTypes } from "../../../src/db/parsers.js";

const parse = (oid: number, text: string): unknown => {
  const parser: (value: string) => unknown = queryTypes.getTypeParser(oid, "text") as never;
  return parser(text);
};

describe("parseTimestamp", () => {
  it.each([
    ["2026-11-12 08:30:00+00", "2026-11-12T08:30:00.000Z"],
    ["2026-11-12 08:30:00.1+00", "2026-11-12T08:30:00.100Z"],
    ["2026-11-12 08:30:00.123456+00", "2026-11-12T08:30:00.123Z"],
    ["2026-11-12 08:30:00.123999+05:30", "2026-11-12T03:00:00.123Z"],
    ["2026-11-12 08:30:00-08", "2026-11-12T16:30:00.000Z"],
    ["1890-01-01 00:00:00+00:53:28", "1889-12-31T23:06:32.000Z"],
    ["0050-03-01 00:00:00+00", "0050-03-01T00:00:00.000Z"],
    ["0001-01-01 00:00:00+00 BC", "0000-01-01T00:00:00.000Z"],
    ["12026-11-12 08:30:00+00", "+012026-11-12T08:30:00.000Z"],
    ["1969-12-31 23:59:59.9999+00", "1969-12-31T23:59:59.999Z"],
    ["2026-02-03 04:05:06.07+00", "2026-02-03T04:05:06.070Z"],
    ["0100-01-01 00:00:00+00", "0100-01-01T00:00:00.000Z"],
  ])("reads %s as %s", (text, iso) => {
    expect(new Date(parseTimestamp(text)).toISOString()).toBe(iso);
  });

  it("reads both infinities", () => {
    expect(parseTimestamp("infinity")).toBe(Number.POSITIVE_INFINITY);
    expect(parseTimestamp("-infinity")).toBe(Number.NEGATIVE_INFINITY);
  });

  it.each(["11/12/2026 08:30:00 UTC", "2026-11-12 08:30:00", ""])("refuses %j", (text) => {
    expect(() => parseTimestamp(text)).toThrow(/DateStyle/);
  });

  it("reads back what timestampParam writes", () => {
    const instant = Date.UTC(2026, 10, 12, 8, 30, 0, 123);
    for (const one of [instant, instant, instant + 1, 0])
      expect(parseTimestamp(timestampParam(one).replace("T", " ").replace("Z", "+00"))).toBe(one);
  });

  it("gets whole milliseconds from timestampParam, rounded towards 1970 as a Date does", () => {
    const instants = [1_763_000_000_000.9, 1_763_000_000_000.1, 1_763_000_000_001, -0.5, -1.5];
    for (const one of instants) expect(timestampParam(one)).toBe(new Date(one).toISOString());
  });

  it("reads an instant of UTC as it reads the same instant of another zone", () => {
    const anywhere = fc.date({ min: new Date(0), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true });
    fc.assert(
      fc.property(anywhere, fc.integer({ min: 0, max: 6 }), (date, digits) => {
        const [seconds = "", fraction = ""] = date.toISOString().replace("T", " ").replace("Z", "").split(".");
        const text = digits === 0 ? seconds : `${seconds}.${fraction.padEnd(6, "9").slice(0, digits)}`;
        expect(parseTimestamp(`${text}+00`)).toBe(parseTimestamp(`${text}+01`) + 3_600_000);
      }),
    );
  });
});

describe("parsers of query results", () => {
  it("refuses an int8 that a number cannot hold", () => {
    expect(parseBigint("9007199254740991")).toBe(9007199254740991);
    expect(() => parseBigint("9007199254740992")).toThrow(RangeError);
    expect(() => parseBigint("-9007199254740992")).toThrow(RangeError);
  });

  it.each([
    [16, "t", true],
    [16, "f", false],
    [20, "42", 42],
    [1016, "{1,NULL,-3}", [1, null, -3]],
    [1016, "{}", []],
    [1185, '{"2026-11-12 08:30:00+00",NULL}', [Date.UTC(2026, 10, 12, 8, 30), null]],
    [3802, '{"a":[1]}', { a: [1] }],
    [114, "null", null],
    [1082, "2026-11-12", "2026-11-12"],
    [1700, "1.50", "1.50"],
    [25, "text", "text"],
  ])("reads type %i: %s", (oid, text, value) => {
    expect(parse(oid, text)).toEqual(value);
  });

  it("leaves the process-wide parsers of pg alone", () => {
    expect(types.getTypeParser(types.builtins.INT8)("42")).toBe("42");
    expect(types.getTypeParser(types.builtins.TIMESTAMPTZ)("2026-11-12 08:30:00+00")).toBeInstanceOf(Date);
  });

  it("stringifies an array for json, which pg would send as a PostgreSQL array", () => {
    expect(jsonParam([1, "a"])).toBe('[1,"a"]');
  });

  it("replaces only the characters that jsonb refuses", () => {
    const odd = {
      nul: "a\u0000b",
      high: "\ud800",
      low: "x\udfff",
      pair: "😀",
      tab: "\t",
      escaped: "\\u0000",
      quoted: "\\\u0000",
    };
    const kept = { pair: "😀", tab: "\t", escaped: "\\u0000" };
    const replaced = { nul: "a\ufffdb", high: "\ufffd", low: "x\ufffd", quoted: "\\\ufffd" };
    expect(JSON.parse(jsonParam(odd))).toEqual({ ...kept, ...replaced });
  });
});
