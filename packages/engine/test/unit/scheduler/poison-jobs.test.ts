import { describe, expect, it } from "vitest";
import { PoisonJobs } from "../../../src/scheduler/poison-jobs.js";

describe("a job whose fire failed while nothing else was written", () => {
  it("is at fault when others were written since", () => {
    const suspects = new PoisonJobs();
    expect(suspects.isPoison("a", 0)).toBe(false);
    expect(suspects.isPoison("a", 100)).toBe(false);
    suspects.countWritten(1);
    expect(suspects.isPoison("a", 200)).toBe(true);
  });

  it("is not at fault for what was written before", () => {
    const suspects = new PoisonJobs();
    suspects.countWritten(10);
    expect(suspects.isPoison("a", 0)).toBe(false);
    suspects.countWritten(0);
    expect(suspects.isPoison("a", 100)).toBe(false);
  });

  it("is at fault after a minute, alone as it is", () => {
    const suspects = new PoisonJobs();
    expect(suspects.isPoison("a", 0)).toBe(false);
    expect(suspects.isPoison("a", 59_999)).toBe(false);
    expect(suspects.isPoison("a", 60_000)).toBe(true);
  });
});
