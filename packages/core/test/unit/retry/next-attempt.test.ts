import { backoffBounds, defaultRetryPolicy, nextAttempt, retryPolicy } from "@carillon/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

const error = { type: "Error" };
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const policies = fc
  .record({
    maxAttempts: fc.integer({ min: 1, max: 10_000 }),
    backoff: fc.constantFrom("exponential", "linear", "fixed"),
    initialMs: fc.integer({ min: 0, max: 86_400_000 }),
    factor: fc.double({ min: 1, max: 1_000, noNaN: true }),
    maxMs: fc.integer({ min: 86_400_000, max: 366 * 86_400_000 }),
    jitter: fc.constantFrom("full", "equal", "none"),
  })
  .map((given) => retryPolicy(given));

function delays(policy: ReturnType<typeof retryPolicy>, attempts: readonly number[], random = 0): number[] {
  return attempts.map((attempt) => {
    const next = nextAttempt(policy, { attempt, error, random });
    return next.kind === "retry" ? next.delayMs : -1;
  });
}

describe("nextAttempt", () => {
  it("multiplies an exponential wait by the factor up to the maximum", () => {
    const policy = retryPolicy({ maxAttempts: 9, initialMs: 1_000, factor: 3, maxMs: 20_000, jitter: "none" });
    expect(delays(policy, [1, 2, 3, 4, 5, 8, 9])).toEqual([1_000, 3_000, 9_000, 20_000, 20_000, 20_000, -1]);
  });

  it("adds the initial wait to a linear wait after each failure", () => {
    const policy = retryPolicy({ maxAttempts: 9, backoff: "linear", initialMs: 500, maxMs: 1_700, jitter: "none" });
    expect(delays(policy, [1, 2, 3, 4, 5])).toEqual([500, 1_000, 1_500, 1_700, 1_700]);
  });

  it("keeps a fixed wait constant", () => {
    const policy = retryPolicy({ maxAttempts: 9, backoff: "fixed", initialMs: 250, jitter: "none" });
    expect(delays(policy, [1, 2, 8])).toEqual([250, 250, 250]);
  });

  it("full jitter spreads from 0 to the whole wait, equal jitter from half of it", () => {
    const full = retryPolicy({ initialMs: 1_000, jitter: "full" });
    const equal = retryPolicy({ initialMs: 1_000, jitter: "equal" });
    expect([0, 0.5, 1 - 2 ** -53].map((random) => delays(full, [1], random)[0])).toEqual([0, 500, 1_000]);
    expect([0, 0.5, 1 - 2 ** -53].map((random) => delays(equal, [1], random)[0])).toEqual([500, 750, 1_000]);
  });

  it("waits whole milliseconds within the bounds of the preview, up to attempt 1000 and far beyond", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 9_999 }), randoms, (policy, attempt, random) => {
        const next = nextAttempt({ ...policy, maxAttempts: 10_000 }, { attempt, error, random });
        const { minMs, maxMs } = backoffBounds(policy, attempt);
        if (next.kind !== "retry") throw new Error("an attempt was left");
        expect(Number.isSafeInteger(next.delayMs)).toBe(true);
        expect(next.delayMs).toBeGreaterThanOrEqual(minMs);
        expect(next.delayMs).toBeLessThanOrEqual(maxMs);
        expect(maxMs).toBeLessThanOrEqual(policy.maxMs);
      }),
    );
  });

  it("never shortens the wait of a later attempt, apart from jitter", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 1, max: 2_000 }), (policy, attempt) => {
        expect(backoffBounds(policy, attempt + 1).maxMs).toBeGreaterThanOrEqual(backoffBounds(policy, attempt).maxMs);
      }),
    );
  });

  it("allows exactly maxAttempts attempts", () => {
    fc.assert(
      fc.property(policies, randoms, (policy, random) => {
        const last = { attempt: policy.maxAttempts, error, random };
        expect(nextAttempt(policy, last)).toEqual({ kind: "dead", reason: "attempts_exhausted" });
        fc.pre(policy.maxAttempts > 1);
        expect(nextAttempt(policy, { ...last, attempt: policy.maxAttempts - 1 }).kind).toBe("retry");
      }),
    );
  });

  it("does not retry an error type of the policy or an error that is marked as not retryable", () => {
    const policy = retryPolicy({ nonRetryable: ["CardDeclined"] });
    const dead = { kind: "dead", reason: "non_retryable" };
    expect(nextAttempt(policy, { attempt: 1, error: { type: "CardDeclined" }, random: 0 })).toEqual(dead);
    expect(nextAttempt(policy, { attempt: 1, error: { type: "X", retryable: false }, random: 0 })).toEqual(dead);
    expect(nextAttempt(policy, { attempt: 1, error: { type: "X", retryable: true }, random: 0 }).kind).toBe("retry");
  });

  it("honours Retry-After in place of the backoff: never sooner, at most a tenth later", () => {
    fc.assert(
      fc.property(policies, fc.integer({ min: 0, max: 86_400_000 }), randoms, (policy, retryAfterMs, random) => {
        fc.pre(policy.maxAttempts > 1);
        const next = nextAttempt(policy, { attempt: 1, error, random, retryAfterMs });
        if (next.kind !== "retry") throw new Error("an attempt was left");
        expect(next.delayMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(next.delayMs).toBeLessThanOrEqual(policy.jitter === "none" ? retryAfterMs : retryAfterMs * 1.1);
      }),
    );
  });

  it("bounds the wait of a Retry-After between 0 and a year", () => {
    const policy = retryPolicy({ jitter: "none" });
    const delay = (retryAfterMs: number) => nextAttempt(policy, { attempt: 1, error, random: 0, retryAfterMs });
    expect(delay(Number.POSITIVE_INFINITY)).toEqual({ kind: "retry", delayMs: 366 * 86_400_000 });
    expect(delay(-5)).toEqual({ kind: "retry", delayMs: 0 });
  });

  it("does not add an attempt for a Retry-After", () => {
    const last = { attempt: defaultRetryPolicy.maxAttempts, error, random: 0, retryAfterMs: 1 };
    expect(nextAttempt(defaultRetryPolicy, last).kind).toBe("dead");
  });
});
