import { expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";

it("a joining node gets an even share of the shards, and a stopping node transfers its shards before it exits [INV-3] [INV-11]", async () => {
  // Long enough that no node is declared dead on a busy machine.
  const args = ["--shard-lease", "10s"];
  const cluster = await NodeCluster.start(["a", "b"], { args });
  const jobs = await EverySecond.start(cluster, cluster.node("a").url);
  const c = await cluster.add("c", { args });
  await cluster.untilShared("a", "b", "c");
  expect((await cluster.shares()).get("c")).toBeGreaterThanOrEqual(341);

  const [{ id } = { id: "" }] = await cluster.rows<{ id: string }>("select id from carillon.node where name = 'c'");
  expect(await c.stop()).toEqual({ code: 0, signal: null });
  expect(await cluster.rows("select from carillon.shard where owner = $1", [id])).toEqual([]);
  expect(await cluster.rows("select from carillon.node where id = $1", [id])).toEqual([]);
  await cluster.untilShared("a", "b");
  for (const name of ["a", "b"]) expect(cluster.node(name).process.count(/"name":"c".*"node\.lost"/)).toBe(0);
  await expectWhole(cluster, jobs);
});
