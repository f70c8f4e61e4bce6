import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { postgresCoordinator, type RowRegistryOptions } from "../../../src/cluster/postgres/row-registry.js";
import type { Coordinator } from "../../../src/cluster/shards.js";
import { TestTime } from "../../harness/cluster-harness.js";
import { newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

let h: StoreHarness;
let time: TestTime;
beforeEach(async () => {
  h = await storeHarness();
  time = new TestTime();
});
afterEach(() => h.close());

function node(name: string, over: Partial<RowRegistryOptions> = {}): Coordinator {
  const { nodes, shards } = h.store;
  const rows = { nodes, shards, lock: null, alone: false, wake: () => undefined };
  return postgresCoordinator({ ...time.member(name), ...rows, ...over });
}

const held = (one: Coordinator): number => one.membership.epochs.size;
const run = (text: string) => h.db.query({ text });

async function pair(): Promise<[Coordinator, Coordinator]> {
  const [a, b] = [node("a"), node("b")];
  await a.join();
  await b.join();
  await time.settle(a, b);
  return [a, b];
}

describe("RowRegistry", () => {
  it("the coordinator over PostgreSQL takes over at once where no other node can be alive", async () => {
    await node("a").join();
    expect((await node("b", { alone: true }).join()).gained).toHaveLength(1_024);
  });

  it("the coordinator over PostgreSQL starts every heartbeat count again after a pass that failed", async () => {
    const [, b] = await pair();
    const { nodes } = h.store;
    let failing = false;
    const flaky = { ...nodes, list: () => (failing ? Promise.reject(new Error("cut")) : nodes.list()) };
    const c = node("c", { nodes: flaky });
    await c.join();
    const beat = async (ms: number, ticks: number): Promise<void> => {
      for (let tick = 0; tick < ticks; tick++) {
        time.monotonic += ms;
        await b.tick();
        await c.tick();
      }
    };
    await beat(1_000, 3);
    failing = true;
    time.monotonic += 1_000;
    await expect(c.tick()).rejects.toThrow("cut");
    failing = false;
    time.events.length = 0;
    time.monotonic += 1_000;
    await c.tick();
    time.monotonic += 1_000;
    await c.tick();
    expect(time.count("node.lost")).toBe(0);
  });

  it("the coordinator over PostgreSQL does not wait for a shard that a write of its old owner locks, and takes it after that write", async () => {
    const a = node("a");
    await h.db.transaction(async (tx) => {
      await tx.query({ text: "select id from carillon.shard where id = 7 for share" });
      expect((await a.join()).gained).toHaveLength(1_023);
      expect(a.idleMs).toBeLessThan(1_000);
    });
    expect((await a.tick()).gained).toEqual([{ id: 7, epoch: 1 }]);
    expect(a.idleMs).toBe(1_000);
  });

  it("the coordinator over PostgreSQL adopts a shard that it took although the response was lost", async () => {
    const { shards } = h.store;
    let deaf = true;
    const lossy: typeof shards = {
      ...shards,
      take: async (owner, seen) => {
        const taken = await shards.take(owner, seen);
        if (deaf) throw new Error("the answer was lost");
        return taken;
      },
    };
    const a = node("a", { shards: lossy });
    await expect(a.join()).rejects.toThrow("lost");
    deaf = false;
    expect((await a.tick()).gained).toHaveLength(1_024);
    expect([...new Set((await shards.list()).map((shard) => shard.epoch))]).toEqual([1]);
  });

  it("the coordinator over PostgreSQL stores the skew of each node in its row, and a skewed node leaves its shards to the others", async () => {
    const [a, b] = await pair();
    time.skews.set("a", -3_600_000);
    time.monotonic += 1_000;
    expect((await a.tick()).lost).toHaveLength(512);
    expect((await b.tick()).gained).toHaveLength(512);
    const { rows } = await run("select name, skew_ms, takes_shards from carillon.node order by name");
    expect(rows).toEqual([
      { name: "a", skew_ms: -3_600_000, takes_shards: false },
      { name: "b", skew_ms: 0, takes_shards: true },
    ]);
    expect(time.events.at(-1)).not.toMatchObject({ type: "node.lost" });
    expect(time.events).toContainEqual({ type: "clock.skewed", skewMs: -3_600_000, toleranceMs: 500 });
    time.skews.set("a", 20);
    await time.settle(a, b);
    expect([held(a), held(b)]).toEqual([512, 512]);
    expect(time.count("clock.in_sync")).toBe(1);
  });

  it("the coordinator over PostgreSQL keeps firing when every node's clock disagrees with the database's", async () => {
    const [a, b] = await pair();
    time.skews.set("a", 9_000).set("b", 9_000);
    await time.settle(a, b);
    expect([held(a), held(b)]).toEqual([512, 512]);
    expect(time.count("clock.skewed")).toBe(2);
  });
});

describe("ShardTable", () => {
  async function readsOf(what: () => Promise<unknown>): Promise<boolean> {
    const { shards } = h.store;
    const before = await shards.moves();
    await what();
    return (await shards.moves()) !== before;
  }

  it("the rows of the shards count as moved after each statement that moves one", async () => {
    const { shards } = h.store;
    const owner = newId();
    const rows = await shards.list();
    expect(await readsOf(() => shards.list())).toBe(false);
    expect(await readsOf(() => shards.take(owner, rows.slice(3, 4)))).toBe(true);
    expect(await readsOf(() => shards.drop(owner, [3]))).toBe(true);
    expect(await readsOf(() => shards.take(owner, rows.slice(4, 6)))).toBe(true);
    expect(await readsOf(() => shards.release(owner))).toBe(true);
    expect(await readsOf(() => shards.release(owner))).toBe(false);
  });

  it("the rows of the shards count as moved when another program changes an owner without the epoch", async () => {
    const set = "update carillon.shard set owner = gen_random_uuid() where id = 7";
    expect(await readsOf(() => run(set))).toBe(true);
    expect(await readsOf(() => run(set))).toBe(true);
  });

  it("the rows of the shards are read once, and again only after a shard moved", async () => {
    let reads = 0;
    const { shards } = h.store;
    const counting: typeof shards = { ...shards, list: () => (reads++, shards.list()) };
    const a = node("a", { shards: counting });
    await a.join();
    await time.settle(a);
    const settled = reads;
    const { shards: ids } = a.membership;
    for (let pass = 0; pass < 3; pass++) expect(await a.tick()).toEqual({ gained: [], lost: [] });
    expect(reads).toBe(settled);
    expect(a.membership.shards).toBe(ids);
    await run("update carillon.shard set owner = null, epoch = epoch + 1 where id = 7");
    expect(await a.tick()).toMatchObject({ gained: [{ id: 7 }], lost: [7] });
    expect(reads).toBeGreaterThan(settled);
    expect(a.membership.shards).toHaveLength(1_024);
  });
});

describe("DatabaseTimeline", () => {
  const remembered = async (): Promise<unknown> =>
    (await run("select value from carillon.setting where name = 'database_timeline'")).rows[0];

  it("another timeline of the database is not reported while the server stays the same", async () => {
    const [a, b] = await pair();
    const before = await remembered();
    await time.settle(a, b);
    expect(await remembered()).toEqual(before);
    expect(time.count("database.timeline_changed")).toBe(0);
  });

  it("another timeline of the database voids every lease and makes every epoch jump, once for all nodes [INV-3]", async () => {
    const [a, b] = await pair();
    const before = await h.store.shards.list();
    const ids = [a.membership.nodeId, b.membership.nodeId];
    const real = await remembered();
    await run("update carillon.setting set value = '1.1.00000001' where name = 'database_timeline'");
    await time.settle(a, b);
    expect(await remembered()).toEqual(real);
    expect(time.count("database.timeline_changed")).toBe(1);
    for (const { id, epoch } of await h.store.shards.list()) {
      expect(epoch).toBeGreaterThan((before[id]?.epoch ?? 0) + 1_000_000);
    }
    expect(ids).not.toContain(a.membership.nodeId);
    expect(ids).not.toContain(b.membership.nodeId);
    expect([held(a), held(b)]).toEqual([512, 512]);
  });

  it("another timeline of the database is also reported for an earlier state of the same files", async () => {
    const { shards } = h.store;
    let back = 0n;
    const rewound: typeof shards = {
      ...shards,
      timeline: async () => {
        const row = await shards.timeline();
        return { ...row, flushed: String(BigInt(row.flushed) - back) };
      },
    };
    const a = node("a", { shards: rewound });
    await a.join();
    const before = a.membership.nodeId;
    back = 1_000_000n;
    expect(await a.tick()).toMatchObject({ lost: { length: 1_024 }, gained: { length: 1_024 } });
    expect(a.membership.nodeId).not.toBe(before);
    expect(time.count("database.timeline_changed")).toBe(1);
    expect(await a.tick()).toEqual({ gained: [], lost: [] });
  });

  it("another timeline of the database is detected by a user without special rights", async () => {
    const role = `reader_${newId().slice(-12)}`;
    const ask = "select system_identifier::text, pg_walfile_name(pg_current_wal_flush_lsn()) from pg_control_system()";
    const answer = h.db.transaction(async (tx) => {
      await tx.query({ text: `create role ${role}; set local role ${role}` });
      const { rowCount } = await tx.query({ text: ask });
      await tx.query({ text: `reset role; drop role ${role}` });
      return rowCount;
    });
    expect(await answer).toBe(1);
  });

  it("another timeline of the database is not detected, which an event reports, where the server does not show its identity", async () => {
    const { shards } = h.store;
    const refused = Object.assign(new Error("permission denied"), { code: "42501" });
    const a = node("a", { shards: { ...shards, timeline: () => Promise.reject(refused) } });
    expect((await a.join()).gained).toHaveLength(1_024);
    await time.settle(a);
    expect(time.events.filter((event) => event.type === "database.timeline_unknown")).toEqual([
      { type: "database.timeline_unknown", reason: refused },
    ]);
  });
});
