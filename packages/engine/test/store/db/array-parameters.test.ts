import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { columns } from "../../../src/store/entities/parameters.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

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
  const values = columns(rows, [(row) => row[0], (row) => row[1], (row) => row[2]]);
  const answer = await harness.db.query<{ t: unknown; n: unknown; b: unknown }>(statement, values);
  return answer.rows.map(({ t, n, b }) => [t, n, b]);
}

describe("columns as parameters", () => {
  it("arrive as they were, whatever text looks like syntax", async () => {
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

  it("arrive as they were, whatever they are", async () => {
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
