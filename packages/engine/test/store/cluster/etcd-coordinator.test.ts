import { etcdIsInstalled, type EtcdServer, startEtcd } from "@carillon/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EtcdClient } from "../../../src/cluster/etcd/etcd-client.js";
import { etcdCoordinator } from "../../../src/cluster/etcd/etcd-registry.js";
import type { Coordinator } from "../../../src/cluster/shards.js";
import { type ClusterUnderTest, coordinatorConformance } from "../../conformance/coordinator.js";
import { TestTime } from "../../harness/cluster-harness.js";
import { hostPorts, newId, type StoreHarness, storeHarness } from "../../harness/store-harness.js";

if (!etcdIsInstalled) {
  console.log(
    "tests of the etcd coordinator are skipped: etcd is not installed (as root: scripts/servers/etcd.sh install)",
  );
}

/** Whole seconds, counted by etcd itself: only here do tests wait for time that really passes. */
const leaseMs = 3_000;
const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.skipIf(!etcdIsInstalled)("over etcd", () => {
  let server: EtcdServer;
  beforeAll(async () => {
    server = await startEtcd();
  });
  afterAll(() => server.stop());

  const client = (...endpoints: string[]): EtcdClient =>
    new EtcdClient({ endpoints, fetch, timers: hostPorts.timers, timeoutMs: 2_000 });

  function nodes(h: StoreHarness, time: TestTime, prefix: string, etcd = client(server.url)) {
    const { nodes: rows, shards } = h.store;
    return (name: string): Coordinator =>
      etcdCoordinator({ ...time.member(name), ...hostPorts, leaseMs, etcd, prefix, nodes: rows, shards });
  }

  async function open(): Promise<ClusterUnderTest> {
    const h = await storeHarness();
    const time = new TestTime();
    const node = nodes(h, time, newId());
    const owners = () => h.store.shards.list();
    return { leaseMs, roundMs: 0, events: time.events, node, pass, owners, close: () => h.close() };
  }

  coordinatorConformance("etcd", open, { peersObserve: false });

  describe("EtcdRegistry", () => {
    let h: StoreHarness;
    let time: TestTime;
    let prefix: string;
    beforeEach(async () => {
      h = await storeHarness();
      time = new TestTime();
      prefix = newId();
    });
    afterEach(() => h.close());

    it("the coordinator over etcd writes its epoch into the shard's row before it counts a shard as its own", async () => {
      const { shards } = h.store;
      const taken: number[] = [];
      const take: typeof shards.take = async (owner, seen) => {
        expect(a.membership.epochs.size).toBe(0);
        taken.push(seen.length);
        return shards.take(owner, seen);
      };
      const stopped = { ...h, store: { ...h.store, shards: { ...shards, take } } };
      const a = nodes(stopped, time, prefix)("a");
      await a.join();
      expect(taken).toEqual([1_024]);
    });

    it("the coordinator over etcd writes the row of a promised shard again if the first write failed", async () => {
      const { shards } = h.store;
      let failing = true;
      const take: typeof shards.take = (owner, seen) =>
        failing ? Promise.reject(new Error("the database is away")) : shards.take(owner, seen);
      const a = nodes({ ...h, store: { ...h.store, shards: { ...shards, take } } }, time, prefix)("a");
      await expect(a.join()).rejects.toThrow("away");
      failing = false;
      expect((await a.tick()).gained).toHaveLength(1_024);
    });

    it("the coordinator over etcd takes every shard again under far higher epochs after the database's timeline changed", async () => {
      const a = nodes(h, time, prefix)("a");
      await a.join();
      await h.db.query({ text: "update carillon.setting set value = 'other' where name = 'database_timeline'" });
      expect((await a.tick()).gained).toHaveLength(1_024);
      expect(Math.min(...a.membership.epochs.values())).toBeGreaterThan(1_000_000);
    });

    it("the coordinator over etcd keeps its shards while etcd does not respond, and continues when it does", async () => {
      let cut = false;
      const etcd = new EtcdClient({
        endpoints: [server.url],
        fetch: (url, request) => (cut ? Promise.reject(new TypeError("fetch failed")) : fetch(url, request)),
        timers: hostPorts.timers,
        timeoutMs: 2_000,
      });
      const a = nodes(h, time, prefix, etcd)("a");
      await a.join();
      cut = true;
      await expect(a.tick()).rejects.toMatchObject({ code: "etcd_unavailable" });
      expect(a.membership.epochs.size).toBe(1_024);
      cut = false;
      expect(await a.tick()).toEqual({ gained: [], lost: [] });
    });

    it("the coordinator over etcd tries the next endpoint when one does not respond", async () => {
      const a = nodes(h, time, prefix, client("http://127.0.0.1:9", server.url))("a");
      expect((await a.join()).gained).toHaveLength(1_024);
    });

    it("the coordinator over etcd leaves the shards of a skewed node to the others", async () => {
      const node = nodes(h, time, prefix);
      const [a, b] = [node("a"), node("b")];
      await a.join();
      await b.join();
      time.skews.set("a", 2_000);
      await a.tick();
      expect((await b.tick()).gained).toHaveLength(1_024);
      expect(a.membership.epochs.size).toBe(0);
    });
  });
});
