// graphile-worker with the settings of its performance page: for throughput a local queue and batched completions, for latency neither of
// them and a short poll interval. Its connection pool is as large as it needs.
import { makeWorkerUtils, run } from "../peers/node_modules/graphile-worker/dist/index.js";

const silent = { logger: undefined };

export async function open({ url, schema = "graphile_worker" }) {
  const utils = await makeWorkerUtils({ connectionString: url, schema });
  let runner;
  return {
    perCall: 1_000,
    install: () => utils.migrate(),
    async add(payload) {
      await utils.addJob("noop", payload);
    },
    async addMany(items) {
      await utils.addJobs(
        items.map(({ payload, dueAt }) => ({
          identifier: "noop",
          payload,
          ...(dueAt === null ? {} : { runAt: new Date(dueAt) }),
        })),
      );
    },
    async work(onRun, { slots, aim }) {
      const forLatency = { pollInterval: 100 };
      const forThroughput = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
      runner = await run({
        ...silent,
        noHandleSignals: true,
        preset: {
          worker: {
            connectionString: url,
            schema,
            concurrentJobs: slots,
            maxPoolSize: Math.max(10, Math.min(slots + 2, 30)),
            ...(aim === "latency" ? forLatency : forThroughput),
          },
        },
        taskList: { noop: (payload) => onRun(payload) },
      });
    },
    stopWork: () => runner?.stop(),
    async close() {
      await utils.release();
    },
  };
}
