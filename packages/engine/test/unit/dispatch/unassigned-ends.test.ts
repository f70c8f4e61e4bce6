import { expect, it } from "vitest";
import type { ClaimedRun } from "@carillon/store";
import { memoryGateway, workerOf } from "../../harness/memory-gateway.js";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const unassigned: [string, Partial<ClaimedRun>, string][] = [
  ["that was cancelled", { isStopped: true }, "cancelled"],
  ["that is claimed too late", { deadline: 1 }, "failed"],
];

it.each(unassigned)("the run behind one %s starts at once in a strict queue", async (_which, over, status) => {
  const made = memoryGateway({ wakeups: { runsQueued: (runs) => made.gateway.hint(runs) } }, "strict");
  made.claims.add("first", over);
  made.claims.add("second");
  const { assigned } = await workerOf(made.gateway);
  await nextTurn();
  expect(made.claims.ended.get("first")).toBe(status);
  expect(assigned.map((run) => run.runId)).toEqual(["second"]);
});

it.each(unassigned)("the limits of a run %s are released at once", async (_which, over, status) => {
  const published: string[] = [];
  const { gateway, claims } = memoryGateway(
    {
      wakeups: {
        publish(topic, payload) {
          if (topic !== "limits.claimed" && topic !== "limits.released") return;
          for (const id of payload as readonly string[]) {
            const change = topic === "limits.claimed" ? "started" : claims.ended.get(id);
            published.push(`${id} ${change}`);
          }
        },
      },
    },
    "admitted",
  );
  claims.add("first", over);
  await workerOf(gateway);
  await nextTurn();
  expect(published).toEqual(["first started", `first ${status}`]);
});
