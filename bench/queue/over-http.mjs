// Workers over HTTP: how fast they empty the queue, and what they cost while there is nothing to do.
import { setTimeout as sleep } from "node:timers/promises";
import { median, say } from "../schedules/results.mjs";
import { ServerProcess } from "../schedules/server-process.mjs";
import { drainOnce, warmUpOfDrain } from "./cases.mjs";
import { Child } from "./child-process.mjs";
import { rateResult } from "./results.mjs";

const module = "carillon-http";

/** Runs work with a node that executes nothing itself; `connect` gives processes of workers that reach it over HTTP. */
async function withServer(field, ours, work) {
  return field.with(ours, async (place) => {
    const server = await ServerProcess.start({ name: "server", url: place.url });
    const children = [];
    const connect = async (options = {}) => {
      const child = await Child.start(
        module,
        { url: server.url, name: `w${children.length}`, ...options },
        field.execPath,
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

/** `inProcess` is what as many processes reached without HTTP, in the same run. */
export async function drainOverHttp(field, ours, { count, processes, rounds, inProcess }) {
  const rates = [];
  for (let round = 0; round < rounds; round++) {
    const rate = await withServer(field, ours, async (place) => {
      const workers = [];
      while (workers.length < processes) workers.push(await place.connect());
      const system = { ...ours, name: "carillon over HTTP" };
      await drainOnce(place, system, workers, { count: warmUpOfDrain });
      return drainOnce(place, system, workers, { count });
    });
    rates.push(rate);
  }
  const name = `drain over HTTP, ${processes} process${processes === 1 ? "" : "es"}`;
  return rateResult(
    name,
    "beside in-process",
    { ours: median(rates), peers: {} },
    { floor: inProcess, atLeast: inProcess / 2 },
  );
}

/** Processor time of the node, as a share of one core, while so many workers wait. */
export async function idleWorkers(field, ours, { count, warmMs, watchMs }) {
  return withServer(field, ours, async ({ server, connect }) => {
    const child = await connect({ workers: count });
    await child.call("work", { slots: 10 });
    // Until each has polled and said that it lives: new connections cost more than old ones.
    await sleep(warmMs);
    const before = server.cpuSeconds();
    await sleep(watchMs);
    const share = ((server.cpuSeconds() - before) * 1_000) / watchMs;
    say(`${count} idle workers: ${(share * 100).toFixed(1)} % of one core`);
    const name = `${count.toLocaleString("en")} idle workers over HTTP`;
    const result = {
      case: name,
      metric: "processor time of the node",
      unit: "% of a core",
      ours: share * 100,
      peers: {},
    };
    return { ...result, floor: null, ratio: null, target: 20, met: share <= 0.2 };
  });
}
