import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bigintArray,
  namedColumns,
  float8Array,
  intArray,
  smallintArray,
  uuidArray,
} from "../../../../../store/src/db/parameters.js";
import { type StoreHarness, storeHarness } from "../../../harness/store-harness.js";

let harness: StoreHarness;

beforeAll(async () => {
  harness = await storeHarness();
});

afterAll(() => harness.close());

type Row = readonly [text: string | null, number: number | null, truth: boolean | null];

const statement = {
  text: "select t, n, b from unnest($1::text[], $2::float8[], $3::bool[]) with ordinality as i (t, n, b, at) order by at",
};

async function sent(rows: readonly Row[]): Promise<unknown[]> {
  const byName = namedColumns(rows, { texts: (row) => row[0], numbers: (row) => row[1], truths: (row) => row[2] });
  const values = Object.values(byName);
  const answer = await harness.db.query<{ t: unknown; n: unknown; b: unknown }>(statement, values);
  return answer.rows.map(({ t, n, b }) => [t, n, b]);
}

describe("columns as parameters", () => {
  it("arrive unchanged, also texts with characters of the syntax", async () => {
    const texts = [
      "",
      " ",
      "null",
      "NULL",
      "{}",
      "a,b",
      '"',
      "\\",
      '\\"',
      '{"a": [1, "\\n"]}',
      "é ☃ 𝄞",
      "a'b",
      "\n",
      null,
    ];
    const rows = texts.map((text, index): Row => [
      text,
      index % 2 === 0 ? index / 3 : null,
      index % 3 === 0 ? null : true,
    ]);
    expect(await sent(rows)).toEqual(rows);
  });

  it("arrive unchanged for arbitrary values", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => value.replaceAll("\0", ""));
    const row = fc.tuple(fc.option(text), fc.option(fc.double({ noNaN: true })), fc.option(fc.boolean()));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        expect(await sent(rows)).toEqual(rows.map(([t, n, b]) => [t, n === null ? null : n + 0, b]));
      }),
      { numRuns: 50 },
    );
  });

  it("may be empty", async () => {
    expect(await sent([])).toEqual([]);
  });
});

type Binary = readonly [id: string, big: number, double: number, int: number, small: number];

const binary = {
  text: `select u, g, f, n, s
         from unnest($1::uuid[], $2::bigint[], $3::float8[], $4::int[], $5::smallint[]) with ordinality as i (u, g, f, n, s, at)
         order by at`,
};

async function sentBinary(rows: readonly Binary[]): Promise<unknown[]> {
  const values = [
    uuidArray(rows.map((row) => row[0])),
    bigintArray(rows.map((row) => row[1])),
    float8Array(rows.map((row) => row[2])),
    intArray(rows.map((row) => row[3])),
    smallintArray(rows.map((row) => row[4])),
  ];
  const answer = await harness.db.query<{ u: string; g: number; f: number; n: number; s: number }>(binary, values);
  return answer.rows.map(({ u, g, f, n, s }) => [u, g, f, n, s]);
}

describe("arrays in PostgreSQL's binary form", () => {
  it("arrive unchanged for arbitrary values", async () => {
    const row = fc.tuple(
      fc.uuid(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true }).map((value) => value + 0),
      fc.integer(),
      fc.integer({ min: -32_768, max: 32_767 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
        expect(await sentBinary(rows)).toEqual(rows);
      }),
      { numRuns: 50 },
    );
  });

  it("may repeat an id, write it in capitals, be empty", async () => {
    const id = "0190c8a5-7e3b-7c1d-9f00-abcdefabcdef";
    const rows = [id, id, id.toUpperCase(), id].map((one): Binary => [one, -1, 0.5, -2_147_483_648, -32_768]);
    expect(await sentBinary(rows)).toEqual(rows.map(([one, ...rest]) => [one.toLowerCase(), ...rest]));
    expect(await sentBinary([])).toEqual([]);
  });

  it("refuse a value that is no uuid before anything is sent", () => {
    for (const id of ["", "x", "0190c8a5-7e3b-7c1d-9f00-abcdefabcdeg", "0190c8a5-7e3b-7c1d-9f00-abcdefabcdef0"]) {
      expect(() => uuidArray([id])).toThrow(`not a uuid: ${id}`);
    }
  });
});
