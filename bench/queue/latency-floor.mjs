// The floor of the latency: what any queue over PostgreSQL must do between a call and the start of its handler, and nothing else.
// One process stores a row and tells it at the commit; the other hears it and claims the row by its key. The second process is a
// thread here: a connection, an event loop and a core of its own.
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { say } from "../schedules/results.mjs";
import { quantiles } from "./cases.mjs";

const epochMs = () => performance.timeOrigin + performance.now();

async function connected(url) {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function listen(url) {
  const [claims, hints] = [await connected(url), await connected(url)];
  const claim = {
    name: "claim",
    text: "update floor set state = 'running' where id = $1 and state = 'queued' returning payload",
  };
  hints.on("notification", async ({ payload: id }) => {
    const { rows } = await claims.query({ ...claim, values: [id] });
    const { sentAt } = JSON.parse(rows[0].payload);
    parentPort.postMessage(epochMs() - sentAt);
  });
  await hints.query("listen floor");
  parentPort.postMessage(null);
}

if (!isMainThread) await listen(workerData.url);

/** From the call to where a handler would start, at an idle pace. */
export async function latencyFloor(site, { rate, ms }) {
  return site.withDatabase(async ({ url, reader }) => {
    await reader.query("create table floor (id bigint primary key, state text not null, payload text not null)");
    const client = await connected(url);
    const worker = new Worker(new URL(import.meta.url), { workerData: { url } });
    await new Promise((resolve) => worker.once("message", resolve));
    const taken = [];
    worker.on("message", (one) => taken.push(one));
    const text = `with made as (insert into floor values ($1, 'queued', $2) returning id)
                  select pg_notify('floor', id::text) from made`;
    const data = "x".repeat(160);
    for (let id = 0; id < (rate * ms) / 1_000; id++) {
      await client.query({ name: "add", text, values: [id, JSON.stringify({ sentAt: epochMs(), data })] });
      await sleep(1_000 / rate);
    }
    await sleep(500);
    await worker.terminate();
    await client.end();
    const figures = quantiles(taken);
    say(`floor: ${rate}/s: p50 ${figures.p50.toFixed(1)}, p99 ${figures.p99.toFixed(1)} ms`);
    return figures;
  });
}
