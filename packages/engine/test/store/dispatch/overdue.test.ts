import type { StopOrder } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewRun } from "@carillon/store";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
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

/** A worker that was given a run with a timeout of a minute, and says nothing of it. */
async function silent(over: Partial<NewRun> = {}) {
  const id = await h.run({ policy: { timeoutMs: 60_000, retry: { maxAttempts: 2 } }, ...over });
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
    onStop: (stops) => void orders.push(...stops),
    onLost: () => undefined,
  });
  made.gateway.resume(session);
  const [run] = await assigned;
  if (run === undefined) throw new Error("nothing was assigned");
  return { id, session, run, orders };
}

/** A worker that has begun a run with a timeout of a minute, and never ends it. */
async function stuck() {
  const given = await silent();
  const { id, session, run } = given;
  await made.gateway.started(session, [{ runId: id, fence: run.fence, agoMs: 5_000 }]);
  return given;
}

const status = async (id: string) => (await h.store.reads.live(1, [id]))[0];

describe("overdue attempts", () => {
  it("an attempt whose worker lives and never ends it is ended by the server a grace time after its timeout, and the next try follows", async () => {
    const { id, run, orders } = await stuck();
    monotonic += 65_000;
    await made.gateway.scan();
    expect(await status(id)).toMatchObject({ status: "running" });
    monotonic += 1;
    await made.gateway.scan();
    expect(await status(id)).toMatchObject({ status: "retrying", attempt: 1 });
    expect((await status(id))?.attempts?.[0]).toMatchObject({ outcome: "timeout", error: { type: "TimeoutError" } });
    expect(orders).toEqual([{ runId: id, fence: run.fence, reason: "timeout" }]);
  });

  it("an attempt whose worker lives and never ends it gets a later result refused [INV-4]", async () => {
    const { id, session, run } = await stuck();
    monotonic += 100_000;
    await made.gateway.scan();
    const outcome = { kind: "succeeded", outputJson: "1" } as const;
    const late = { runId: id, fence: run.fence, startedAgoMs: 0, outcome };
    expect((await made.gateway.complete(session, [late])).size).toBe(0);
    expect(await status(id)).toMatchObject({ status: "retrying" });
  });

  it("an attempt whose worker lives and never ends it frees its slot for another run", async () => {
    const { id, session } = await stuck();
    monotonic += 100_000;
    await made.gateway.scan();
    const other = await h.run();
    made.gateway.hintAll();
    while ((await status(other))?.status !== "running");
    expect((await status(other))?.session_id).toBe(session);
    expect(await status(id)).toMatchObject({ status: "retrying" });
  });
});

describe("runs that are never started", () => {
  it("a run whose worker lives and never reports its start is given to other workers a grace time after its timeout, with no try spent, and its first worker's result is refused [INV-4]", async () => {
    const { id, session, run, orders } = await silent();
    await made.gateway.scan();
    monotonic += 70_000;
    await made.gateway.scan();
    expect(await status(id)).toMatchObject({ status: "running" });
    await made.gateway.pause(session);
    monotonic += 1;
    await made.gateway.scan();
    expect(await status(id)).toMatchObject({ status: "queued", attempt: 0, losses: 0 });
    expect(orders).toEqual([{ runId: id, fence: run.fence, reason: "not_started" }]);
    const outcome = { kind: "succeeded", outputJson: "1" } as const;
    const late = { runId: id, fence: run.fence, startedAgoMs: 0, outcome };
    expect((await made.gateway.complete(session, [late])).size).toBe(0);
  });

  it("a run whose worker lives and never reports its start fails if it is an at-most-once run, because that counts as started from its claim [INV-4]", async () => {
    const [lane = 0] = await h.store.lanes.ensure([{ queue: "default", task: "echo", kind: "solo" }]);
    const { id } = await silent({ lane, policy: { timeoutMs: 60_000, guarantee: "at_most_once" } });
    await made.gateway.scan();
    monotonic += 70_001;
    await made.gateway.scan();
    expect((await h.store.reads.finished(1, [id], 0))[0]).toMatchObject({ status: "failed", status_reason: "timeout" });
  });

  it("a run whose worker lives and never reports its start is ended at its timeout by another node that serves its worker and reads its start from the row", async () => {
    const { id, session } = await stuck();
    const other = gatewayOver(h, { clock: { monotonic: () => monotonic } });
    try {
      const handlers = { onAssign: () => undefined, onStop: () => undefined, onLost: () => undefined };
      await other.gateway.adopt(session, handlers);
      await other.gateway.scan();
      monotonic += 70_001;
      await other.gateway.scan();
      expect(await status(id)).toMatchObject({ status: "retrying", attempt: 1 });
    } finally {
      other.gateway.stop();
    }
  });
});
