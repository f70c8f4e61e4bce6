// Batches of 1,000, four fetchers, woken by notifications; bulk by insert().
import { PgBoss } from "../peers/node_modules/pg-boss/dist/index.js";

const queue = "noop";

export async function open({ url }) {
  const boss = new PgBoss({ connectionString: url, useListenNotify: true, max: 10, schedule: false });
  boss.on("error", () => {});
  await boss.start();
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
    async work(onRun) {
      const options = { batchSize: 1_000, pollingIntervalSeconds: 0.5, localConcurrency: 4 };
      await boss.work(queue, options, async (jobs) => {
        for (const job of jobs) onRun(job.data);
      });
    },
    stopWork: () => boss.offWork(queue),
    close: () => boss.stop({ graceful: false }),
  };
}
