import * as fc from "fast-check";
import { expect, it } from "vitest";
import { nextRoomAt, rateRoom, startsSince, withStarts } from "../../../src/limits/rate-window.js";

const perMs = 1_000;

it("a rate counts runs that were admitted and have not started in every window", () => {
  const state = { limit: 3, perMs, burst: 3, starts: [900, 1], unstarted: 1 };
  expect(rateRoom(state, 1_000)).toBe(1);
  expect(rateRoom({ ...state, unstarted: 3 }, 5_000)).toBe(0);
});

it("a rate admits no more runs that wait for a worker than its burst", () => {
  expect(rateRoom({ limit: 10, perMs, burst: 2, starts: [], unstarted: 1 }, 0)).toBe(1);
});

it("returns when time alone makes room for a rate, and null where only a start does", () => {
  const state = { limit: 2, perMs, burst: 2, starts: [100, 1, 300, 1], unstarted: 0 };
  expect(nextRoomAt(state, 500)).toBe(1_100);
  expect(nextRoomAt({ ...state, unstarted: 2 }, 500)).toBeNull();
  expect(nextRoomAt({ ...state, starts: [] }, 500)).toBe(500);
});

it("a rate remembers every start within its window, however many there are, in few pairs", () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 400 });
  fc.assert(
    fc.property(gaps, (steps) => {
      let now = 10_000;
      let starts: number[] = [];
      const begun: number[] = [];
      for (const step of steps) {
        now += step;
        begun.push(now);
        starts = withStarts(startsSince(starts, now - perMs), [now], perMs);
        const inWindow = begun.filter((at) => at > now - perMs).length;
        const counted = starts.reduce((sum, one, index) => sum + (index % 2) * one, 0);
        expect(counted).toBeGreaterThanOrEqual(inWindow);
        expect(starts.length).toBeLessThanOrEqual(2 * 130);
      }
    }),
  );
});

it("a rate takes any number of starts at once", () => {
  const added = Array.from({ length: 150_000 }, (_, index) => index % perMs);
  const starts = withStarts([], added, perMs);
  expect(starts.reduce((sum, one, index) => sum + (index % 2) * one, 0)).toBe(added.length);
});
