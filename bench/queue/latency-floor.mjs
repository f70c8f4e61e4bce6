// The floor of the latency: the minimum that any queue on PostgreSQL does between a call and the start of its handler. One process inserts a
// row with a notification; the other receives the notification and claims the row by its key.
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { say } from "../report.mjs";
import { quantiles, latencyWarmUp } from "./cases.mjs";
import { steadyMs } from "./child-process.mjs";

async function connected(url) {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function listen(url) {
  const [claims, notifications] = [await connected(url), await connected(url)];
  const claim = {
    name: "claim",
    text: "update floor set state = 'running' where id = $1 and state = 'queued' returning payload",
  };
  const start = async (id) => {
    const { rows } = await claims.query({ ...claim, values: [id] });
    process.send(steadyMs() - JSON.parse(rows[0].payload).sentAt);
  };
  notifications.on("notification", ({ payload }) => void start(payload));
  await notifications.query("listen floor");
  process.send("ready");
}

if (process.argv[2] === "listen") await listen(process.argv[3]);

/** Time from a call to where a handler would start, at a low rate. */
export async function latencyFloor(postgres, { rate, ms }) {
  return postgres.withDatabase(async ({ url, reader }) => {
    await reader.query("create table floor (id bigint primary key, state text not null, payload text not null)");
    const client = await connected(url);
    const worker = fork(fileURLToPath(import.meta.url), ["listen", url]);
    await new Promise((resolve) => worker.once("message", resolve));
    const latencies = [];
    worker.on("message", (one) => latencies.push(one));
    const text = `with made as (insert into floor values ($1, 'queued', $2) returning id)
                  select pg_notify('floor', id::text) from made`;
    const data = "x".repeat(160);
    let id = 0;
    const pace = async (perSecond, forMs) => {
      for (const end = id + (perSecond * forMs) / 1_000; id < end; id++) {
        await client.query({ name: "add", text, values: [id, JSON.stringify({ sentAt: steadyMs(), data })] });
        await sleep(1_000 / perSecond);
      }
      await sleep(500);
    };
    await pace(latencyWarmUp.rate, latencyWarmUp.ms);
    latencies.length = 0;
    await pace(rate, ms);
    worker.kill();
    await client.end();
    const figures = quantiles(latencies);
    say(`floor: ${rate}/s: p50 ${figures.p50.toFixed(1)}, p99 ${figures.p99.toFixed(1)} ms`);
    return figures;
  });
}
