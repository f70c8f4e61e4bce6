import { beforeEach, describe, expect, it } from "vitest";
import type { FarFutureRun, FarFutureStore, ShardFrom } from "@carillon/store";
import { membershipOf } from "../../../src/cluster/shards.js";
import type { EngineEvent } from "../../../src/events.js";
import { FarFuturePromoter } from "../../../src/scheduler/far-future-promoter.js";

const limits = {
  leadMs: 300,
  scanIntervalMs: 10,
  fullScanIntervalMs: 1_000,
  shardsPerScan: 3,
  batch: 4,
  shardsPerPromotion: 2,
};

/** The table far_future_run as a list, which records its calls. */
class FarFutureRows implements FarFutureStore {
  rows: { id: string; shard: number; runAt: number }[] = [];
  readonly scans: { shards: readonly ShardFrom[]; until: number }[] = [];
  readonly promotions: { from: [number, number][]; limit: number }[] = [];
  scanCostMs = 0;
  now = 1_000_000_000_000;
  isFenced = false;
  failure: Error | null = null;
  scanFailure: Error | null = null;

  async scan(shards: readonly ShardFrom[], until: number): Promise<ShardFrom[]> {
    this.scans.push({ shards, until });
    this.now += this.scanCostMs;
    if (this.scanFailure !== null) throw this.scanFailure;
    return shards.flatMap(({ shard, from }) => {
      const times = this.#of(shard, from, until).map((row) => row.runAt);
      return times.length === 0 ? [] : [{ shard, from: Math.min(...times) }];
    });
  }

  async promote(...[fence, from, until, limit]: Parameters<FarFutureStore["promote"]>): Promise<FarFutureRun[]> {
    this.promotions.push({ from: fence.shards.map(({ id }) => [id, from.get(id) ?? 0]), limit });
    if (this.failure !== null) throw this.failure;
    if (this.isFenced) return [];
    const promoted = fence.shards.flatMap(({ id }) => this.#of(id, from.get(id) ?? 0, until).slice(0, limit));
    this.rows = this.rows.filter((row) => !promoted.includes(row));
    return promoted.map((row) => ({ ...row, lane: 1, rank: 0, state: row.runAt <= this.now ? "queued" : "scheduled" }));
  }

  #of(shard: number, from: number, until: number): typeof this.rows {
    const rows = this.rows.filter((row) => row.shard === shard && row.runAt >= from && row.runAt < until);
    return rows.sort((a, b) => a.runAt - b.runAt);
  }
}

let store: FarFutureRows;
let events: EngineEvent[];
let announced: string[];
let promoter: FarFuturePromoter;
let epochs: Map<number, number>;

function put(shard: number, fromNowMs: number, id = `${shard}@${fromNowMs}`): void {
  store.rows.push({ id, shard, runAt: store.now + fromNowMs });
}

/** Ticks until nothing is left to do now. Answers how many runs it promoted. */
async function tickUntilIdle(): Promise<number> {
  let promoted = 0;
  for (let report = await promoter.tick(); report.scanned > 0 || report.promoted > 0; report = await promoter.tick())
    promoted += report.promoted;
  return promoted;
}

beforeEach(() => {
  store = new FarFutureRows();
  [events, announced] = [[], []];
  epochs = new Map([1, 2, 3].map((shard) => [shard, 5]));
  promoter = new FarFuturePromoter({
    store: { farFuture: store },
    now: () => store.now,
    membership: () => membershipOf("n", epochs),
    emit: (event) => events.push(event),
    limits: { farFuture: limits },
    loops: { register: () => undefined, wake: () => undefined },
    wakeups: {
      on: () => undefined,
      runsQueued: (runs) => announced.push(...runs.map((run) => `queued ${run.id}`)),
      runsDue: (runs) => announced.push(...runs.map((run) => `due ${run.id}`)),
    },
  });
});

describe("FarFuturePromoter", () => {
  it("the promoter promotes the runs that are due within its lead time and leaves the rest", async () => {
    for (const ms of [100, 299, 300, 5_000]) put(1, ms);
    expect(await tickUntilIdle()).toBe(2);
    expect(store.rows.map((row) => row.id)).toEqual(["1@300", "1@5000"]);
    expect(announced).toEqual(["due 1@100", "due 1@299"]);
    expect(events).toEqual([{ type: "runs.promoted", count: 2 }]);
  });

  it("the promoter promotes overdue runs first, in bounded batches, and announces them to the workers", async () => {
    for (let i = 0; i < 5; i++) put(1, i);
    for (let i = 0; i < 5; i++) put(2, i - 1_000);
    put(3, 200);
    await promoter.tick();
    expect(store.promotions[0]).toEqual({
      from: [
        [2, store.now - 1_000],
        [1, store.now],
      ],
      limit: 2,
    });
    expect(announced.slice(0, 2)).toEqual(["queued 2@-1000", "queued 2@-999"]);
    expect(await tickUntilIdle()).toBe(7);
    expect(store.rows).toEqual([]);
  });

  it("the promoter continues where the last promotion ended and does not read promoted rows again", async () => {
    for (let i = 0; i < 9; i++) put(1, i * 10);
    await tickUntilIdle();
    expect(store.promotions.map((promotion) => promotion.from[0]?.[1])).toEqual(
      [0, 30, 70].map((ms) => store.now + ms),
    );
    store.now += limits.scanIntervalMs;
    await promoter.tick();
    const [first, second] = store.scans;
    expect(first?.shards.map((one) => one.from)).toEqual([0, 0, 0]);
    expect(second?.shards.find((one) => one.shard === 1)?.from).toBe(first?.until);
  });

  it("the promoter finds a run that was committed late by its full scan", async () => {
    await tickUntilIdle();
    put(1, 400);
    store.now += 150;
    put(2, 200);
    expect(await tickUntilIdle()).toBe(2);
    put(1, -5_000, "committed late");
    store.now += limits.scanIntervalMs;
    expect(await tickUntilIdle()).toBe(0);
    store.now += limits.fullScanIntervalMs;
    expect(await tickUntilIdle()).toBe(1);
    expect(announced).toContain("queued committed late");
  });

  it("the promoter runs an expensive full scan less often", async () => {
    store.scanCostMs = 500;
    await promoter.tick();
    store.scanCostMs = 0;
    const fullScans = (): number => store.scans.filter((scan) => scan.shards.every((one) => one.from === 0)).length;
    for (let i = 0; i < 9; i++) {
      store.now += limits.fullScanIntervalMs;
      put(1, 0);
      put(2, 0);
      put(3, 0);
      await tickUntilIdle();
    }
    expect(fullScans()).toBe(1);
    store.now += limits.fullScanIntervalMs;
    await tickUntilIdle();
    expect(fullScans()).toBe(2);
  });

  it("the promoter continues its scans from where they were after a failed full scan, and repeats that one later", async () => {
    await tickUntilIdle();
    put(1, limits.fullScanIntervalMs + 200);
    store.now += limits.fullScanIntervalMs;
    store.scanFailure = new Error("too long");
    await expect(promoter.tick()).rejects.toThrow("too long");
    store.scanFailure = null;
    store.now += limits.scanIntervalMs;
    expect(await tickUntilIdle()).toBe(1);
    expect(store.scans.at(-1)?.shards.every((one) => one.from > 0)).toBe(true);
    store.now += limits.fullScanIntervalMs;
    await tickUntilIdle();
    expect(store.scans.at(-1)?.shards.every((one) => one.from === 0)).toBe(true);
  });

  it("the promoter scans a bounded number of shards per statement [INV-12]", async () => {
    for (let shard = 4; shard <= 8; shard++) epochs.set(shard, 5);
    put(8, 0);
    expect(await tickUntilIdle()).toBe(1);
    expect(store.scans.map((scan) => scan.shards.length)).toEqual([3, 3, 2]);
  });

  it("the promoter reads a regained shard from its beginning and forgets a lost one", async () => {
    await tickUntilIdle();
    put(1, -50);
    put(2, 0);
    epochs.delete(2);
    promoter.forgetShards([2]);
    promoter.scanShards([1]);
    expect(await tickUntilIdle()).toBe(1);
    expect(store.rows.map((row) => row.shard)).toEqual([2]);
  });

  it("the promoter promotes nothing in a shard that it lost after the scan", async () => {
    for (let i = 0; i < 20; i++) put(1, i);
    await promoter.tick();
    epochs.delete(1);
    expect((await promoter.tick()).promoted).toBe(0);
    expect(promoter.idleMs).toBe(limits.scanIntervalMs);
  });

  it("the promoter emits write.fenced when a scan found a run and none was promoted, and tries again", async () => {
    put(1, 0);
    store.isFenced = true;
    await promoter.tick();
    expect(events).toEqual([{ type: "write.fenced", statement: "far_future.promote", count: 1 }]);
    store.isFenced = false;
    store.now += limits.scanIntervalMs;
    expect(await tickUntilIdle()).toBe(1);
  });

  it("the promoter tries again after a promotion whose outcome is unknown", async () => {
    put(1, 0);
    store.failure = new Error("connection lost");
    await expect(promoter.tick()).rejects.toThrow("connection lost");
    store.failure = null;
    expect(promoter.idleMs).toBe(0);
    expect(await tickUntilIdle()).toBe(1);
  });

  it("the promoter scans every shard again without delay when the clock goes back", async () => {
    await tickUntilIdle();
    store.now -= 3_600_000;
    put(1, 200);
    expect(promoter.idleMs).toBe(limits.scanIntervalMs);
    expect(await tickUntilIdle()).toBe(1);
  });

  it("the promoter pauses between promotions as long as they take while no run is urgent", async () => {
    for (let i = 0; i < 9; i++) put(1, 250);
    const promote = store.promote.bind(store);
    store.promote = (...args) => {
      store.now += 7;
      return promote(...args);
    };
    await promoter.tick();
    expect(promoter.idleMs).toBe(7);
    put(2, 0);
    store.now += limits.scanIntervalMs;
    await promoter.tick();
    put(2, 0);
    store.now += 200;
    expect(promoter.idleMs).toBe(0);
  });
});
