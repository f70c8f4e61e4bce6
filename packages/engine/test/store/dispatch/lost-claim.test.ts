import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Gateway } from "../../../src/dispatch/gateway.js";
import { Waiters } from "../../../src/dispatch/waiters.js";
import type { ClaimStore } from "../../../src/store/entities/claims.js";
import { hostPorts, newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let now = 0;
beforeEach(async () => {
  h = await storeHarness();
  now = Date.now();
});
afterEach(() => h.close());

const registration = { namespace: "default", name: "w", queues: ["default"], tasks: ["echo"], slots: 10, nodeId: null };

async function worker(over: Partial<ClaimStore>) {
  const { claims, sessions, lanes, namespaces } = h.store;
  const gateway = new Gateway({
    claims: { ...claims, ...over },
    sessions,
    lanes,
    namespaces,
    waiters: new Waiters({ timers: hostPorts.timers, fullLookMs: 1 }),
    now: () => now,
    random: () => 0.5,
    newId,
    doubtMs: 30_000,
    onRetry: () => undefined,
    onQueued: () => undefined,
    onFreed: () => undefined,
    onStopped: async () => undefined,
    onEvent: () => undefined,
  });
  const session = await gateway.open(registration);
  return { gateway, session, poll: () => gateway.poll(session, { free: 10, waitMs: 0 }) };
}

const success = (runId: string, fence: number) =>
  ({ runId, fence, startedAgoMs: 0, outcome: { kind: "succeeded", output: null } }) as const;

describe("a claim whose answer is lost", () => {
  it("is handed out by the next poll under its fence, and once [INV-6]", async () => {
    const id = await h.run();
    let isLost = false;
    const { gateway, session, poll } = await worker({
      async claim(request) {
        const runs = await h.store.claims.claim(request);
        if (isLost) return runs;
        isLost = true;
        throw new Error("the connection was reset");
      },
    });
    await expect(poll()).rejects.toThrow("reset");
    const [run] = await poll();
    expect(run).toMatchObject({ runId: id, fence: 1 });
    now += 5_000;
    expect(await poll()).toEqual([]);
    expect([...(await gateway.complete(session, [success(id, run?.fence ?? 0)]))]).toEqual([id]);
  });

  it("is handed out also when the database does it only after the first question [INV-6]", async () => {
    const id = await h.run();
    let late: (() => Promise<unknown>) | null = null;
    const { poll } = await worker({
      async claim(request) {
        if (late !== null) return [];
        late = () => h.store.claims.claim(request);
        throw new Error("the connection was reset");
      },
    });
    await expect(poll()).rejects.toThrow("reset");
    expect(await poll()).toEqual([]);
    await (late as (() => Promise<unknown>) | null)?.();
    expect(await poll()).toEqual([]);
    now += 1_000;
    expect(await poll()).toMatchObject([{ runId: id, fence: 1 }]);
  });

  it("does not bring back a run that ends while the gateway asks", async () => {
    const id = await h.run();
    let fails = false;
    const { gateway, session, poll } = await worker({
      async claim(request) {
        if (fails) throw new Error("the connection was reset");
        return h.store.claims.claim(request);
      },
      async held(sessionId) {
        const before = await h.store.claims.held(sessionId);
        await gateway.complete(session, [success(id, 1)]);
        return before;
      },
    });
    await poll();
    fails = true;
    await expect(poll()).rejects.toThrow("reset");
    fails = false;
    expect(await poll()).toEqual([]);
  });

  it("is asked about only as long as it may still be done", async () => {
    let asked = 0;
    let fails = true;
    const { poll } = await worker({
      async claim() {
        if (fails) throw new Error("the connection was reset");
        return [];
      },
      async held() {
        asked += 1;
        return [];
      },
    });
    await expect(poll()).rejects.toThrow("reset");
    fails = false;
    for (let second = 0; second < 60; second++) {
      await poll();
      now += 1_000;
    }
    expect(asked).toBe(31);
  });
});
