import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PostgresCoordinator } from "../../../src/coordinator/postgres/postgres-coordinator.js";
import { newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let monotonic = 0;
beforeEach(async () => {
  h = await storeHarness();
  monotonic = 0;
});
afterEach(() => h.close());

const leaseMs = 5_000;

function node(name: string, alone = false): PostgresCoordinator {
  const { nodes, shards } = h.store;
  const clock = { now: Date.now, monotonic: () => monotonic };
  const who = { name, address: null, version: "0" };
  return new PostgresCoordinator({ nodes, shards, clock, newId, node: who, leaseMs, skewMs: () => 0, alone });
}

const held = (one: PostgresCoordinator): number => one.membership.epochs.size;

async function epochs(): Promise<number[]> {
  return (await h.store.shards.list()).map((shard) => shard.epoch);
}

/** Both tick, a second apart, until nothing moves any more. */
async function settle(...nodes: PostgresCoordinator[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    monotonic += 1_000;
    for (const one of nodes) await one.tick();
  }
}

describe("the coordinator over PostgreSQL", () => {
  it("gives every shard to the only node", async () => {
    const a = node("a");
    expect((await a.join()).gained).toHaveLength(1_024);
  });

  it("spreads the shards evenly when a node joins, and every shard has one owner", async () => {
    const [a, b, c] = [node("a"), node("b"), node("c")];
    for (const one of [a, b, c]) await one.join();
    await settle(a, b, c);
    expect([held(a), held(b), held(c)].sort((x, y) => x - y)).toEqual([341, 341, 342]);
    const owners = await h.store.shards.list();
    expect(owners.every((shard) => shard.owner !== null)).toBe(true);
  });

  it("moves the shards of a node that stays silent for the whole lease, not before", async () => {
    const [a, b] = [node("a"), node("b")];
    await a.join();
    await b.join();
    await settle(a, b);
    monotonic += 1_000;
    await b.tick();
    monotonic += leaseMs - 1_001;
    expect((await b.tick()).gained).toEqual([]);
    monotonic += 1_001;
    expect((await b.tick()).gained).toHaveLength(512);
    expect(held(b)).toBe(1_024);
  });

  it("does not take a silence for death that began while its own reads failed", async () => {
    const [a, b] = [node("a"), node("b")];
    await a.join();
    await b.join();
    await settle(a, b);
    monotonic += 20_000;
    expect((await b.tick()).gained).toEqual([]);
    expect(held(a)).toBe(512);
  });

  it("lets a node that was declared dead come back as a new one", async () => {
    const [a, b] = [node("a"), node("b")];
    await a.join();
    await b.join();
    await settle(a, b);
    for (let second = 0; second <= 6; second++) {
      monotonic += 1_000;
      await b.tick();
    }
    const before = a.membership.nodeId;
    const change = await a.tick();
    expect(change.lost).toHaveLength(512);
    expect(a.membership.nodeId).not.toBe(before);
    await settle(a, b);
    expect([held(a), held(b)]).toEqual([512, 512]);
  });

  it("hands everything over when it leaves", async () => {
    const [a, b] = [node("a"), node("b")];
    await a.join();
    await b.join();
    await settle(a, b);
    await a.leave();
    expect((await b.tick()).gained).toHaveLength(512);
  });

  it("takes over at once where no other node can be alive", async () => {
    const a = node("a");
    await a.join();
    const b = node("b", true);
    expect((await b.join()).gained).toHaveLength(1_024);
  });

  it("only ever makes epochs grow [INV-3]", async () => {
    const [a, b] = [node("a"), node("b")];
    let before = await epochs();
    const grown = async (): Promise<boolean> => {
      const now = await epochs();
      const isGrown = now.every((epoch, shard) => epoch >= (before[shard] ?? 0));
      before = now;
      return isGrown;
    };
    await a.join();
    expect(await grown()).toBe(true);
    await b.join();
    await settle(a, b);
    expect(await grown()).toBe(true);
    await a.leave();
    await settle(b);
    expect(await grown()).toBe(true);
    await b.leave();
    expect(await grown()).toBe(true);
    expect(Math.min(...before)).toBeGreaterThan(1);
  });
});
