import { CarillonError, defaultRetryPolicy, retryPolicy, type RetryPolicy } from "@carillon/core";
import { describe, expect, it } from "vitest";

describe("retryPolicy", () => {
  it("fills absent members of a retry policy with the defaults", () => {
    expect(retryPolicy()).toEqual(defaultRetryPolicy);
    expect(retryPolicy({ maxAttempts: 1 })).toEqual({ ...defaultRetryPolicy, maxAttempts: 1 });
  });

  it("lowers the default initial wait to a shorter maximum", () => {
    expect(retryPolicy({ maxMs: 200 }).initialMs).toBe(200);
  });

  const wrong: [string, Partial<RetryPolicy>, string][] = [
    ["no attempt", { maxAttempts: 0 }, "/max_attempts"],
    ["part of an attempt", { maxAttempts: 1.5 }, "/max_attempts"],
    ["too many attempts", { maxAttempts: 10_001 }, "/max_attempts"],
    ["a negative wait", { initialMs: -1 }, "/initial"],
    ["a wait that is no number", { initialMs: Number.NaN }, "/initial"],
    ["a factor below one", { factor: 0.5 }, "/factor"],
    ["an endless factor", { factor: Number.POSITIVE_INFINITY }, "/factor"],
    ["a cap of more than a year", { maxMs: 367 * 86_400_000 }, "/max"],
    ["a cap below the first wait", { initialMs: 10, maxMs: 9 }, "/max"],
    ["an unknown curve", { backoff: "cubic" as "fixed" }, "/backoff"],
    ["an unknown jitter", { jitter: "some" as "full" }, "/jitter"],
  ];
  it.each(wrong)("refuses a retry policy with %s", (_, given, pointer) => {
    const items = faultsOf(given);
    expect(items.map((item) => item.pointer)).toEqual([pointer]);
  });

  it("reports all problems of a retry policy at once", () => {
    const items = faultsOf({ maxAttempts: 0, factor: 0 });
    expect(items.map((item) => item.pointer)).toEqual(["/max_attempts", "/factor"]);
  });
});

function faultsOf(given: Partial<RetryPolicy>) {
  try {
    retryPolicy(given);
  } catch (error) {
    if (error instanceof CarillonError && error.code === "retry_invalid") return error.items;
    throw error;
  }
  throw new Error("nothing was refused");
}
