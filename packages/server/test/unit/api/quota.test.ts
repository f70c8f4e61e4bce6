import { ManualClock } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallerQuota, type RateQuota } from "../../../src/api/http/admission.js";

function quotaOf(quota: RateQuota, maxCallers?: number) {
  const clock = new ManualClock();
  const options = { monotonic: () => clock.monotonic(), ...(maxCallers !== undefined && { maxCallers }) };
  const calls = new CallerQuota(quota, options);
  /** The number of these requests that are allowed now. */
  const letIn = (count: number, caller = "a"): number =>
    Array.from({ length: count }, () => calls.take(caller)).filter(({ isWithin }) => isWithin).length;
  return { clock, calls, letIn };
}

const minute = { requests: 60, windowMs: 60_000 };

describe("the quota of a caller", () => {
  it("a quota is available at once, and refills evenly", () => {
    const { clock, letIn } = quotaOf(minute);
    expect(letIn(100)).toBe(60);
    clock.advance(999);
    expect(letIn(5)).toBe(0);
    clock.advance(1);
    expect(letIn(5)).toBe(1);
    clock.advance(10_000);
    expect(letIn(50)).toBe(10);
  });

  it("a quota never exceeds its size, however long the caller was idle", () => {
    const { clock, letIn } = quotaOf(minute);
    letIn(10);
    clock.advance(86_400_000);
    expect(letIn(100)).toBe(60);
  });

  it("reports the remaining requests and when the next one is available", () => {
    const { clock, calls } = quotaOf({ requests: 2, windowMs: 10_000 });
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 1, nextInMs: 5_000 });
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 0, nextInMs: 5_000 });
    clock.advance(2_000);
    expect(calls.take("a")).toEqual({ isWithin: false, remaining: 0, nextInMs: 3_000 });
    expect(calls.take("b")).toMatchObject({ isWithin: true, remaining: 1 });
    clock.advance(3_000);
    expect(calls.take("a")).toEqual({ isWithin: true, remaining: 0, nextInMs: 5_000 });
  });

  it("refused requests do not use the quota", () => {
    const { clock, letIn } = quotaOf({ requests: 1, windowMs: 1_000 });
    expect(letIn(1)).toBe(1);
    for (let turn = 0; turn < 9; turn++) {
      clock.advance(100);
      expect(letIn(10)).toBe(0);
    }
    clock.advance(100);
    expect(letIn(1)).toBe(1);
  });

  it("for any sequence of requests, no period allows more than the quota and its refill", () => {
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
        let maxMs = 0;
        for (const { pauseMs, count } of course) {
          clock.advance(pauseMs);
          for (let sent = 0; sent < count; sent++) {
            const { isWithin, nextInMs } = calls.take("a");
            if (isWithin) admitted.push(clock.monotonic());
            maxMs = Math.max(maxMs, nextInMs);
          }
        }
        const excess = admitted.flatMap((from, first) =>
          admitted.slice(first).map((to, more) => more + 1 - requests - (to - from) / spacing),
        );
        expect(Math.max(0, ...excess)).toBeLessThan(1e-3);
        // The reported wait is never longer than the refill of one request.
        expect(maxMs).toBeLessThanOrEqual(spacing + 1e-2);
      }),
      { numRuns: 50 },
    );
  });

  it("allows the full number of requests, however short their spacing is", () => {
    const { clock, letIn } = quotaOf({ requests: 30_000, windowMs: 7_000 });
    clock.advance(1e9 + 0.123);
    expect(letIn(30_010)).toBe(30_000);
  });
});

describe("the callers of a quota", () => {
  it("forgets callers with a full quota, a few at each request", () => {
    const { clock, calls } = quotaOf(minute);
    for (let n = 0; n < 1_000; n++) calls.take(`c${n}`);
    expect(calls.callers).toBe(1_000);
    clock.advance(1_000);
    for (let n = 0; n < 600; n++) calls.take("busy");
    expect(calls.callers).toBeLessThanOrEqual(2);
  });

  it("keeps the use of a caller until its quota is full again", () => {
    const { clock, calls, letIn } = quotaOf(minute);
    letIn(60, "busy");
    clock.advance(30_000);
    for (let n = 0; n < 500; n++) calls.take(`c${n}`);
    expect(letIn(60, "busy")).toBe(30);
  });

  it("bounds the callers: further ones share one quota, and known ones keep their own", () => {
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
