import { expect, it } from "vitest";
import { PayloadBatchSize, maxAnswerChars } from "../../../src/dispatch/claims/batch-size.js";
import type { ClaimedRun } from "@carillon/store";
import { memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const megabyte = "x".repeat(1_048_576);
const runs = (count: number, payload: string): ClaimedRun[] =>
  Array.from({ length: count }, () => ({ payload }) as ClaimedRun);

/** The number of runs of answers that are as full as they may be, up to so many each. */
function drain(size: PayloadBatchSize, payload: string, answers: number, max = 500): number[] {
  return Array.from({ length: answers }, () => {
    const count = Math.min(size.size, max);
    size.record(runs(count, payload));
    return count;
  });
}

it("an answer with large payloads has no more runs than fit into one answer", () => {
  const batch = new PayloadBatchSize();
  const counts = drain(batch, megabyte, 5);
  expect(counts[0]).toBe(128);
  for (const count of counts.slice(1)) expect(count * megabyte.length).toBeLessThanOrEqual(maxAnswerChars);
});

it("one run is claimed however large its payload is", () => {
  const batch = new PayloadBatchSize();
  batch.record(runs(1, "x".repeat(2 * maxAnswerChars)));
  expect(batch.size).toBe(1);
});

it("runs with small payloads are claimed by whole batches after a few answers, also after large ones", () => {
  const batch = new PayloadBatchSize();
  expect(drain(batch, "{}", 4)).toEqual([128, 256, 500, 500]);
  drain(batch, megabyte, 2);
  expect(drain(batch, "{}", 8).at(-1)).toBe(500);
});

it("empty answers change nothing: runs with small payloads are claimed by whole batches after them", () => {
  const batch = new PayloadBatchSize();
  drain(batch, "{}", 6);
  batch.record(runs(1, "{}"));
  for (let empty = 0; empty < 5; empty++) batch.record([]);
  expect(batch.size).toBeGreaterThan(500);
});

it("a worker with many free slots gets runs with large payloads few at a time, and all of them without another scan", async () => {
  const { gateway, claims } = memoryGateway();
  for (let made = 0; made < 200; made++) claims.add(`run ${made}`, { payload: megabyte });
  const answers: number[] = [];
  await workerOf(gateway, { slots: 500, onAssign: (assigned) => void answers.push(assigned.length) });
  while (claims.waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const [first = 0, ...others] = answers;
  expect(first).toBe(128);
  expect(Math.max(...others) * megabyte.length).toBeLessThanOrEqual(maxAnswerChars);
  expect(answers.reduce((sum, count) => sum + count, 0)).toBe(200);
});
