import * as fc from "fast-check";
import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { backoffMs, pause } from "../../../src/db/health.js";

describe("backoffMs", () => {
  it("doubles up to 1 s, and spreads over the upper half", () => {
    expect([1, 2, 3].map((attempt) => backoffMs(attempt, () => 0))).toEqual([25, 50, 100]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (n, r) => {
          const delay = backoffMs(n, () => r);
          expect(delay).toBeGreaterThanOrEqual(25);
          expect(delay).toBeLessThanOrEqual(1_000);
          expect(delay).toBeLessThanOrEqual(2 * backoffMs(n, () => 0));
        },
      ),
    );
  });
});

describe("pause", () => {
  it("ends early when the signal fires, and leaves no timer", async () => {
    const time = new ManualClock();
    const stop = new AbortController();
    const waiting = pause(1_000, time, stop.signal);
    expect(time.pending).toBe(1);
    stop.abort();
    await waiting;
    expect(time.pending).toBe(0);
  });

  it("resolves at once when the signal has fired before", async () => {
    const time = new ManualClock();
    await pause(1_000, time, AbortSignal.abort());
    expect(time.pending).toBe(0);
  });
});
