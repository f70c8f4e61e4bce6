import type { Coordinator } from "@carillon/engine";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** A cluster of one adapter, whose time the test controls. */
export interface ClusterUnderTest {
  /** A node that has not joined yet. */
  node(name: string): Coordinator;
  readonly leaseMs: number;
  /** The time between two rounds in which every node ticks. */
  readonly roundMs: number;
  /** Lets time pass for all nodes. */
  pass(ms: number): Promise<void>;
  /** The owner of each shard, according to the fence in the database. */
  owners(): Promise<readonly { id: number; owner: string | null; epoch: number }[]>;
  /** Events of all nodes so far. */
  readonly events: readonly { readonly type: string }[];
  close(): Promise<void>;
}

export interface CoordinatorTraits {
  /** Nodes observe the heartbeats of each other; otherwise a server of the adapter counts the leases. */
  readonly peersObserve: boolean;
}

const shards = 1_024;
const held = (one: Coordinator): number => one.membership.epochs.size;

/** The contract of every coordinator. Declares the tests; each gets its own cluster. */
export function coordinatorConformance(
  adapter: string,
  open: () => Promise<ClusterUnderTest>,
  { peersObserve }: CoordinatorTraits,
): void {
  let cluster: ClusterUnderTest;
  beforeEach(async () => {
    cluster = await open();
  });
  afterEach(() => cluster.close());

  /** All nodes tick a few times. */
  const stabilise = async (...nodes: Coordinator[]): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await cluster.pass(cluster.roundMs);
      for (const one of nodes) await one.tick();
    }
  };
  const started = async (...names: string[]): Promise<Coordinator[]> => {
    const nodes = names.map((name) => cluster.node(name));
    for (const one of nodes) await one.join();
    await stabilise(...nodes);
    return nodes;
  };
  const pair = async (): Promise<[Coordinator, Coordinator]> => {
    const [a, b] = await started("a", "b");
    if (a === undefined || b === undefined) throw new Error("Two nodes were started.");
    return [a, b];
  };
  /** Only this node ticks, for longer than the lease. */
  const tickAlone = async (one: Coordinator): Promise<void> => {
    for (let fifth = 0; fifth <= 7; fifth++) {
      await cluster.pass(cluster.leaseMs / 5);
      await one.tick();
    }
  };
  /** No two nodes own a shard, and each owns exactly the shards that it may write. */
  const expectOneOwnerEach = async (...nodes: Coordinator[]): Promise<void> => {
    const rows = await cluster.owners();
    for (const { membership } of nodes) {
      for (const [id, epoch] of membership.epochs) {
        expect(rows[id]).toEqual({ id, owner: membership.nodeId, epoch });
      }
    }
    expect(nodes.reduce((sum, one) => sum + held(one), 0)).toBeLessThanOrEqual(shards);
  };

  describe(`a coordinator (${adapter})`, () => {
    it("gives every shard to a single node", async () => {
      const a = cluster.node("a");
      expect((await a.join()).gained).toHaveLength(shards);
      await expectOneOwnerEach(a);
    });

    it("spreads the shards evenly, each with one owner", async () => {
      const nodes = await started("a", "b", "c");
      expect(nodes.map(held).sort((x, y) => x - y)).toEqual([341, 341, 342]);
      await expectOneOwnerEach(...nodes);
      expect((await cluster.owners()).every((shard) => shard.owner !== null)).toBe(true);
    });

    it("reports exactly the gained and lost shards to the caller", async () => {
      const [a, b] = await pair();
      const before = new Map(a.membership.epochs);
      await b.leave();
      const { gained, lost } = await a.tick();
      expect(lost).toEqual([]);
      expect(gained).toHaveLength(shards - before.size);
      for (const { id, epoch } of gained) expect(a.membership.epochs.get(id)).toBe(epoch);
      expect(await a.tick()).toEqual({ gained: [], lost: [] });
    });

    it("moves only the shards of a new node when it joins", async () => {
      const [a, b] = await pair();
      const before = new Set(a.membership.epochs.keys());
      const c = cluster.node("c");
      await c.join();
      await stabilise(a, b, c);
      expect(held(c)).toBeGreaterThanOrEqual(341);
      expect([...a.membership.epochs.keys()].every((id) => before.has(id))).toBe(true);
      await expectOneOwnerEach(a, b, c);
    });

    it("gives each shard to one node when two claim it at once", async () => {
      const [a, b] = [cluster.node("a"), cluster.node("b")];
      const [first, second] = await Promise.all([a.join(), b.join()]);
      const ids = new Set([...first.gained, ...second.gained].map((shard) => shard.id));
      expect(ids.size).toBe(first.gained.length + second.gained.length);
      await stabilise(a, b);
      expect([held(a), held(b)]).toEqual([512, 512]);
      await expectOneOwnerEach(a, b);
    });

    it("transfers all shards when a node leaves", async () => {
      const [a, b] = await pair();
      await a.leave();
      expect(held(a)).toBe(0);
      expect((await b.tick()).gained).toHaveLength(512);
      await expectOneOwnerEach(a, b);
    });

    it("moves the shards of a silent node, but not before the lease has passed", async () => {
      const [a, b] = await pair();
      for (let fifth = 1; fifth < 4; fifth++) {
        await cluster.pass(cluster.leaseMs / 5);
        expect((await b.tick()).gained).toEqual([]);
      }
      await tickAlone(b);
      expect(held(b)).toBe(shards);
      const owners = new Set((await cluster.owners()).map((shard) => shard.owner));
      expect(owners).toEqual(new Set([b.membership.nodeId]));
      expect(cluster.events.some((event) => event.type === "node.lost")).toBe(true);
      expect(held(a)).toBe(512);
    });

    it("a node that was declared dead returns as a new incarnation", async () => {
      const [a, b] = await pair();
      const before = a.membership.nodeId;
      await tickAlone(b);
      const change = await a.tick();
      expect(change.lost).toHaveLength(512);
      expect(a.membership.nodeId).not.toBe(before);
      await stabilise(a, b);
      expect([held(a), held(b)]).toEqual([512, 512]);
      await expectOneOwnerEach(a, b);
    });

    it("epochs only grow, and no epoch of a shard has two owners [INV-3]", async () => {
      const ownerOf = new Map<string, string>();
      let before = (await cluster.owners()).map((shard) => shard.epoch);
      const checkEpochs = async (): Promise<void> => {
        const rows = await cluster.owners();
        for (const { id, owner, epoch } of rows) {
          expect(epoch).toBeGreaterThanOrEqual(before[id] ?? 0);
          if (owner === null) continue;
          expect(ownerOf.get(`${id}:${epoch}`) ?? owner).toBe(owner);
          ownerOf.set(`${id}:${epoch}`, owner);
        }
        before = rows.map((shard) => shard.epoch);
      };
      const [a, b] = await pair();
      await checkEpochs();
      await tickAlone(b);
      await checkEpochs();
      await stabilise(a, b);
      await checkEpochs();
      await a.leave();
      await stabilise(b);
      await checkEpochs();
      await b.leave();
      await checkEpochs();
      expect(Math.min(...before)).toBeGreaterThan(1);
    });

    if (!peersObserve) return;
    it("does not declare a node dead while its own reads fail", async () => {
      const [a, b] = await pair();
      await cluster.pass(4 * cluster.leaseMs);
      expect((await b.tick()).gained).toEqual([]);
      await cluster.pass(cluster.leaseMs / 5);
      expect((await b.tick()).gained).toEqual([]);
      expect(await a.tick()).toEqual({ gained: [], lost: [] });
      expect(cluster.events.some((event) => event.type === "node.lost")).toBe(false);
    });
  });
}
