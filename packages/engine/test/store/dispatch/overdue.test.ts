import type { StopOrder } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Assigned } from "../../../src/dispatch/assignment-of.js";
import { type GatewayHarness, gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let made: GatewayHarness;
let monotonic = 0;
beforeEach(async () => {
  h = await storeHarness();
  monotonic = 1_000_000;
  made = gatewayOver(h, { clock: { monotonic: () => monotonic } });
});
afterEach(() => {
  made.gateway.stop();
  return h.close();
});

/** A worker that has begun a run with a timeout of a minute, and never ends it. */
async function stuck() {
  const id = await h.run({ policy: { timeoutMs: 60_000, retry: { maxAttempts: 2 } } });
  const orders: StopOrder[] = [];
  let take: (given: readonly Assigned[]) => void = () => undefined;
  const assigned = new Promise<readonly Assigned[]>((resolve) => (take = resolve));
  const session = await made.gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 1,
    nodeId: null,
    onAssign: take,
    onStop: (told) => void orders.push(...told),
    onLost: () => undefined,
  });
  made.gateway.resume(session);
  const [run] = await assigned;
  if (run === undefined) throw new Error("nothing was assigned");
  await made.gateway.started(session, [{ runId: id, fence: run.fence, agoMs: 5_000 }]);
  return { id, session, run, orders };
}

const status = async (id: string) => (await h.store.reads.live(1, [id]))[0];

describe("an attempt whose worker lives and never ends it", () => {
  it("is ended by the server at its timeout and a grace; the next try follows", async () => {
    const { id, run, orders } = await stuck();
    monotonic += 65_000;
    await made.gateway.look();
    expect(await status(id)).toMatchObject({ status: "running" });
    monotonic += 1;
    await made.gateway.look();
    expect(await status(id)).toMatchObject({ status: "retrying", attempt: 1 });
    expect((await status(id))?.attempts?.[0]).toMatchObject({ outcome: "timeout", error: { type: "TimeoutError" } });
    expect(orders).toEqual([{ runId: id, fence: run.fence, reason: "timeout" }]);
  });

  it("cannot bring its result any more [INV-4]", async () => {
    const { id, session, run } = await stuck();
    monotonic += 100_000;
    await made.gateway.look();
    const outcome = { kind: "succeeded", outputJson: "1" } as const;
    const late = { runId: id, fence: run.fence, startedAgoMs: 0, outcome };
    expect((await made.gateway.complete(session, [late])).size).toBe(0);
    expect(await status(id)).toMatchObject({ status: "retrying" });
  });

  it("leaves room for another: the slot counts as free again", async () => {
    const { id, session } = await stuck();
    monotonic += 100_000;
    await made.gateway.look();
    const other = await h.run();
    made.gateway.hintAll();
    while ((await status(other))?.status !== "running");
    expect((await status(other))?.session_id).toBe(session);
    expect(await status(id)).toMatchObject({ status: "retrying" });
  });
});
