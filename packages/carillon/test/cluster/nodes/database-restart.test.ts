import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { createJob } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";

/**
 * Six seconds are three times the lease and the worker timeout of this test, as 20 seconds are to the defaults (5 and 15). The length matters
 * to nothing else: every connection is reset, and every new one is refused immediately.
 */
const args = ["--shard-lease", "2s", "--worker-timeout", "2s"];
const AWAY_MS = 6_000;

const moves = ["node.lost", "shards.acquired", "shards.lost", "sessions.expired", "runs.rescued"];

it("a database restart that lasts longer than the lease and the worker timeout moves no shard and rescues no run [INV-1] [INV-11]", async () => {
  const dataDir = await storedDataDir();
  const postgres = await startEmbeddedPostgres({ dataDir });
  const cluster = await NodeCluster.start(["a", "b"], { databaseUrl: postgres.url, args });
  const nodes = [cluster.node("a"), cluster.node("b")];
  const said = () => nodes.flatMap((node) => moves.map((event) => `${node.name} ${event} ${node.count(event)}`));
  const { url } = cluster.node("a");
  const jobs = await EverySecond.start(cluster, url);
  // One ends while the database is away, the other after that.
  const spans = ["3s", "9s"];
  for (const span of spans) await createJob(url, { task: "sleep", payload: { for: span } });
  const sleeping = "select from carillon.run where task = 'sleep' and state = 'running'";
  await cluster.until("both runs have begun", async () => (await cluster.rows(sleeping)).length === 2);
  const before = { shards: await cluster.shards(), said: said() };

  await postgres.stop("immediate");
  await sleep(AWAY_MS);
  const again = await startEmbeddedPostgres({ dataDir, port: postgres.port });
  const slept = "select fence::int, status from carillon.run_history where task = 'sleep'";
  await cluster.until("both runs have ended", async () => (await cluster.rows(slept)).length === 2);

  await expectWhole(cluster, jobs);
  expect({ shards: await cluster.shards(), said: said() }).toEqual(before);
  expect(await cluster.rows(slept)).toEqual(spans.map(() => ({ fence: 1, status: "succeeded" })));
  await again.stop();
});
