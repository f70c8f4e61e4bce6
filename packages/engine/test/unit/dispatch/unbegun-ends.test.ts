import { expect, it } from "vitest";
import type { ClaimedRun } from "@carillon/store";
import { memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const unbegun: [string, Partial<ClaimedRun>, string][] = [
  ["that is to stop", { isStopped: true }, "cancelled"],
  ["that is claimed too late", { deadline: 1 }, "failed"],
];

it.each(unbegun)("the run behind one %s begins at once in a strict queue", async (_which, over, status) => {
  const made = memoryGateway({ onQueued: (runs) => made.gateway.hint(runs) }, "strict");
  made.claims.add("first", over);
  made.claims.add("second");
  const { given } = await workerOf(made.gateway);
  await settled();
  expect(made.claims.ended.get("first")).toBe(status);
  expect(given.map((run) => run.runId)).toEqual(["second"]);
});

it.each(unbegun)("the limits of a run %s are free at once", async (_which, over, status) => {
  const told: string[] = [];
  const { gateway, claims } = memoryGateway(
    {
      onLimitedClaimed: (ids) => void told.push(...ids.map((id) => `${id} started`)),
      onReleased: (ids) => void told.push(...ids.map((id) => `${id} ${claims.ended.get(id)}`)),
    },
    "admitted",
  );
  claims.add("first", over);
  await workerOf(gateway);
  await settled();
  expect(told).toEqual(["first started", `first ${status}`]);
});
