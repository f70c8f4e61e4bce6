// BullMQ on Redis, or on PostgreSQL with backend "postgres". Bulk enqueue uses addBulk(); completed jobs are removed.
import { createRequire } from "node:module";

const require = createRequire(new URL("../peers/package.json", import.meta.url));
const { createPostgresBackend, Queue, Worker } = require("bullmq");

const name = "noop";

export async function open({ url, backend = "redis" }) {
  const connection =
    backend === "redis" ? { url, maxRetriesPerRequest: null } : { connectionString: url, migrate: true };
  const factory = backend === "redis" ? [] : [createPostgresBackend];
  const defaultJobOptions = { removeOnComplete: true, removeOnFail: true };
  const make = () => new Queue(name, { connection, defaultJobOptions }, ...factory);
  const queue = make();
  queue.on("error", () => {});
  let worker;
  return {
    perCall: backend === "redis" ? 5_000 : 1_000,
    install: () => queue.waitUntilReady(),
    async add(payload) {
      await queue.add("noop", payload);
    },
    async addMany(items) {
      await queue.addBulk(
        items.map(({ payload, dueAt }) => ({
          name: "noop",
          data: payload,
          ...(dueAt === null ? {} : { opts: { delay: Math.max(0, dueAt - Date.now()) } }),
        })),
      );
    },
    async work(onRun, { slots }) {
      const work = async (job) => onRun(job.data);
      worker = new Worker(name, work, { connection, concurrency: slots, autorun: true }, ...factory);
      worker.on("error", () => {});
      await worker.waitUntilReady();
    },
    stopWork: () => worker?.close(true),
    async close() {
      await queue.close();
    },
  };
}
