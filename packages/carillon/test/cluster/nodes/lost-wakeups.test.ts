import { expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";

it("a node that receives no wakeups from the others finds their due jobs in its shards by its full scan [INV-11]", async () => {
  const cluster = await NodeCluster.start(["a"]);
  let deafened = 0;
  const filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    const said = chunk.toString("latin1");
    if (from === "server" || !said.includes('listen "carillon_hint"')) return chunk;
    deafened += 1;
    // A channel name of the same length: the node listens where no node notifies.
    return Buffer.from(said.replaceAll("carillon_hint", "carillon_none"), "latin1");
  };
  await cluster.add("deaf", { proxy: { filter } });
  await cluster.untilShared("a", "deaf");
  const jobs = await EverySecond.start(cluster, cluster.node("a").url);
  expect(deafened).toBe(1);
  await expectWhole(cluster, jobs);
});
