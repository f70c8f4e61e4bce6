import { describe, expect, it } from "vitest";
import { PoisonJobs } from "../../../src/scheduler/due-writer.js";

describe("PoisonJobs", () => {
  it("a job whose fire failed is poison if other rows were written since", () => {
    const poison = new PoisonJobs();
    expect(poison.isPoison("a", 0)).toBe(false);
    expect(poison.isPoison("a", 100)).toBe(false);
    poison.countWritten(1);
    expect(poison.isPoison("a", 200)).toBe(true);
  });

  it("rows that were written before the first failure do not make a job poison", () => {
    const poison = new PoisonJobs();
    poison.countWritten(10);
    expect(poison.isPoison("a", 0)).toBe(false);
    poison.countWritten(0);
    expect(poison.isPoison("a", 100)).toBe(false);
  });

  it("a job that has failed for a minute is poison, also if no other row was written", () => {
    const poison = new PoisonJobs();
    expect(poison.isPoison("a", 0)).toBe(false);
    expect(poison.isPoison("a", 59_999)).toBe(false);
    expect(poison.isPoison("a", 60_000)).toBe(true);
  });
});
