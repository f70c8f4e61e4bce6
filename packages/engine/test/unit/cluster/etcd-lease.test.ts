import { ManualClock } from "@carillon/core";
import { beforeEach, describe, expect, it } from "vitest";
import { EtcdClient } from "../../../src/cluster/etcd/etcd-client.js";
import { etcdCoordinator } from "../../../src/cluster/etcd/etcd-registry.js";
import type { Coordinator } from "../../../src/cluster/shards.js";
import { TestTime } from "../../harness/cluster-harness.js";
import { MemoryCluster } from "../../harness/memory-cluster.js";
import { MemoryEtcd } from "../../harness/memory-etcd.js";

let etcd: MemoryEtcd;
let time: TestTime;
let node: Coordinator;

beforeEach(() => {
  etcd = new MemoryEtcd();
  time = new TestTime();
  const { nodes, shards } = new MemoryCluster(8);
  const { fetch } = etcd;
  const client = new EtcdClient({ endpoints: ["http://etcd"], fetch, timers: new ManualClock(), timeoutMs: 1_000 });
  node = etcdCoordinator({ ...time.member("a"), etcd: client, prefix: "test", nodes, shards });
});

/** All leases end just before the next request of this path. */
function endLeasesAt(path: string): void {
  etcd.before = (requested) => {
    if (requested !== path) return;
    etcd.before = () => undefined;
    etcd.endLeases();
  };
}

describe("a node whose etcd lease ends", () => {
  it("joins with another lease if it ended before its first write", async () => {
    endLeasesAt("kv/put");
    expect((await node.join()).gained).toHaveLength(8);
    expect(etcd.paths.slice(0, 4)).toEqual(["lease/grant", "kv/put", "lease/grant", "kv/put"]);
    expect(await node.tick()).toEqual({ gained: [], lost: [] });
    expect(time.count("node.joined")).toBe(1);
  });

  it("has no shards if it ended before they were taken, and soon joins again", async () => {
    endLeasesAt("kv/txn");
    const { nodeId } = node.membership;
    expect(await node.join()).toEqual({ gained: [], lost: [] });
    expect(node.idleMs).toBeLessThan(100);
    expect((await node.tick()).gained).toHaveLength(8);
    expect(node.membership.nodeId).not.toBe(nodeId);
  });

  it("joins again if it ended between its renewal and the report of its clock", async () => {
    await node.join();
    const { nodeId } = node.membership;
    time.skews.set("a", 2_000);
    endLeasesAt("kv/put");
    expect((await node.tick()).gained).toHaveLength(8);
    expect(node.membership.nodeId).not.toBe(nodeId);
  });

  it("fails with etcd_unavailable when every new lease ends", async () => {
    etcd.before = (path) => path === "kv/put" && etcd.endLeases();
    await expect(node.join()).rejects.toMatchObject({ code: "etcd_unavailable" });
  });
});
