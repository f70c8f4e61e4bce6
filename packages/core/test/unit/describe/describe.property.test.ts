import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileCron } from "../../../src/cron/compile.js";
import { describeCron } from "../../../src/describe/describe-cron.js";
import { CarillonError } from "../../../src/errors/carillon-error.js";

const within = (min: number, max: number) => fc.integer({ min, max });
/** A field of the dialect: a star, steps, values, ranges, and lists of them. */
function field(min: number, max: number, special: string[] = []): fc.Arbitrary<string> {
  const step = within(1, max);
  const range = fc.tuple(within(min, max), within(min, max)).map((pair) => `${Math.min(...pair)}-${Math.max(...pair)}`);
  const part = fc.oneof(
    within(min, max).map(String),
    range,
    step.map((n) => `*/${n}`),
    fc.tuple(range, step).map(([text, n]) => `${text}/${n}`),
    fc.tuple(within(min, max), step).map(([from, n]) => `${from}/${n}`),
    ...(special.length > 0 ? [fc.constantFrom(...special)] : []),
  );
  return fc.oneof(
    fc.constant("*"),
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(",")),
  );
}
const expression = fc
  .tuple(
    fc.option(field(0, 59), { nil: undefined }),
    field(0, 59),
    field(0, 23),
    field(1, 31, ["L", "L-2", "LW", "L-3W", "15W", "1W"]),
    field(1, 12),
    field(0, 7, ["MON#1", "FRI#5", "5L", "0L", "MON-FRI#1", "FRI#2-3", "1-5L", "SAT#L"]),
  )
  .map((fields) => fields.filter((text) => text !== undefined).join(" "));

/** The description, or the code of the refusal; any other error fails the test. */
function describeOrRefuse(cron: string): string {
  try {
    return describeCron({ cron });
  } catch (error) {
    if (error instanceof CarillonError) return error.code;
    throw error;
  }
}

describe("descriptions", () => {
  it("describes every valid expression, without holes", () => {
    fc.assert(
      fc.property(expression, (cron) => {
        const words = describeOrRefuse(cron);
        expect(words).toMatch(/^(Every|At) [ ,:\w]+$|^cron_never_fires$/);
        expect(words).not.toMatch(/undefined|NaN|null| {2}|, ?,|and and|\bof$|\bon$/);
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuses any other text, without a crash", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        expect(describeOrRefuse(text)).toMatch(/^(Every|At) |^cron_/);
      }),
      { numRuns: 1_000 },
    );
  });

  it("the description of a fixed-time expression lists exactly its fires", () => {
    const values = (max: number) =>
      fc.uniqueArray(within(0, max), { minLength: 1, maxLength: 2 }).map((list) => list.join(","));
    fc.assert(
      fc.property(values(59), values(59), values(23), (second, minute, hour) => {
        const cron = `${second} ${minute} ${hour} * * *`;
        const listed = describeCron({ cron }).match(/\d\d:\d\d(:\d\d)?/g) ?? [];
        const compiled = compileCron(cron);
        const start = Date.UTC(2026, 0, 1);
        const fired: string[] = [];
        for (let fire = compiled.next(start - 1); fire < start + 86_400_000; fire = compiled.next(fire)) {
          fired.push(new Date(fire).toISOString().slice(11, 19));
        }
        expect(listed.map((time) => (time.length === 5 ? `${time}:00` : time))).toEqual(fired);
      }),
    );
  });
});
