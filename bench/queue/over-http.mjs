// Workers over HTTP: how fast they drain the queue, and what they cost while idle.
import { setTimeout as sleep } from "node:timers/promises";
import { median, say } from "../report.mjs";
import { ServerProcess } from "../server-process.mjs";
import { drainOnce, drainWarmUpRuns } from "./cases.mjs";
import { Child } from "./child-process.mjs";
import { rateResult } from "./results.mjs";

const module = "carillon-http";

/** Runs work with a server that executes no runs itself; `connect` starts processes of workers that use it over HTTP. */
async function withServer(runner, ours, work) {
  return runner.with(ours, async (place) => {
    const server = await ServerProcess.start({ name: "server", url: place.url });
    const children = [];
    const connect = async (options = {}) => {
      const child = await Child.start(
        module,
        { url: server.url, name: `w${children.length}`, ...options },
        runner.execPath,
      );
      children.push(child);
      return child;
    };
    try {
      return await work({ ...place, server, connect });
    } finally {
      await Promise.all(children.map((child) => child.end()));
      await server.end();
    }
  });
}

/** `inProcess` is the rate of as many processes without HTTP, from the same run. */
export async function drainOverHttp(runner, ours, { count, processes, rounds, inProcess }) {
  const rates = [];
  for (let round = 0; round < rounds; round++) {
    const rate = await withServer(runner, ours, async (place) => {
      const workers = [];
      while (workers.length < processes) workers.push(await place.connect());
      const system = { ...ours, name: "carillon over HTTP" };
      await drainOnce(place, system, workers, { count: drainWarmUpRuns });
      return drainOnce(place, system, workers, { count });
    });
    rates.push(rate);
  }
  const name = `drain over HTTP, ${processes} process${processes === 1 ? "" : "es"}`;
  return rateResult(
    name,
    "compared with in-process",
    { ours: median(rates), peers: {} },
    { floor: inProcess, atLeast: inProcess / 2 },
  );
}

/** CPU time of the server, as a share of one core, while so many workers wait. */
export async function idleWorkers(runner, ours, { count, warmMs, watchMs }) {
  return withServer(runner, ours, async ({ server, connect }) => {
    const child = await connect({ workers: count });
    await child.call("work", { slots: 10 });
    // Wait until every worker has polled and sent a heartbeat: new connections cost more than old ones.
    await sleep(warmMs);
    const before = server.cpuSeconds();
    await sleep(watchMs);
    const share = ((server.cpuSeconds() - before) * 1_000) / watchMs;
    say(`${count} idle workers: ${(share * 100).toFixed(1)} % of one core`);
    const name = `${count.toLocaleString("en")} idle workers over HTTP`;
    const result = {
      case: name,
      metric: "CPU time of the server",
      unit: "% of a core",
      ours: share * 100,
      peers: {},
    };
    return { ...result, floor: null, ratio: null, target: 20, met: share <= 0.2 };
  });
}
