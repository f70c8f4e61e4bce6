import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { byTime, lowestOf, textsOf, toLaneHint, toTimedHint } from "../../../src/wakeups/lane-notices.js";
import { type TimedHint, TimedHints } from "../../../src/wakeups/timed-wakeups.js";

const start = Date.UTC(2026, 5, 1, 12);

const setUp = () => {
  const clock = new ManualClock(start);
  const told: { afterMs: number; ranks: number[] }[] = [];
  const hints = new TimedHints({
    timers: clock,
    now: () => clock.now(),
    onDue: (due) => told.push({ afterMs: clock.now() - start, ranks: due.map(({ rank }) => rank) }),
  });
  return { clock, told, hints };
};
const hint = (rank: number, afterMs: number): TimedHint => ({ lane: 1, rank, namespaceId: 1, at: start + afterMs });

describe("hints of runs that are queued ahead of their time", () => {
  it("are told at that time, in whatever order they came, and once more shortly after", () => {
    const { clock, told, hints } = setUp();
    hints.add([hint(2, 700), hint(1, 500)]);
    clock.advance(499);
    expect(told).toEqual([]);
    clock.advance(1);
    expect(told).toEqual([{ afterMs: 500, ranks: [1] }]);
    clock.advance(1_000);
    expect(told.slice(1)).toEqual([
      { afterMs: 520, ranks: [1] },
      { afterMs: 700, ranks: [2] },
      { afterMs: 720, ranks: [2] },
    ]);
    expect(clock.pending).toBe(0);
  });

  it("are told at once when they come too late", () => {
    const { told, hints } = setUp();
    hints.add([hint(1, -5)]);
    expect(told).toEqual([{ afterMs: 0, ranks: [1] }]);
  });

  it("of times that follow closely share the second look", () => {
    const { clock, told, hints } = setUp();
    hints.add([hint(1, 100), hint(2, 105), hint(3, 110)]);
    clock.advance(1_000);
    expect(told.map(({ afterMs }) => afterMs)).toEqual([100, 105, 110, 120]);
    expect(told.at(-1)?.ranks).toEqual([1, 2, 3]);
  });

  it("of an earlier time than the others are told at theirs", () => {
    const { clock, told, hints } = setUp();
    hints.add([hint(1, 900)]);
    hints.add([hint(2, 300)]);
    clock.advance(300);
    expect(told).toEqual([{ afterMs: 300, ranks: [2] }]);
  });

  it("are told no more when the node stops", () => {
    const { clock, told, hints } = setUp();
    hints.add([hint(1, 100)]);
    hints.stop();
    clock.advance(1_000);
    expect(told).toEqual([]);
  });
});

describe("what nodes tell each other of lanes", () => {
  it("is the lowest rank of each lane, namespace and time", () => {
    const run = (rank: number, lane: number, runAt: number) => ({ id: `${rank}`, lane, rank, namespaceId: 3, runAt });
    const hints = byTime([run(5, 1, 100), run(4, 1, 100), run(6, 2, 100), run(1, 1, 200)]);
    expect(hints.map(({ lane, rank, at }) => [lane, rank, at])).toEqual([
      [1, 4, 100],
      [2, 6, 100],
      [1, 1, 200],
    ]);
  });

  it("is read as it was written, and fits into a notification", () => {
    const timed = Array.from({ length: 300 }, (_, index) => hint(Date.now() * 1_000 + index, 86_400_000 + index));
    const texts = textsOf("timed", timed);
    expect(texts.every((text) => text.length < 8_000)).toBe(true);
    expect(texts.flatMap((text) => (text.split(" ")[1] ?? "").split(",").map(toTimedHint))).toEqual(timed);
    const lanes = [
      { lane: 1, rank: -5 },
      { lane: 2, rank: 7, namespaceId: 4 },
    ];
    expect(textsOf("lanes", lowestOf(lanes))).toEqual(["lanes 1:-5,2:7:4"]);
    expect("1:-5,2:7:4".split(",").map(toLaneHint)).toEqual(lanes);
  });
});
