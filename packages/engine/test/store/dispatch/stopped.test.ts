import { afterEach, beforeEach, expect, it } from "vitest";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => h.close());

it("a stopped gateway claims nothing more, and accepts the results of runs that it assigned [INV-6]", async () => {
  const { gateway } = gatewayOver(h);
  const first = await h.run();
  const given: Assigned[] = [];
  let take: () => void = () => undefined;
  const assigned = new Promise<void>((resolve) => (take = resolve));
  const session = await gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 5,
    nodeId: null,
    onAssign: (runs) => {
      given.push(...runs);
      take();
    },
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.resume(session);
  await assigned;
  gateway.stop();
  const second = await h.run();
  gateway.hintAll();
  const outcome = { kind: "succeeded", outputJson: "null" } as const;
  const results = given.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome }));
  expect([...(await gateway.complete(session, results))]).toEqual([first]);
  expect((await h.store.reads.live(1, [second]))[0]?.status).toBe("queued");
});
