import { describe, expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";
import { createJob } from "../../process/server.js";

const names = ["a", "b", "c"] as const;

const sleepingAt = `
  select r.id from carillon.run r
  join carillon.worker_session s on s.id = r.session_id join carillon.node n on n.id = s.node_id
  where r.task = 'sleep' and r.state = 'running' and n.name = $1`;

const results = "select from carillon.run_history where id = any ($1::uuid[])";

describe("three nodes over one database", () => {
  it("three nodes neither lose nor repeat an instant of a killed node: the others own its shards under higher epochs [INV-1] [INV-3] [INV-11]", async () => {
    const cluster = await NodeCluster.start(names);
    const jobs = await EverySecond.start(cluster, cluster.node("a").url);
    const before = await cluster.shards();
    await cluster.node("c").kill();
    await cluster.untilShared("a", "b");
    const after = await cluster.shards();
    const moved = before.filter(({ owner }) => owner === "c");
    expect(moved.every(({ id, epoch }) => (after[id]?.epoch ?? 0) > epoch)).toBe(true);
    const reports = [cluster.node("a"), cluster.node("b")].map(({ process }) =>
      process.count(/"name":"c".*"node\.lost"/),
    );
    expect(Math.max(...reports)).toBeGreaterThan(0);
    await expectWhole(cluster, jobs);
  });

  it("the writes of a node that was frozen past its lease are refused [INV-2] [INV-3]", async () => {
    const cluster = await NodeCluster.start(names, { args: ["--worker-slots", "3"] });
    const zombie = cluster.node("c");
    const jobs = await EverySecond.start(cluster, cluster.node("a").url);
    // More than the others have slots for. The frozen node will finish runs that other nodes have run again.
    for (const _ of Array(12)) await createJob(cluster.node("a").url, { task: "sleep", payload: { for: "1500ms" } });
    await cluster.until("the zombie sleeps", async () => (await cluster.rows(sleepingAt, [zombie.name])).length > 0);
    zombie.freeze();
    const ids = (await cluster.rows<{ id: string }>(sleepingAt, [zombie.name])).map((row) => row.id);
    await cluster.untilShared("a", "b");
    await jobs.goOn();
    zombie.thaw();
    // Depending on which loop wakes first, it writes and is refused, or reads first that it was declared dead.
    await zombie.process.line(/"statement":"run\.finish".*"msg":"write\.refused"|"msg":"worker\.session_lost"/);
    await cluster.untilShared(...names);
    await cluster.until("each was done once", async () => (await cluster.rows(results, [ids])).length === ids.length);
    await expectWhole(cluster, jobs);
  });

  it("two nodes go on without a third that is cut from the database, and share with it again when it is back [INV-1] [INV-11]", async () => {
    const cluster = await NodeCluster.start(names);
    const cut = cluster.node("c");
    const jobs = await EverySecond.start(cluster, cluster.node("a").url);
    await cut.proxy.blackHole();
    await cluster.untilShared("a", "b");
    await jobs.goOn();
    await cut.proxy.resume();
    await cluster.untilShared(...names);
    await expectWhole(cluster, jobs);
  });
});
