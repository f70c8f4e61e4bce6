import { etcdIsInstalled, startEtcd } from "@carillon/testkit";
import { expect, it, onTestFinished } from "vitest";
import { CarillonProcess } from "../../process/carillon-process.js";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";

if (!etcdIsInstalled) {
  console.log(
    "the test of nodes over etcd is skipped: etcd is not installed (as root: scripts/servers/etcd.sh install)",
  );
}

it.skipIf(!etcdIsInstalled)(
  "etcd shares the shards among the nodes, and reassigns those of a killed node when its lease ends [INV-1] [INV-3] [INV-11]",
  async () => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    const settings = ["--coordinator", "etcd", "--etcd-endpoints", etcd.url];
    const cluster = await NodeCluster.start([]);
    for (const name of ["a", "b", "c"]) await cluster.add(name, { args: [...settings, "--shard-lease", "2s"] });
    await cluster.untilShared("a", "b", "c");
    const jobs = await EverySecond.start(cluster, cluster.node("a").url);

    const doctor = new CarillonProcess(["doctor", "--database-url", cluster.databaseUrl, ...settings]);
    expect((await doctor.ended).code).toBe(0);
    expect(doctor.stdout).toContain(`${etcd.url} answers`);

    await cluster.node("c").kill();
    await cluster.untilShared("a", "b");
    const reports = [cluster.node("a"), cluster.node("b")].map(({ process }) =>
      process.count(/"lease_expired".*"node\.lost"/),
    );
    expect(Math.max(...reports)).toBeGreaterThan(0);
    expect(await cluster.node("b").stop()).toEqual({ code: 0, signal: null });
    await cluster.untilShared("a");
    await expectWhole(cluster, jobs);
  },
);
