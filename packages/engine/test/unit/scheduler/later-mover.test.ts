import { beforeEach, describe, expect, it } from "vitest";
import type { EngineEvent } from "../../../src/events.js";
import { LaterMover, type LaterMoverOptions } from "../../../src/scheduler/far-future-promoter.js";
import type { LaterStore, MovedRun, ShardFrom } from "@carillon/store";
import { membershipOf } from "../../../src/cluster/coordinator.js";

const limits = { leadMs: 300, lookMs: 10, fullLookMs: 1_000, shardsPerLook: 3, batch: 4, shardsPerMove: 2 };

/** run_later as a list, and what was asked of it. */
class LaterRows implements Pick<LaterStore, "look" | "move"> {
  rows: { id: string; shard: number; runAt: number }[] = [];
  readonly looks: { shards: readonly ShardFrom[]; until: number }[] = [];
  readonly moves: { from: [number, number][]; limit: number }[] = [];
  lookCostMs = 0;
  now = 1_000_000_000_000;
  isFenced = false;
  failure: Error | null = null;
  lookFailure: Error | null = null;

  async look(shards: readonly ShardFrom[], until: number): Promise<ShardFrom[]> {
    this.looks.push({ shards, until });
    this.now += this.lookCostMs;
    if (this.lookFailure !== null) throw this.lookFailure;
    return shards.flatMap(({ shard, from }) => {
      const times = this.#of(shard, from, until).map((row) => row.runAt);
      return times.length === 0 ? [] : [{ shard, from: Math.min(...times) }];
    });
  }

  async move(...[fence, from, until, limit]: Parameters<LaterStore["move"]>): Promise<MovedRun[]> {
    this.moves.push({ from: fence.shards.map(({ id }) => [id, from.get(id) ?? 0]), limit });
    if (this.failure !== null) throw this.failure;
    if (this.isFenced) return [];
    const moved = fence.shards.flatMap(({ id }) => this.#of(id, from.get(id) ?? 0, until).slice(0, limit));
    this.rows = this.rows.filter((row) => !moved.includes(row));
    return moved.map((row) => ({ ...row, lane: 1, rank: 0, state: row.runAt <= this.now ? "queued" : "scheduled" }));
  }

  #of(shard: number, from: number, until: number): typeof this.rows {
    const rows = this.rows.filter((row) => row.shard === shard && row.runAt >= from && row.runAt < until);
    return rows.sort((a, b) => a.runAt - b.runAt);
  }
}

let store: LaterRows;
let events: EngineEvent[];
let announced: string[];
let mover: LaterMover;
let epochs: Map<number, number>;

function put(shard: number, fromNowMs: number, id = `${shard}@${fromNowMs}`): void {
  store.rows.push({ id, shard, runAt: store.now + fromNowMs });
}

/** Ticks until nothing is left to do now. */
async function settle(): Promise<number> {
  let moved = 0;
  for (let report = await mover.tick(); report.looked > 0 || report.moved > 0; report = await mover.tick())
    moved += report.moved;
  return moved;
}

beforeEach(() => {
  store = new LaterRows();
  [events, announced] = [[], []];
  epochs = new Map([1, 2, 3].map((shard) => [shard, 5]));
  const options: LaterMoverOptions = {
    later: store,
    now: () => store.now,
    membership: () => membershipOf("n", epochs),
    onQueued: (runs) => announced.push(...runs.map((run) => `queued ${run.id}`)),
    onDueRuns: (runs) => announced.push(...runs.map((run) => `due ${run.id}`)),
    onEvent: (event) => events.push(event),
    limits,
  };
  mover = new LaterMover(options);
});

describe("LaterMover", () => {
  it("moves what is due within its lead and leaves the rest", async () => {
    for (const ms of [100, 299, 300, 5_000]) put(1, ms);
    expect(await settle()).toBe(2);
    expect(store.rows.map((row) => row.id)).toEqual(["1@300", "1@5000"]);
    expect(announced).toEqual(["due 1@100", "due 1@299"]);
    expect(events).toEqual([{ type: "runs.moved", count: 2 }]);
  });

  it("moves overdue runs first, in bounded batches, and tells the workers", async () => {
    for (let i = 0; i < 5; i++) put(1, i);
    for (let i = 0; i < 5; i++) put(2, i - 1_000);
    put(3, 200);
    await mover.tick();
    expect(store.moves[0]).toEqual({
      from: [
        [2, store.now - 1_000],
        [1, store.now],
      ],
      limit: 2,
    });
    expect(announced.slice(0, 2)).toEqual(["queued 2@-1000", "queued 2@-999"]);
    expect(await settle()).toBe(7);
    expect(store.rows).toEqual([]);
  });

  it("goes on where the last move ended, not over what it moved", async () => {
    for (let i = 0; i < 9; i++) put(1, i * 10);
    await settle();
    expect(store.moves.map((move) => move.from[0]?.[1])).toEqual([0, 30, 70].map((ms) => store.now + ms));
    store.now += limits.lookMs;
    await mover.tick();
    const [first, second] = store.looks;
    expect(first?.shards.map((one) => one.from)).toEqual([0, 0, 0]);
    expect(second?.shards.find((one) => one.shard === 1)?.from).toBe(first?.until);
  });

  it("finds by its full look what appeared behind it", async () => {
    await settle();
    put(1, 400);
    store.now += 150;
    put(2, 200);
    expect(await settle()).toBe(2);
    put(1, -5_000, "committed late");
    store.now += limits.lookMs;
    expect(await settle()).toBe(0);
    store.now += limits.fullLookMs;
    expect(await settle()).toBe(1);
    expect(announced).toContain("queued committed late");
  });

  it("takes its full look less often when it is dear", async () => {
    store.lookCostMs = 500;
    await mover.tick();
    store.lookCostMs = 0;
    const fullLooks = (): number => store.looks.filter((look) => look.shards.every((one) => one.from === 0)).length;
    for (let i = 0; i < 9; i++) {
      store.now += limits.fullLookMs;
      put(1, 0);
      put(2, 0);
      put(3, 0);
      await settle();
    }
    expect(fullLooks()).toBe(1);
    store.now += limits.fullLookMs;
    await settle();
    expect(fullLooks()).toBe(2);
  });

  it("goes on looking from where it was when the full look fails, and tries that again later", async () => {
    await settle();
    put(1, limits.fullLookMs + 200);
    store.now += limits.fullLookMs;
    store.lookFailure = new Error("too long");
    await expect(mover.tick()).rejects.toThrow("too long");
    store.lookFailure = null;
    store.now += limits.lookMs;
    expect(await settle()).toBe(1);
    expect(store.looks.at(-1)?.shards.every((one) => one.from > 0)).toBe(true);
    store.now += limits.fullLookMs;
    await settle();
    expect(store.looks.at(-1)?.shards.every((one) => one.from === 0)).toBe(true);
  });

  it("asks about a bounded number of shards at a time [INV-12]", async () => {
    for (let shard = 4; shard <= 8; shard++) epochs.set(shard, 5);
    put(8, 0);
    expect(await settle()).toBe(1);
    expect(store.looks.map((look) => look.shards.length)).toEqual([3, 3, 2]);
  });

  it("starts a shard anew that came back, and forgets one that went", async () => {
    await settle();
    put(1, -50);
    put(2, 0);
    epochs.delete(2);
    mover.forgetShards([2]);
    mover.hintShards([1]);
    expect(await settle()).toBe(1);
    expect(store.rows.map((row) => row.shard)).toEqual([2]);
  });

  it("does not move for a shard that it lost after the look", async () => {
    for (let i = 0; i < 20; i++) put(1, i);
    await mover.tick();
    epochs.delete(1);
    expect((await mover.tick()).moved).toBe(0);
    expect(mover.idleMs).toBe(limits.lookMs);
  });

  it("says that a write was refused when a run was seen and none moved, and tries again", async () => {
    put(1, 0);
    store.isFenced = true;
    await mover.tick();
    expect(events).toEqual([{ type: "write.refused", statement: "later.move", count: 1 }]);
    store.isFenced = false;
    store.now += limits.lookMs;
    expect(await settle()).toBe(1);
  });

  it("tries again after an error whose outcome is unknown", async () => {
    put(1, 0);
    store.failure = new Error("connection lost");
    await expect(mover.tick()).rejects.toThrow("connection lost");
    store.failure = null;
    expect(mover.idleMs).toBe(0);
    expect(await settle()).toBe(1);
  });

  it("looks at everything again when the clock went back, and does not sleep through it", async () => {
    await settle();
    store.now -= 3_600_000;
    put(1, 200);
    expect(mover.idleMs).toBe(limits.lookMs);
    expect(await settle()).toBe(1);
  });

  it("pauses between moves as long as they take while nothing is urgent", async () => {
    for (let i = 0; i < 9; i++) put(1, 250);
    const move = store.move.bind(store);
    store.move = (...args) => {
      store.now += 7;
      return move(...args);
    };
    await mover.tick();
    expect(mover.idleMs).toBe(7);
    put(2, 0);
    store.now += limits.lookMs;
    await mover.tick();
    put(2, 0);
    store.now += 200;
    expect(mover.idleMs).toBe(0);
  });
});
