import { describe, expect, it } from "vitest";
import { compileJitter } from "../../../src/schedule/compile-schedule.js";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** Pearson's statistic over equal buckets; its mean is buckets - 1, its deviation about sqrt(2 × buckets). */
function chiSquared(values: number[], bound: number, buckets: number): number {
  const counts = Array.from({ length: buckets }, () => 0);
  for (const value of values) {
    const bucket = Math.floor((value / bound) * buckets);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  const expected = values.length / buckets;
  return counts.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
}

describe("jitter", () => {
  it("jitter is zero without a bound", () => {
    expect(compileJitter("job", 0)(START)).toBe(0);
  });

  it("jitter is a fixed function of job and nominal instant", () => {
    // Changing the hash moves the fires of every running schedule: these values stay.
    const jitter = compileJitter("job_019a8c4e-7d1b-7000-8000-000000000001", 30_000);
    expect([0, 1, 2].map((hour) => jitter(START + hour * HOUR))).toMatchInlineSnapshot(`
      [
        12259,
        28103,
        5144,
      ]
    `);
  });

  it("jitter spreads the instants of one job evenly", () => {
    const jitter = compileJitter("job_1", 60_000);
    const values = Array.from({ length: 20_000 }, (_, hour) => jitter(START + hour * HOUR));
    expect(chiSquared(values, 60_000, 100)).toBeLessThan(99 + 5 * Math.sqrt(200));
  });

  it("jitter spreads the jobs of one instant evenly, also those with nearly equal ids", () => {
    const values = Array.from({ length: 20_000 }, (_, index) => compileJitter(`job_${index}`, 60_000)(START));
    expect(chiSquared(values, 60_000, 100)).toBeLessThan(99 + 5 * Math.sqrt(200));
  });

  it("jitter spreads evenly over more than 32 bits of milliseconds", () => {
    const bound = 90 * 24 * HOUR;
    const values = Array.from({ length: 20_000 }, (_, second) => compileJitter("job_1", bound)(START + second * 1_000));
    expect(Math.max(...values)).toBeLessThan(bound);
    expect(chiSquared(values, bound, 100)).toBeLessThan(99 + 5 * Math.sqrt(200));
  });

  it("the jitter of neighbouring instants is independent", () => {
    const jitter = compileJitter("job_1", 1_000);
    const pairs = Array.from({ length: 20_000 }, (_, minute) => {
      const [one, other] = [jitter(START + minute * 60_000), jitter(START + (minute + 1) * 60_000)];
      return (one - 499.5) * (other - 499.5);
    });
    const variance = 1_000 ** 2 / 12;
    const correlation = pairs.reduce((sum, product) => sum + product, 0) / pairs.length / variance;
    expect(Math.abs(correlation)).toBeLessThan(5 / Math.sqrt(pairs.length));
  });
});
