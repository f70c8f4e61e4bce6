import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClaimStore } from "@carillon/store";
import type { Assigned } from "../../../src/dispatch/sessions/worker-registration.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let now = 0;
const gateways: { stop(): void }[] = [];
beforeEach(async () => {
  h = await storeHarness();
  now = Date.now();
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  return h.close();
});

/** One scan makes one claim: only the test calls it. */
async function worker(over: Partial<ClaimStore>) {
  const { gateway, errors } = gatewayOver(h, { store: { claims: { ...h.store.claims, ...over } }, now: () => now });
  gateways.push(gateway);
  const given: Assigned[] = [];
  const session = await gateway.open({
    namespace: "default",
    name: "w",
    queues: ["default"],
    tasks: ["echo"],
    slots: 10,
    nodeId: null,
    onAssign: (assigned) => void given.push(...assigned),
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.resume(session);
  return { gateway, session, given, errors };
}

const success = (runId: string, fence: number) =>
  ({ runId, fence, startedAgoMs: 0, outcome: { kind: "succeeded", outputJson: "null" } }) as const;

/** Fails the first statement that claims, after or instead of executing it. */
function losing(does: "answer" | "request"): { over: Partial<ClaimStore>; late: () => Promise<unknown> } {
  let late: (() => Promise<unknown>) | null = null;
  return {
    late: async () => late?.(),
    over: {
      async completeAndClaim(request) {
        if (late !== null || request.demand === null) return h.store.claims.completeAndClaim(request);
        late = () => h.store.claims.completeAndClaim(request);
        if (does === "answer") await late();
        throw new Error("the connection was reset");
      },
    },
  };
}

describe("lost claims", () => {
  it("a claim whose answer is lost is assigned once, under its fence, by the next scan [INV-6]", async () => {
    const id = await h.run();
    const { gateway, session, given, errors } = await worker(losing("answer").over);
    await errors.next();
    await gateway.scan();
    expect(given).toMatchObject([{ runId: id, fence: 1 }]);
    now += 5_000;
    await gateway.scan();
    expect(given).toHaveLength(1);
    expect([...(await gateway.complete(session, [success(id, 1)]))]).toEqual([id]);
  });

  it("a claim whose answer is lost is assigned also when the database commits it only after the first verification [INV-6]", async () => {
    const id = await h.run();
    // Every later claim finds nothing, as if it were held.
    const lost = losing("request");
    let calls = 0;
    const { gateway, given, errors } = await worker({
      async completeAndClaim(request) {
        if (calls++ === 0) return (lost.over.completeAndClaim ?? h.store.claims.completeAndClaim)(request);
        return h.store.claims.completeAndClaim({ ...request, demand: null });
      },
    });
    await errors.next();
    await gateway.scan();
    expect(given).toEqual([]);
    await lost.late();
    await gateway.scan();
    expect(given).toEqual([]);
    now += 1_000;
    await gateway.scan();
    expect(given).toMatchObject([{ runId: id, fence: 1 }]);
  });

  it("a claim whose answer is lost brings back no run that ends during the verification", async () => {
    const id = await h.run();
    let calls = 0;
    const { gateway, session, given, errors } = await worker({
      async completeAndClaim(request) {
        if (calls++ !== 1) return h.store.claims.completeAndClaim(request);
        throw new Error("the connection was reset");
      },
      async held(sessions) {
        const before = await h.store.claims.held(sessions);
        await gateway.complete(session, [success(id, 1)]);
        return before;
      },
    });
    while (given.length === 0) await new Promise((resolve) => setImmediate(resolve));
    gateway.hintAll();
    await errors.next();
    await gateway.scan();
    expect(given).toHaveLength(1);
  });

  it("a claim whose answer is lost is verified only as long as the database may still commit it", async () => {
    let asked = 0;
    let calls = 0;
    const { gateway, errors } = await worker({
      async completeAndClaim(request) {
        if (calls++ === 0) throw new Error("the connection was reset");
        return h.store.claims.completeAndClaim({ ...request, demand: null });
      },
      async held() {
        asked += 1;
        return [];
      },
    });
    await errors.next();
    for (let second = 0; second < 60; second++) {
      await gateway.scan();
      now += 1_000;
    }
    expect(asked).toBe(31);
  });
});
