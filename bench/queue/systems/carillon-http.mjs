// Carillon workers that use a node over HTTP. They only execute runs; another process enqueues.
import { systemClock, systemSoon, systemTimers } from "../../../packages/core/dist/index.js";
import { HttpTransport, mainLoopHeartbeat, Worker } from "../../../packages/worker/dist/index.js";

const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

export async function open({ url, name = "bench", workers: count = 1 }) {
  const workers = [];
  return {
    async work(onRun, { slots }) {
      for (let index = 0; index < count; index++) {
        // With thousands of workers, heartbeat threads would dominate the measurement.
        const heartbeat = count > 1 ? { heartbeat: mainLoopHeartbeat(timers) } : {};
        const worker = new Worker({
          transport: new HttpTransport({ urls: [url], timers, random: Math.random, ...heartbeat }),
          tasks: [{ name: "noop", run: (payload) => void onRun(payload) }],
          name: `${name}-${index}`,
          queues: ["*"],
          slots,
          timers,
        });
        workers.push(worker);
        await worker.start();
      }
    },
    async stopWork() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    },
    async close() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(1_000)));
    },
  };
}
