// Carillon as a library inside an application: an engine and a worker in each process. History is kept.
import { carillon, task } from "../../../packages/carillon/dist/index.js";

export async function open({ url, name = "bench" }) {
  const app = carillon({ databaseUrl: url, connections: 8 });
  let onRun = () => {};
  let worker;
  const noop = task({ name: "noop", run: (payload) => onRun(payload) });
  return {
    perCall: 10_000,
    /** The first call creates the tables. */
    install: () => app.enqueueMany(noop, []),
    add: (payload) => app.enqueue(noop, payload),
    async addMany(items) {
      await app.enqueueMany(
        noop,
        items.map(({ payload, dueAt }) => ({ payload, ...(dueAt === null ? {} : { runAt: new Date(dueAt) }) })),
      );
    },
    async work(handle, { slots }) {
      onRun = handle;
      worker = app.worker({ tasks: [noop], queues: { default: slots }, name, signals: false, graceMs: 1_000 });
      await worker.start();
    },
    stopWork: () => worker?.stop(),
    close: () => app.stop(),
  };
}
