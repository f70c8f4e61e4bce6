import { expect, it } from "vitest";
import { AnswerWeight, mostChars } from "../../../src/dispatch/claims/answer-weight.js";
import type { ClaimedRun } from "@carillon/store";
import { memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const megabyte = "x".repeat(1_048_576);
const runs = (count: number, payload: string): ClaimedRun[] =>
  Array.from({ length: count }, () => ({ payload }) as ClaimedRun);

/** Answers that are as full as they may be, up to so many runs each. */
function drain(weight: AnswerWeight, payload: string, answers: number, batch = 500): number[] {
  return Array.from({ length: answers }, () => {
    const count = Math.min(weight.size, batch);
    weight.took(runs(count, payload));
    return count;
  });
}

it("an answer of heavy payloads brings as many as weigh no more than an answer may", () => {
  const weight = new AnswerWeight();
  const counts = drain(weight, megabyte, 5);
  expect(counts[0]).toBe(128);
  for (const count of counts.slice(1)) expect(count * megabyte.length).toBeLessThanOrEqual(mostChars);
});

it("one run is claimed however heavy it is", () => {
  const weight = new AnswerWeight();
  weight.took(runs(1, "x".repeat(2 * mostChars)));
  expect(weight.size).toBe(1);
});

it("light payloads are claimed by whole batches after a few answers, also behind heavy ones", () => {
  const weight = new AnswerWeight();
  expect(drain(weight, "{}", 4)).toEqual([128, 256, 500, 500]);
  drain(weight, megabyte, 2);
  expect(drain(weight, "{}", 8).at(-1)).toBe(500);
});

it("a quiet time changes nothing: light ones that come all at once are claimed by whole batches", () => {
  const weight = new AnswerWeight();
  drain(weight, "{}", 6);
  weight.took(runs(1, "{}"));
  for (let look = 0; look < 5; look++) weight.took([]);
  expect(weight.size).toBeGreaterThan(500);
});

it("a worker with many free slots is given heavy runs few at a time, and all of them without another look", async () => {
  const { gateway, claims } = memoryGateway();
  for (let made = 0; made < 200; made++) claims.add(`run ${made}`, { payload: megabyte });
  const answers: number[] = [];
  await workerOf(gateway, { slots: 500, onAssign: (assigned) => void answers.push(assigned.length) });
  while (claims.waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  const [first = 0, ...others] = answers;
  expect(first).toBe(128);
  expect(Math.max(...others) * megabyte.length).toBeLessThanOrEqual(mostChars);
  expect(answers.reduce((sum, count) => sum + count, 0)).toBe(200);
});
