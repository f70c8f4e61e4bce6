import type { Outcome } from "@carillon/core";
import { expect, it } from "vitest";
import { memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const failed = (retryable: boolean): Outcome => {
  return { kind: "failed", reason: "handler_error", error: { type: "Error", message: "no", retryable } };
};

it.each<[string, Outcome]>([
  ["succeeded", { kind: "succeeded", outputJson: "null" }],
  ["failed and is tried again", failed(true)],
  ["failed for good", failed(false)],
  ["was cancelled", { kind: "cancelled", error: null }],
])("the slot of a run that %s is filled at once, not by the next scan", async (_how, outcome) => {
  const { gateway, claims } = memoryGateway();
  claims.add("first");
  claims.add("second");
  const { session, assigned } = await workerOf(gateway);
  await nextTurn();
  expect(assigned.map((run) => run.runId)).toEqual(["first"]);
  await gateway.complete(session, [{ runId: "first", fence: 1, startedAgoMs: 0, outcome }]);
  await nextTurn();
  expect(assigned.map((run) => run.runId)).toEqual(["first", "second"]);
});

it("the slot of a run that is given back is filled at once", async () => {
  const { gateway, claims } = memoryGateway();
  claims.add("first");
  claims.add("second");
  const { session, assigned } = await workerOf(gateway);
  await nextTurn();
  await gateway.giveBack(session, [{ runId: "first", fence: 1 }]);
  await nextTurn();
  expect(assigned.map((run) => run.runId)).toEqual(["first", "second"]);
});

it("a run that is given back under an old fence stays with its worker under the newer one", async () => {
  const { gateway, claims } = memoryGateway();
  claims.add("again", { fence: 1 });
  claims.add("next");
  const { session, assigned } = await workerOf(gateway);
  await nextTurn();
  expect(assigned).toMatchObject([{ runId: "again", fence: 2 }]);
  await gateway.giveBack(session, [{ runId: "again", fence: 1 }]);
  await nextTurn();
  expect(gateway.sessions.load.heldRuns).toBe(1);
  expect(assigned).toHaveLength(1);
});
