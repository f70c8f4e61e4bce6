import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/dispatch/gateway.js";
import type { Queued } from "@carillon/store";
import { EagerWorker } from "../../harness/eager-worker.js";
import { gatewayOver } from "../../harness/gateway-harness.js";
import { newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

type Hint = Pick<Queued, "lane" | "rank">;

/** A way for runs to become claimable below the bound. */
interface Way {
  readonly name: string;
  /** Sets the stage; answers what makes the runs claimable, and their hints. */
  prepare(rank: number): Promise<{ count: number; happen: () => Promise<readonly Hint[]> }>;
}

let h: StoreHarness;
const gateways: Gateway[] = [];
beforeEach(async () => {
  h = await storeHarness();
});
afterEach(() => {
  for (const gateway of gateways.splice(0)) gateway.stop();
  return h.close();
});

const laneOf = async (kind: "plain" | "lost" = "plain"): Promise<number> =>
  (await h.store.lanes.ensure([{ queue: "default", task: "echo", kind }]))[0] ?? 0;

/** Claimed by a worker of which the gateway under test knows nothing. */
async function heldElsewhere(rank: number): Promise<{ id: string; fence: number; session: string }> {
  const id = await h.run({ rank });
  const session = await h.session();
  const [run] = await h.claim(session, 1);
  return { id, fence: run?.fence ?? 0, session };
}

const record = { attempt: 1 } as never;

const ways: readonly Way[] = [
  {
    name: "by a transaction that commits late",
    async prepare(rank) {
      const id = await h.run({ rank, runAt: Date.now() + 3_600_000 });
      let commit = (): void => undefined;
      const released = new Promise<void>((resolve) => (commit = resolve));
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const done = h.db.transaction(async (tx) => {
        await tx.query({ text: "update carillon.run set state = 'queued', run_at = now() where id = $1" }, [id]);
        begin();
        await released;
      });
      await begun;
      const happen = async (): Promise<Hint[]> => {
        commit();
        await done;
        return [{ lane: await laneOf(), rank }];
      };
      return { count: 1, happen };
    },
  },
  {
    name: "by its time, ahead of which it was queued",
    async prepare(rank) {
      const id = await h.run({ rank, runAt: Date.now() + 600_000 });
      const fence = await h.takeAll(newId());
      expect(await h.store.runs.promote(fence, [id], 3_600_000)).toHaveLength(1);
      const happen = async (): Promise<Hint[]> => {
        await h.db.query({ text: "update carillon.run set run_at = now() where id = $1" }, [id]);
        return [{ lane: await laneOf(), rank }];
      };
      return { count: 1, happen };
    },
  },
  {
    name: "by a retry",
    async prepare(rank) {
      const claim = await heldElsewhere(rank + 10);
      const fence = await h.takeAll(newId());
      const happen = async (): Promise<Hint[]> => {
        await h.store.claims.retry([{ ...claim, delayMs: 0, rank, record }]);
        return h.store.runs.promote(fence, [claim.id]);
      };
      return { count: 1, happen };
    },
  },
  {
    name: "by a rescue",
    async prepare(rank) {
      const claim = await heldElsewhere(rank);
      const happen = async (): Promise<Hint[]> => {
        await h.store.sessions.close(claim.session);
        return h.store.runs.rescue(
          (await h.store.runs.lost(10)).map((run) => run.id),
          3,
        );
      };
      return { count: 1, happen };
    },
  },
  {
    name: "by several enqueuers at once",
    async prepare(rank) {
      const enqueue = async (from: number): Promise<Hint[]> => {
        const hints: Hint[] = [];
        for (let index = 0; index < 20; index++) {
          const own = rank - ((from * 7_919 + index * 104_729) % 40_000);
          await h.run({ rank: own });
          hints.push({ lane: await laneOf(), rank: own });
        }
        return hints;
      };
      const happen = async (): Promise<Hint[]> => (await Promise.all([1, 2, 3, 4].map(enqueue))).flat();
      return { count: 80, happen };
    },
  },
];

/** A worker whose lanes, those of lost runs included, are read from above the rank on. */
async function workerAbove(
  rank: number,
  fullScanIntervalMs: number,
): Promise<{ gateway: Gateway; worker: EagerWorker }> {
  const { gateway } = gatewayOver(h, { limits: { fullScanIntervalMs } });
  gateways.push(gateway);
  const worker = await EagerWorker.over(gateway);
  for (const kind of ["plain", "lost"] as const) {
    const lane = await laneOf(kind);
    await h.run({ rank, lane });
    gateway.hint([{ lane, rank }]);
  }
  await worker.until(2);
  return { gateway, worker };
}

describe("runs below the lane cursor", () => {
  it.each(ways)("$name starts when its wakeup arrives, without a full scan [INV-6]", async ({ prepare }) => {
    const now = Date.now() - 1_000;
    const { count, happen } = await prepare(now - 50_000);
    const { gateway, worker } = await workerAbove(now, 3_600_000);
    gateway.hint(await happen());
    await worker.until(2 + count);
    expect(new Set(worker.ids).size).toBe(2 + count);
  });

  it.each(ways)("$name starts with the next full scan when its wakeup is lost [INV-6]", async ({ prepare }) => {
    const now = Date.now() - 1_000;
    const { count, happen } = await prepare(now - 50_000);
    const { worker } = await workerAbove(now, 50);
    await happen();
    await worker.until(2 + count);
    expect(new Set(worker.ids).size).toBe(2 + count);
  });
});

describe("concurrent gateways", () => {
  it("two gateways that claim at once assign every run once, whichever gateway gets the wakeup [INV-4]", async () => {
    const made = [gatewayOver(h), gatewayOver(h)];
    gateways.push(...made.map(({ gateway }) => gateway));
    const rank = Date.now() - 100_000;
    const ids: string[] = [];
    for (let index = 0; index < 200; index++) ids.push(await h.run({ rank: rank + index }));
    const workers = await Promise.all(
      made.flatMap(({ gateway }) => [3, 20].map((slots) => EagerWorker.over(gateway, { slots }))),
    );
    const all = (): string[] => workers.flatMap((worker) => worker.ids);
    while (all().length < ids.length) await new Promise((resolve) => setImmediate(resolve));
    expect(all().sort()).toEqual([...ids].sort());
  });
});
