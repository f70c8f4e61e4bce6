import { expect, it } from "vitest";
import { TimedBatchSize } from "../../../src/dispatch/claims/batch-size.js";

it("slow statements become smaller at once, and larger again step by step", () => {
  const batch = new TimedBatchSize(500);
  batch.record(500, 100);
  expect(batch.size).toBe(150);
  batch.record(150, 3);
  expect(batch.size).toBe(300);
  batch.record(300, 6);
  expect(batch.size).toBe(500);
});

it("the batch size keeps within its bounds, and ignores statements with few runs", () => {
  const batch = new TimedBatchSize(500);
  batch.record(3, 1_000);
  expect(batch.size).toBe(500);
  batch.record(500, 60_000);
  expect(batch.size).toBe(50);
  batch.record(50, 0);
  expect(batch.size).toBe(100);
});
