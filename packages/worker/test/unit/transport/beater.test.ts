import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { Beater } from "../../../src/transport/http/heart/beater.js";
import type { Poster } from "../../../src/transport/http/post.js";

/** A heart whose beats are noted by their times. */
function setUp({ idleEveryMs = 7_500 } = {}) {
  const clock = new ManualClock();
  const beats: number[] = [];
  const state = { isHolding: false, isAnswering: true, polls: 0 };
  const poster: Poster = {
    async post() {
      beats.push(clock.monotonic());
      if (!state.isAnswering) throw new Error("away");
      return { status: 200, text: `{"lost":[]}` };
    },
    close: () => undefined,
  };
  const beater = new Beater({
    urls: ["http://a"],
    path: "/beat",
    everyMs: 3_000,
    idleEveryMs,
    poster,
    timers: clock,
    isHolding: () => state.isHolding,
    polls: () => state.polls,
    lagMs: () => 0,
    onAcknowledged: () => undefined,
    onLost: () => undefined,
  });
  beater.start();
  return { clock, beats, state, beater };
}

it("a worker that has no runs gives signs of life seldom, one that has some often", async () => {
  const { clock, beats, state } = setUp();
  await clock.advanceAsync(15_000);
  expect(beats).toEqual([7_500, 15_000]);
  state.isHolding = true;
  await clock.advanceAsync(9_000);
  expect(beats.slice(2)).toEqual([18_000, 21_000, 24_000]);
  state.isHolding = false;
  await clock.advanceAsync(15_000);
  expect(beats.slice(5)).toEqual([31_500, 39_000]);
});

it.each([100, 2_999, 3_100, 6_100, 7_400])(
  "one that gets its first runs %d ms after a sign of life gives the next within the time of one that has some",
  async (afterMs) => {
    const { clock, beats, state } = setUp();
    await clock.advanceAsync(7_500 + afterMs);
    state.isHolding = true;
    await clock.advanceAsync(3_000);
    expect(beats.length).toBeGreaterThanOrEqual(2);
  },
);

it("one that nobody answered is tried again soon, with runs or without", async () => {
  const { clock, beats, state } = setUp();
  state.isAnswering = false;
  await clock.advanceAsync(10_500);
  state.isAnswering = true;
  await clock.advanceAsync(10_500);
  expect(beats).toEqual([7_500, 10_500, 13_500, 21_000]);
});

it("beats as often without runs as with some where the server asks for it", async () => {
  const { clock, beats, beater } = setUp({ idleEveryMs: 3_000 });
  await clock.advanceAsync(6_000);
  expect(beats).toEqual([3_000, 6_000]);
  beater.stop();
  await clock.advanceAsync(6_000);
  expect(beats.length).toBe(2);
});

it("a poll counts as a sign of life of a worker that has no runs, not of one that has some", async () => {
  const { clock, beats, state } = setUp();
  await clock.advanceAsync(5_000);
  state.polls++;
  await clock.advanceAsync(5_500);
  expect(beats).toEqual([10_500]);
  state.isHolding = true;
  state.polls++;
  await clock.advanceAsync(3_000);
  expect(beats).toEqual([10_500, 13_500]);
});
