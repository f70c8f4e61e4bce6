import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import { EagerWorker } from "../../harness/eager-worker.js";
import { type GatewayHarness, gatewayOver } from "../../harness/gateway-harness.js";
import { gatewayId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  return h.close();
});

function over(made: GatewayHarness, slots?: number): Promise<EagerWorker> {
  gateways.push(made.gateway);
  return EagerWorker.over(made.gateway, slots === undefined ? {} : { slots });
}

const laneOf = async (): Promise<number> => (await h.store.lanes.ensure([{ queue: "default", task: "echo" }]))[0] ?? 0;

describe("lane cursors", () => {
  it("a run below the cursor of its lane is claimed when its wakeup arrives, without a full scan", async () => {
    const made = gatewayOver(h);
    const worker = await over(made);
    const rank = Date.now();
    await h.run({ rank });
    made.gateway.hint([{ lane: await laneOf(), rank }]);
    await worker.until(1);
    await h.run({ rank: rank - 50_000 });
    made.gateway.hint([{ lane: await laneOf(), rank: rank - 50_000 }]);
    await worker.until(2);
    expect(new Set(worker.ids).size).toBe(2);
  });

  it("a run below the cursor of its lane is claimed by the next full scan when its wakeup is lost", async () => {
    const made = gatewayOver(h, { limits: { fullScanIntervalMs: 50 } });
    const worker = await over(made);
    const rank = Date.now();
    await h.run({ rank });
    await worker.until(1);
    await h.run({ rank: rank - 50_000 });
    await worker.until(2);
    expect(new Set(worker.ids).size).toBe(2);
  });

  it("wakeups alone leave no run behind with several enqueuers and two gateways [INV-6]", async () => {
    const [one, two] = [gatewayOver(h), gatewayOver(h)];
    const workers = [await over(one, 3), await over(two, 5)];
    const lane = await laneOf();
    const now = Date.now();
    const enqueue = async (from: number): Promise<void> => {
      for (let index = 0; index < 100; index++) {
        const rank = now - ((from * 7_919 + index * 104_729) % 60_000);
        await h.run({ rank });
        for (const { gateway } of [one, two]) gateway.hint([{ lane, rank }]);
      }
    };
    await Promise.all([enqueue(1), enqueue(2), enqueue(3), enqueue(4)]);
    const ids = (): string[] => workers.flatMap((worker) => worker.ids);
    while (ids().length < 400) await new Promise((resolve) => setImmediate(resolve));
    expect(new Set(ids()).size).toBe(400);
  });
});

describe("claim order", () => {
  it("the order of claims follows the ranks over all lanes of a worker, once the lanes are known", async () => {
    const lanes = await h.store.lanes.ensure([
      { queue: "default", task: "echo" },
      { queue: "default", task: "other" },
    ]);
    const rank = Date.now() - 100_000;
    for (let index = 0; index < 40; index++) await h.run({ rank: rank + index, lane: lanes[index % 2] ?? 0 });
    const session = await h.session();
    const claimed = await h.claim(session, 40);
    expect(claimed.map((run) => run.rank)).toEqual(Array.from({ length: 40 }, (_, index) => rank + index));
  });

  it("a claim assigns a solo run only to a free slot, in its turn", async () => {
    const [plain = 0, solo = 0] = await h.store.lanes.ensure([
      { queue: "default", task: "echo" },
      { queue: "default", task: "echo", kind: "solo" },
    ]);
    const rank = Date.now() - 100_000;
    for (const [offset, lane] of [plain, solo, plain, solo, plain].entries())
      await h.run({ rank: rank + offset, lane });
    const session = await h.session();
    const read = { namespaceId: 1, fromRank: Number.MIN_SAFE_INTEGER, limit: 5 };
    const reads = [
      { ...read, lane: plain, isSolo: false },
      { ...read, lane: solo, isSolo: true },
    ];
    const demand = { gatewayId, sessions: [session], slots: [0, 0, 0, 0, 0], freeSlots: 2, reads };
    const { claimed } = await h.store.claims.completeAndClaim({ succeeded: [], demand });
    expect(claimed.map((run) => run.rank - rank)).toEqual([0, 1, 2, 4]);
  });

  it("a claim assigns runs to sessions in the order of the slots, and none to a dead session", async () => {
    const rank = Date.now() - 100_000;
    for (let index = 0; index < 6; index++) await h.run({ rank: rank + index });
    const [a, b] = [await h.session(), await h.session()];
    await h.store.sessions.close(b);
    const lane = await laneOf();
    const reads = [{ lane, namespaceId: 1, fromRank: Number.MIN_SAFE_INTEGER, limit: 6, isSolo: false }];
    const demand = { gatewayId, sessions: [a, b], slots: [0, 1, 0, 1, 0, 1], freeSlots: 6, reads };
    const { claimed } = await h.store.claims.completeAndClaim({ succeeded: [], demand });
    expect(claimed.map((run) => [run.rank - rank, run.session])).toEqual([
      [0, a],
      [2, a],
      [4, a],
    ]);
  });
});
