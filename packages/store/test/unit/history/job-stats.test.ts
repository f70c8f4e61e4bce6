import { describe, expect, it } from "vitest";
import { type EndOfRun, statsOf } from "../../../src/history/job-history.js";

const end = (over: Partial<EndOfRun>): EndOfRun => {
  return { status: "succeeded", attempt: 1, at: 1_000, durationMs: 10, lagMs: 0, ...over };
};

describe("the statistics of a job", () => {
  it("are empty if no run has ended", () => {
    expect(statsOf([])).toMatchObject({
      finished: 0,
      firstAt: null,
      lastAt: null,
      durationP50Ms: null,
      lagP95Ms: null,
    });
  });

  it("count runs by status, and take durations from those that succeeded", () => {
    const ends = [
      end({ at: 3_000, durationMs: 30, lagMs: 4 }),
      end({ at: 1_000, durationMs: 10, lagMs: 2, attempt: 2 }),
      end({ status: "failed", at: 2_000, durationMs: 9_000 }),
      end({ status: "skipped", at: 4_000, durationMs: null, lagMs: null }),
    ];
    expect(statsOf(ends)).toEqual({
      finished: 4,
      succeeded: 2,
      failed: 1,
      cancelled: 0,
      skipped: 1,
      retried: 1,
      firstAt: 1_000,
      lastAt: 4_000,
      durationP50Ms: 20,
      durationP95Ms: 29,
      lagP95Ms: 3.9,
    });
  });
});
