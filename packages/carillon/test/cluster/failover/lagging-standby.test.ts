import { setTimeout as sleep } from "node:timers/promises";
import { ReplicatedPostgres } from "@carillon/testkit";
import { expect, it } from "vitest";
import type { CarillonProcess } from "../../process/carillon-process.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { scratchDir } from "../../process/scratch.js";
import { call, startServer } from "../../process/server.js";
import { storedDataDir } from "../../process/stored-data-dir.js";
import { startWorker } from "../../process/worker-process.js";

const nodeArgs = ["--worker-slots", "0", "--worker-timeout", "2s", "--shard-lease", "1s"];

/** A primary with an asynchronous standby, until the work is done. */
async function withStandby(work: (postgres: ReplicatedPostgres) => Promise<void>): Promise<void> {
  const postgres = await ReplicatedPostgres.start({ parent: await scratchDir(), template: await storedDataDir() });
  try {
    await work(postgres);
  } finally {
    await postgres.stop();
  }
}

/** Runs of several queues, some behind a limit, and new queues all the time: their lanes are in the lost history alone. */
function batch(round: number): object {
  const runs = Array.from({ length: 40 }, (_, at) => ({
    task: "begin",
    payload: { ms: 200 },
    queue: at % 4 === 0 ? `round-${round}` : "default",
    ...(at % 4 === 1 && { concurrency: { key: "shared", limit: 20 } }),
    ...(at % 4 === 2 && { delay: "1s" }),
  }));
  return { runs };
}

/** Sends batches until it is stopped; refused ones are not repeated. */
function load(urls: readonly string[]): () => Promise<number> {
  const over = new AbortController();
  let accepted = 0;
  const sending = (async () => {
    for (let round = 0; !over.signal.aborted; round++) {
      const url = urls[round % urls.length] ?? "";
      const answer = await call(`${url}/v1/runs:batchCreate`, batch(round)).catch(() => null);
      if (answer?.status === 200 || answer?.status === 201) accepted++;
      await sleep(50);
    }
    return accepted;
  })();
  return () => {
    over.abort();
    return sending;
  };
}

/** Starts of the workers by run and fence. */
function startsTwice(workers: readonly CarillonProcess[]): string[] {
  const seen = new Map<string, number>();
  for (const { stdout } of workers)
    for (const line of stdout.split("\n")) if (line.startsWith("begun ")) seen.set(line, (seen.get(line) ?? 0) + 1);
  return [...seen].filter(([, count]) => count > 1).map(([line]) => line);
}

it("after a failover to a standby that lagged, work goes on and no fence is given twice [INV-2] [INV-3] [INV-6] [INV-14]", () =>
  withStandby(async (postgres) => {
    const nodes = await Promise.all(
      ["a", "b"].map((name) => startServer(postgres.url, [...nodeArgs, "--node-name", name])),
    );
    const urls = nodes.map(({ url }) => url);
    const workers = await Promise.all([startWorker(urls, ["--slots", "40"]), startWorker(urls, ["--slots", "40"])]);
    const stop = load(urls);
    await Promise.all(workers.map((worker) => worker.line(/^ended /)));
    await postgres.untilCaughtUp();

    await postgres.cutReplication();
    await sleep(3_000);
    await postgres.killPrimary();
    await postgres.promote();

    for (const { url } of nodes)
      while ((await call(`${url}/readyz`).catch(() => null))?.status !== 200) await sleep(50);
    await sleep(2_000);
    expect(await stop()).toBeGreaterThan(0);
    const cluster = await NodeCluster.start([], { databaseUrl: postgres.standbyUrl });
    const liveRuns = "select from carillon.run limit 1";
    await cluster.until("all runs have ended", async () => (await cluster.rows(liveRuns)).length === 0);
    expect(startsTwice(workers)).toEqual([]);
    const held = "select from carillon.limit_hold union all select from carillon.limit_key where used > 0";
    await cluster.until("no slot of a limit is held", async () => (await cluster.rows(held)).length === 0);
    expect(await cluster.auditFindings()).toEqual([]);
    for (const worker of workers) expect((await worker.stop()).code).toBe(0);
    for (const { process } of nodes) expect((await process.stop()).code).toBe(0);
  }));
