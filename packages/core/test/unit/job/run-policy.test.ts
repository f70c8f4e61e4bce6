import { describe, expect, it } from "vitest";
import { checkRunPolicy, retryOf, withTrace } from "../../../src/index.js";

describe("a run that is begun at most once", () => {
  it("gives a run with the guarantee at_most_once one attempt, regardless of the defaults", () => {
    expect(retryOf({ guarantee: "at_most_once" }).maxAttempts).toBe(1);
    expect(retryOf({}).maxAttempts).toBeGreaterThan(1);
  });

  it("refuses more than one attempt for at_most_once, with a pointer to max_attempts", () => {
    const policy = { guarantee: "at_most_once", retry: { maxAttempts: 4 } } as const;
    expect(() => checkRunPolicy(policy, "/retries")).toThrow(/one attempt, not 4/);
    expect(() => checkRunPolicy({ ...policy, retry: { maxAttempts: 1 } })).not.toThrow();
    expect(() => checkRunPolicy({ retry: { maxAttempts: 4 } })).not.toThrow();
  });
});

describe("the trace of a run", () => {
  it("replaces the whole trace context of a policy by that of the request", () => {
    const job = { timeoutMs: 1, traceparent: "old", tracestate: "old" };
    expect(withTrace(job, { traceparent: "new" })).toEqual({ timeoutMs: 1, traceparent: "new" });
    expect(withTrace({}, { traceparent: "new", tracestate: "s" })).toEqual({ traceparent: "new", tracestate: "s" });
    expect(withTrace(job, null)).toBe(job);
  });
});
