import { ManualClock } from "@carillon/core";
import { expect, it } from "vitest";
import { HeartbeatLoop } from "../../../src/transport/http/heartbeat.js";
import type { Poster } from "../../../src/transport/http/server-calls.js";

/** A heartbeat loop over a server that records when heartbeats arrive. */
function setUp({ idleEveryMs = 7_500 } = {}) {
  const clock = new ManualClock();
  const sentAt: number[] = [];
  const state = { isHolding: false, isAnswering: true, answeredPolls: 0 };
  const poster: Poster = {
    async post() {
      sentAt.push(clock.monotonic());
      if (!state.isAnswering) throw new Error("away");
      return { status: 200, text: `{"lost":[]}` };
    },
    close: () => undefined,
  };
  const loop = new HeartbeatLoop({
    urls: ["http://a"],
    path: "/heartbeat",
    everyMs: 3_000,
    idleEveryMs,
    poster,
    timers: clock,
    isHolding: () => state.isHolding,
    answeredPolls: () => state.answeredPolls,
    lagMs: () => 0,
    onAcknowledged: () => undefined,
    onLost: () => undefined,
  });
  loop.start();
  return { clock, sentAt, state, loop };
}

it("sends heartbeats rarely while the worker holds no runs, and often while it holds some", async () => {
  const { clock, sentAt, state } = setUp();
  await clock.advanceAsync(15_000);
  expect(sentAt).toEqual([7_500, 15_000]);
  state.isHolding = true;
  await clock.advanceAsync(9_000);
  expect(sentAt.slice(2)).toEqual([18_000, 21_000, 24_000]);
  state.isHolding = false;
  await clock.advanceAsync(15_000);
  expect(sentAt.slice(5)).toEqual([31_500, 39_000]);
});

it.each([100, 2_999, 3_100, 6_100, 7_400])(
  "sends the next heartbeat within the normal interval when the first runs arrive %d ms after the last one",
  async (afterMs) => {
    const { clock, sentAt, state } = setUp();
    await clock.advanceAsync(7_500 + afterMs);
    state.isHolding = true;
    await clock.advanceAsync(3_000);
    expect(sentAt.length).toBeGreaterThanOrEqual(2);
  },
);

it("repeats a heartbeat that was not answered after the normal interval, also without runs", async () => {
  const { clock, sentAt, state } = setUp();
  state.isAnswering = false;
  await clock.advanceAsync(10_500);
  state.isAnswering = true;
  await clock.advanceAsync(10_500);
  expect(sentAt).toEqual([7_500, 10_500, 13_500, 21_000]);
});

it("sends heartbeats as often without runs as with runs when the server sets both intervals equal", async () => {
  const { clock, sentAt, loop } = setUp({ idleEveryMs: 3_000 });
  await clock.advanceAsync(6_000);
  expect(sentAt).toEqual([3_000, 6_000]);
  loop.stop();
  await clock.advanceAsync(6_000);
  expect(sentAt.length).toBe(2);
});

it("counts an answered poll as a heartbeat only while the worker holds no runs", async () => {
  const { clock, sentAt, state } = setUp();
  await clock.advanceAsync(5_000);
  state.answeredPolls++;
  await clock.advanceAsync(5_500);
  expect(sentAt).toEqual([10_500]);
  state.isHolding = true;
  state.answeredPolls++;
  await clock.advanceAsync(3_000);
  expect(sentAt).toEqual([10_500, 13_500]);
});
