import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SampledOffsetTable } from "../../../src/zone/zone-offsets.js";

const DAY = 86_400;

interface Change {
  readonly at: number;
  readonly offset: number;
}

/** A zone made of changes, which counts the calls. */
function sourceOf(changes: readonly Change[], first = 3600) {
  const asked = { count: 0 };
  const source = (at: number) => {
    asked.count++;
    return changes.findLast((change) => change.at <= at)?.offset ?? first;
  };
  return { source, asked };
}

/** Changes more than six days apart, anywhere from 1810 to 2200, with jumps of up to a day. */
const changeLists = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 6 * DAY + 1, max: 900 * DAY }),
      offset: fc.integer({ min: -43_200, max: 43_200 }),
    }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .chain((steps) =>
    fc.integer({ min: -5_000_000_000, max: 5_000_000_000 }).map((start) => {
      let at = start;
      let offset = 3600;
      return steps.flatMap((step) => {
        at += step.gap;
        if (step.offset === offset) return [];
        offset = step.offset;
        return [{ at, offset }];
      });
    }),
  );

describe("a table filled by sampling", () => {
  it("finds every clock change to the second, for lookups in any order", () => {
    const property = fc.property(changeLists, fc.integer({ min: 0, max: 29 }), (changes, first) => {
      const { source } = sourceOf(changes);
      const table = new SampledOffsetTable(source);
      for (let turn = 0; turn < changes.length; turn++) {
        const index = (first + turn) % changes.length;
        const change = changes[index];
        if (change === undefined) continue;
        const before = table.spanAt(change.at - 1);
        const after = table.spanAt(change.at);
        const shift = change.offset - (changes[index - 1]?.offset ?? 3600);
        expect(before).toMatchObject({ end: change.at, offset: change.offset - shift, shiftOut: shift });
        expect(after).toMatchObject({ start: change.at, offset: change.offset, shiftIn: shift });
      }
    });
    fc.assert(property, { numRuns: 60 });
  });

  it("covers time without holes", () => {
    const { source } = sourceOf([
      { at: 1_000_000_000, offset: 7200 },
      { at: 1_010_000_000, offset: 3600 },
    ]);
    const table = new SampledOffsetTable(source);
    let at = 900_000_000;
    while (at < 1_300_000_000) {
      const span = table.spanAt(at);
      expect(span.start).toBeLessThanOrEqual(at);
      expect(span.end).toBeGreaterThan(at);
      expect(table.spanAt(span.end - 1)).toBe(span);
      at = span.end;
    }
  });

  it("does not read its source again for a cached block", () => {
    const { source, asked } = sourceOf([{ at: 1_000_000_000, offset: 7200 }]);
    const table = new SampledOffsetTable(source);
    table.spanAt(1_000_000_000);
    const before = asked.count;
    table.spanAt(1_000_000_001);
    expect(asked.count).toBe(before);
  });

  it("reads its source a bounded number of times for a lookup at any instant", () => {
    const { source, asked } = sourceOf([{ at: 1_000_000_000, offset: 7200 }]);
    const table = new SampledOffsetTable(source);
    for (const at of [-62_000_000_000, 0, 1_000_000_000, 4_000_000_000, 253_000_000_000]) {
      const before = asked.count;
      table.spanAt(at);
      expect(asked.count - before).toBeLessThanOrEqual(60);
    }
  });
});
