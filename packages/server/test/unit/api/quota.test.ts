import { ManualClock } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallerQuota, type RateQuota } from "../../../src/api/http/quota.js";

function quotaOf(quota: RateQuota, maxCallers?: number) {
  const clock = new ManualClock();
  const options = { monotonic: () => clock.monotonic(), ...(maxCallers !== undefined && { maxCallers }) };
  const calls = new CallerQuota(quota, options);
  /** How many of so many requests are let in now. */
  const letIn = (count: number, caller = "a"): number =>
    Array.from({ length: count }, () => calls.take(caller)).filter(({ isWithin }) => isWithin).length;
  return { clock, calls, letIn };
}

const minute = { requests: 60, windowMs: 60_000 };

describe("the quota of a caller", () => {
  it("is there at once, and comes back evenly", () => {
    const { clock, letIn } = quotaOf(minute);
    expect(letIn(100)).toBe(60);
    clock.advance(999);
    expect(letIn(5)).toBe(0);
    clock.advance(1);
    expect(letIn(5)).toBe(1);
    clock.advance(10_000);
    expect(letIn(50)).toBe(10);
  });

  it("is never more than itself, however long the caller was silent", () => {
    const { clock, letIn } = quotaOf(minute);
    letIn(10);
    clock.advance(86_400_000);
    expect(letIn(100)).toBe(60);
  });

  it("says what is left and when there is more", () => {
    const { clock, calls } = quotaOf({ requests: 2, windowMs: 10_000 });
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 1, nextInMs: 5_000 });
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 0, nextInMs: 5_000 });
    clock.advance(2_000);
    expect(calls.take("a")).toEqual({ isWithin: false, remaining: 0, nextInMs: 3_000 });
    expect(calls.take("b")).toMatchObject({ isWithin: true, remaining: 1 });
    clock.advance(3_000);
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 0, nextInMs: 5_000 });
  });

  it("is not used by requests that were refused", () => {
    const { clock, letIn } = quotaOf({ requests: 1, windowMs: 1_000 });
    expect(letIn(1)).toBe(1);
    for (let turn = 0; turn < 9; turn++) {
      clock.advance(100);
      expect(letIn(10)).toBe(0);
    }
    clock.advance(100);
    expect(letIn(1)).toBe(1);
  });

  it("holds for any course of requests: in no stretch of time more than itself and what came back meanwhile", () => {
    const quotas = fc.record({
      requests: fc.integer({ min: 1, max: 300 }),
      seconds: fc.integer({ min: 1, max: 90 }),
    });
    const steps = fc.array(fc.record({ pauseMs: fc.nat(5_000), count: fc.nat(40) }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(quotas, steps, ({ requests, seconds }, course) => {
        const { clock, calls } = quotaOf({ requests, windowMs: seconds * 1_000 });
        const spacing = (seconds * 1_000) / requests;
        const admitted: number[] = [];
        let longestMs = 0;
        for (const { pauseMs, count } of course) {
          clock.advance(pauseMs);
          for (let sent = 0; sent < count; sent++) {
            const { isWithin, nextInMs } = calls.take("a");
            if (isWithin) admitted.push(clock.monotonic());
            longestMs = Math.max(longestMs, nextInMs);
          }
        }
        const excess = admitted.flatMap((from, first) =>
          admitted.slice(first).map((to, more) => more + 1 - requests - (to - from) / spacing),
        );
        expect(Math.max(0, ...excess)).toBeLessThan(1e-3);
        // Nobody is told to wait for longer than one request takes to come back.
        expect(longestMs).toBeLessThanOrEqual(spacing + 1e-2);
      }),
      { numRuns: 50 },
    );
  });

  it("lets in as many as it says, however small their spacing is", () => {
    const { clock, letIn } = quotaOf({ requests: 30_000, windowMs: 7_000 });
    clock.advance(1e9 + 0.123);
    expect(letIn(30_010)).toBe(30_000);
  });
});

describe("the memory of callers", () => {
  it("forgets those whose quota is whole again, a few at each request", () => {
    const { clock, calls } = quotaOf(minute);
    for (let n = 0; n < 1_000; n++) calls.take(`c${n}`);
    expect(calls.callers).toBe(1_000);
    clock.advance(1_000);
    for (let n = 0; n < 600; n++) calls.take("busy");
    expect(calls.callers).toBeLessThanOrEqual(2);
  });

  it("keeps what a caller has used until it is whole again", () => {
    const { clock, calls, letIn } = quotaOf(minute);
    letIn(60, "busy");
    clock.advance(30_000);
    for (let n = 0; n < 500; n++) calls.take(`c${n}`);
    expect(letIn(60, "busy")).toBe(30);
  });

  it("is bounded: callers beyond it share one quota, and those that it knows keep their own", () => {
    const { clock, calls, letIn } = quotaOf(minute, 100);
    for (let n = 0; n < 100; n++) calls.take(`c${n}`);
    let admitted = 0;
    for (let n = 0; n < 1_000; n++) admitted += letIn(1, `made up ${n}`);
    expect(admitted).toBe(60);
    expect(calls.callers).toBe(101);
    expect(letIn(100, "c7")).toBe(59);
    clock.advance(120_000);
    for (let n = 0; n < 200; n++) calls.take("c7");
    expect(letIn(100, "made up 1")).toBe(60);
  });
});
