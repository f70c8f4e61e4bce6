import { TimingWheel } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedModel } from "./sorted-model.js";

const day = 86_400_000;

/** Mostly near, sometimes far, sometimes past, so that timers cross levels, slots and the current tick. */
const offsets = fc.oneof(
  fc.integer({ min: -2_000, max: 2_000 }),
  fc.integer({ min: -70_000, max: 70_000 }),
  fc.constantFrom(0, 1, 255, 256, 257, 65_535, 65_536, 65_537, 16_777_216),
  fc.integer({ min: 0, max: 400 * day }),
);

const operations = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("insert" as const), by: offsets }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("cancel" as const), by: fc.nat(200) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("advance" as const), by: offsets, max: fc.option(fc.nat(5)) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("advance to next" as const), by: fc.constant(0) }) },
  ),
  { maxLength: 150, size: "max" },
);

describe("TimingWheel", () => {
  it.each([1, 7, 50])("a timing wheel with ticks of %d ms behaves like a sorted array", (tickMs) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 41 }), operations, (startMs, steps) => {
        const wheel = new TimingWheel<number>({ startMs, tickMs });
        const model = new SortedModel<number>(tickMs);
        const handles: { wheel: number; model: number }[] = [];
        const seen: { wheel: unknown[]; model: unknown[] } = { wheel: [], model: [] };
        let nowMs = startMs;
        for (const [item, step] of steps.entries()) {
          if (step.do === "insert") {
            const due = nowMs + step.by;
            handles.push({ wheel: wheel.insert(due, item), model: model.insert(due, item) });
          } else if (step.do === "cancel") {
            const handle = handles[step.by % Math.max(1, handles.length)] ?? { wheel: -1, model: -1 };
            seen.wheel.push(wheel.cancel(handle.wheel));
            seen.model.push(model.cancel(handle.model));
          } else {
            nowMs = step.do === "advance" ? nowMs + step.by : Math.max(nowMs, wheel.nextDue());
            const max = step.do === "advance" ? (step.max ?? undefined) : undefined;
            seen.wheel.push(wheel.advance(nowMs, max));
            seen.model.push(model.advance(nowMs, max));
          }
          seen.wheel.push(wheel.size, isLowerBound(wheel.nextDue(), model.nextDue()));
          seen.model.push(model.size, true);
        }
        seen.wheel.push(wheel.advance(Number.MAX_SAFE_INTEGER), wheel.nextDue());
        seen.model.push(model.advance(Number.MAX_SAFE_INTEGER), -1);
        expect(seen.wheel).toEqual(seen.model);
      }),
      { numRuns: 200 },
    );
  });

  it("returns timers of the same millisecond in the order of insertion, on any path through the levels", () => {
    const wheel = new TimingWheel<string>({ startMs: 0 });
    wheel.insert(100_000, "a");
    wheel.advance(99_000);
    wheel.insert(100_000, "b");
    wheel.advance(99_990);
    wheel.insert(100_000, "c");
    expect(wheel.advance(100_000)).toEqual(["a", "b", "c"]);
  });

  it("returns timers of the past immediately, oldest first", () => {
    const wheel = new TimingWheel<number>({ startMs: 1_000 });
    for (const due of [1_500, 900, 300, 600, -5]) wheel.insert(due, due);
    expect(wheel.advance(1_000)).toEqual([-5, 300, 600, 900]);
    expect(wheel.size).toBe(1);
  });

  it("returns no timer early and none twice when the clock steps back [INV-9]", () => {
    const wheel = new TimingWheel<string>({ startMs: 10_000 });
    wheel.insert(20_000, "later");
    wheel.insert(10_500, "soon");
    expect(wheel.advance(11_000)).toEqual(["soon"]);
    wheel.insert(5_000, "past");
    wheel.insert(10_600, "past too");
    expect(wheel.advance(4_000)).toEqual([]);
    expect(wheel.advance(5_000)).toEqual(["past"]);
    expect(wheel.advance(10_599)).toEqual([]);
    expect(wheel.advance(20_000)).toEqual(["past too", "later"]);
  });

  it("keeps the order and the times of timers after the correction of a clock that was a year ahead", () => {
    const wheel = new TimingWheel<string>({ startMs: 1_000_000 });
    wheel.insert(1_000_000 + 500 * day, "far");
    expect(wheel.advance(1_000_000 + 365 * day)).toEqual([]);
    for (const [item, due] of [
      ["c", 1_003_000],
      ["a", 1_001_000],
      ["d", 1_003_000],
      ["b", 1_002_000],
    ] as const) {
      wheel.insert(due, item);
    }
    expect(wheel.advance(1_000_500)).toEqual([]);
    expect(wheel.nextDue()).toBeLessThanOrEqual(1_001_000);
    wheel.insert(1_003_000, "e");
    expect(wheel.advance(1_002_999)).toEqual(["a", "b"]);
    expect(wheel.advance(1_003_000)).toEqual(["c", "d", "e"]);
    expect(wheel.advance(1_000_000 + 500 * day)).toEqual(["far"]);
  });

  it.each([0, -1, 0.5, Number.NaN])("refuses a timing wheel with ticks of %d ms", (tickMs) => {
    expect(() => new TimingWheel({ startMs: 0, tickMs })).toThrow(RangeError);
  });

  it("returns no timers when it advances to a time that is not a number", () => {
    const wheel = new TimingWheel<string>({ startMs: 1_000 });
    wheel.insert(5_000, "ahead");
    wheel.insert(10, "past");
    expect(wheel.advance(Number.NaN)).toEqual([]);
    expect(() => wheel.insert(Number.NaN, "never")).toThrow(RangeError);
    expect(() => wheel.insert(Number.POSITIVE_INFINITY, "never")).toThrow(RangeError);
    expect(wheel.size).toBe(2);
  });

  it("nextDue is exact within 256 ticks and takes a few steps from any distance", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 42 }), fc.integer({ min: 0, max: 2 ** 42 }), (startMs, ahead) => {
        const wheel = new TimingWheel<string>({ startMs });
        wheel.insert(startMs + ahead, "it");
        let looks = 0;
        while (wheel.nextDue() !== startMs + ahead) {
          expect(wheel.nextDue()).toBeLessThan(startMs + ahead);
          expect(wheel.advance(wheel.nextDue())).toEqual([]);
          expect(++looks).toBeLessThan(7);
        }
        expect(wheel.advance(startMs + ahead - 1)).toEqual([]);
        expect(wheel.advance(startMs + ahead)).toEqual(["it"]);
      }),
    );
  });

  it("refuses the handle of a removed timer whose index is in use again", () => {
    const wheel = new TimingWheel<string>({ startMs: 0 });
    const first = wheel.insert(10, "first");
    expect(wheel.cancel(first)).toBe(true);
    const second = wheel.insert(20, "second");
    expect(wheel.cancel(first)).toBe(false);
    expect(wheel.advance(20)).toEqual(["second"]);
    expect(wheel.cancel(second)).toBe(false);
    expect(wheel.cancel(-1)).toBe(false);
    expect(wheel.cancel(0.5)).toBe(false);
    expect(wheel.cancel(12_345)).toBe(false);
  });

  it("leaves timers beyond the maximum for the next advance, in order, even if the clock stepped back", () => {
    const wheel = new TimingWheel<number>({ startMs: 0 });
    for (let item = 0; item < 10; item++) wheel.insert(500 + (item >> 2), item);
    expect(wheel.advance(1_000, 3)).toEqual([0, 1, 2]);
    expect(wheel.nextDue()).toBe(500);
    expect(wheel.advance(400, 3)).toEqual([]);
    expect(wheel.advance(501, 3)).toEqual([3, 4, 5]);
    expect(wheel.advance(1_000, 0)).toEqual([]);
    expect(wheel.advance(1_000)).toEqual([6, 7, 8, 9]);
  });

  it("returns a hundred thousand timers of one instant in order", () => {
    const wheel = new TimingWheel<number>({ startMs: 5 });
    for (let item = 0; item < 100_000; item++) wheel.insert(3_600_000, item);
    expect(wheel.advance(3_599_999)).toEqual([]);
    const due = wheel.advance(3_600_000);
    expect(due).toHaveLength(100_000);
    expect(due.every((item, index) => item === index)).toBe(true);
  });
});

function isLowerBound(bound: number, exact: number): boolean {
  return exact === -1 ? bound === -1 : bound !== -1 && bound <= exact;
}
