import { expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import "../../process/scratch.js";

it("a node that hears no hint of the others finds by its full look what they made due in its shards [INV-11]", async () => {
  const cluster = await NodeCluster.start(["a"]);
  let deafened = 0;
  const filter = (chunk: Buffer, from: "client" | "server"): Buffer => {
    const said = chunk.toString("latin1");
    if (from === "server" || !said.includes('listen "carillon_hint"')) return chunk;
    deafened += 1;
    // The same length, another channel: it listens where nobody speaks.
    return Buffer.from(said.replaceAll("carillon_hint", "carillon_none"), "latin1");
  };
  await cluster.add("deaf", { proxy: { filter } });
  await cluster.untilShared("a", "deaf");
  const jobs = await EverySecond.start(cluster, cluster.node("a").url);
  expect(deafened).toBe(1);
  await expectWhole(cluster, jobs);
});
