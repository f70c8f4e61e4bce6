// pg-boss. For throughput four loops of fetch() and complete() with batches of 1,000, which is faster than its worker; for latency its worker
// with notifications, the shortest poll interval that it allows, and no pause while batches are full. Bulk enqueue uses insert().
import { setTimeout as sleep } from "node:timers/promises";
import { PgBoss } from "../peers/node_modules/pg-boss/dist/index.js";

const queue = "noop";

export async function open({ url }) {
  const boss = new PgBoss({ connectionString: url, useListenNotify: true, max: 10, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  const state = { isStopped: false, done: Promise.resolve() };
  const fetchAll = async (onRun) => {
    while (!state.isStopped) {
      const jobs = await boss.fetch(queue, { batchSize: 1_000 });
      if (jobs.length === 0) await sleep(50);
      for (const job of jobs) onRun(job.data);
      if (jobs.length > 0)
        await boss.complete(
          queue,
          jobs.map((job) => job.id),
        );
    }
  };
  return {
    perCall: 5_000,
    async install() {
      if ((await boss.getQueue(queue)) === null) await boss.createQueue(queue, { notify: true });
    },
    async add(payload) {
      await boss.send(queue, payload);
    },
    async addMany(items) {
      await boss.insert(
        queue,
        items.map(({ payload, dueAt }) => ({
          data: payload,
          ...(dueAt === null ? {} : { startAfter: new Date(dueAt) }),
        })),
      );
    },
    async work(onRun, { aim }) {
      state.isStopped = false;
      if (aim === "throughput") {
        state.done = Promise.all(Array.from({ length: 4 }, () => fetchAll(onRun)));
        return;
      }
      const shortPolls = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 };
      await boss.work(queue, { ...shortPolls, batchSize: 1_000, burstWhenBatchFull: true }, async (jobs) => {
        for (const job of jobs) onRun(job.data);
      });
    },
    async stopWork() {
      state.isStopped = true;
      await state.done;
      await boss.offWork(queue).catch(() => {});
    },
    close: () => boss.stop({ graceful: false }),
  };
}
