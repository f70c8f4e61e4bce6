import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { expect, it } from "vitest";
import { NodeCluster } from "../../process/node-cluster.js";
import { createJob } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";
import { startWorker } from "../../process/worker-process.js";

/** Three times the worker timeout of this test. */
const args = ["--worker-slots", "0", "--worker-timeout", "2s"];
const AWAY_MS = 6_000;

it("a restart of the database while workers poll re-executes nothing, and loses no result [INV-2] [INV-4]", async () => {
  const dataDir = await storedDataDir();
  const postgres = await startEmbeddedPostgres({ dataDir });
  const cluster = await NodeCluster.start(["a", "b"], { databaseUrl: postgres.url, args });
  const urls = [cluster.node("a").url, cluster.node("b").url];
  const worker = await startWorker(urls);
  // One ends while the database is away, the other after that.
  for (const ms of [2_000, 9_000]) await createJob(urls[0] ?? "", { task: "begin", payload: { ms } });
  await cluster.until("both have begun", async () => worker.count(/^begun/) === 2);

  await postgres.stop("immediate");
  await sleep(AWAY_MS);
  const again = await startEmbeddedPostgres({ dataDir, port: postgres.port });
  const history = "select fence::int, status, losses from carillon.run_history";
  await cluster.until("both have ended", async () => (await cluster.rows(history)).length === 2);

  const done = { fence: 1, status: "succeeded", losses: 0 };
  expect(await cluster.rows(history)).toEqual([done, done]);
  expect(worker.count(/^begun/)).toBe(2);
  expect(worker.count(/session_lost/)).toBe(0);
  expect(await cluster.auditFindings()).toEqual([]);
  expect((await worker.stop()).code).toBe(0);
  await again.stop();
});
