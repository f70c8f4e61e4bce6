import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import {
  lowestRanks,
  lowestRanksByTime,
  readLaneNotice,
  readTimedNotice,
  type TimedLaneNotice,
  TimedWakeups,
  writeNotices,
} from "../../../src/wakeups/lane-notices.js";

const start = Date.UTC(2026, 5, 1, 12);

const setUp = () => {
  const clock = new ManualClock(start);
  const delivered: { afterMs: number; ranks: number[] }[] = [];
  const wakeups = new TimedWakeups({
    timers: clock,
    now: () => clock.now(),
    onDue: (due) => delivered.push({ afterMs: clock.now() - start, ranks: due.map(({ rank }) => rank) }),
  });
  return { clock, delivered, wakeups };
};
const notice = (rank: number, afterMs: number): TimedLaneNotice => ({
  lane: 1,
  rank,
  namespaceId: 1,
  at: start + afterMs,
});

describe("notices of runs that are queued ahead of their time", () => {
  it("are delivered at that time in any order of arrival, and once more 20 ms later", () => {
    const { clock, delivered, wakeups } = setUp();
    wakeups.add([notice(2, 700), notice(1, 500)]);
    clock.advance(499);
    expect(delivered).toEqual([]);
    clock.advance(1);
    expect(delivered).toEqual([{ afterMs: 500, ranks: [1] }]);
    clock.advance(1_000);
    expect(delivered.slice(1)).toEqual([
      { afterMs: 520, ranks: [1] },
      { afterMs: 700, ranks: [2] },
      { afterMs: 720, ranks: [2] },
    ]);
    expect(clock.pending).toBe(0);
  });

  it("are delivered at once when their time has passed", () => {
    const { delivered, wakeups } = setUp();
    wakeups.add([notice(1, -5)]);
    expect(delivered).toEqual([{ afterMs: 0, ranks: [1] }]);
  });

  it("of times that follow closely share the second delivery", () => {
    const { clock, delivered, wakeups } = setUp();
    wakeups.add([notice(1, 100), notice(2, 105), notice(3, 110)]);
    clock.advance(1_000);
    expect(delivered.map(({ afterMs }) => afterMs)).toEqual([100, 105, 110, 120]);
    expect(delivered.at(-1)?.ranks).toEqual([1, 2, 3]);
  });

  it("of an earlier time than the others are delivered at that time", () => {
    const { clock, delivered, wakeups } = setUp();
    wakeups.add([notice(1, 900)]);
    wakeups.add([notice(2, 300)]);
    clock.advance(300);
    expect(delivered).toEqual([{ afterMs: 300, ranks: [2] }]);
  });

  it("are not delivered after the node stopped", () => {
    const { clock, delivered, wakeups } = setUp();
    wakeups.add([notice(1, 100)]);
    wakeups.stop();
    clock.advance(1_000);
    expect(delivered).toEqual([]);
  });
});

describe("the notices of lanes that nodes exchange", () => {
  it("hold the lowest rank of each lane, namespace and time", () => {
    const run = (rank: number, lane: number, runAt: number) => ({ id: `${rank}`, lane, rank, namespaceId: 3, runAt });
    const notices = lowestRanksByTime([run(5, 1, 100), run(4, 1, 100), run(6, 2, 100), run(1, 1, 200)]);
    expect(notices.map(({ lane, rank, at }) => [lane, rank, at])).toEqual([
      [1, 4, 100],
      [2, 6, 100],
      [1, 1, 200],
    ]);
  });

  it("are read as they were written and fit into a NOTIFY", () => {
    const timed = Array.from({ length: 300 }, (_, index) => notice(Date.now() * 1_000 + index, 86_400_000 + index));
    const texts = writeNotices("timed", timed);
    expect(texts.every((text) => text.length < 8_000)).toBe(true);
    expect(texts.flatMap((text) => (text.split(" ")[1] ?? "").split(",").map(readTimedNotice))).toEqual(timed);
    const lanes = [
      { lane: 1, rank: -5 },
      { lane: 2, rank: 7, namespaceId: 4 },
    ];
    expect(writeNotices("lanes", lowestRanks(lanes))).toEqual(["lanes 1:-5,2:7:4"]);
    expect("1:-5,2:7:4".split(",").map(readLaneNotice)).toEqual(lanes);
  });
});
