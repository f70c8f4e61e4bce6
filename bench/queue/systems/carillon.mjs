// The product in library form: an engine and a worker in each process, over the in-process transport. History is kept.
import { randomBytes } from "node:crypto";
import { createEngine, migrate, openDatabase } from "../../../packages/engine/dist/index.js";
import { makeUuidV7, systemClock, systemRandom, systemSoon, systemTimers } from "../../../packages/core/dist/index.js";
import { LocalTransport, Worker } from "../../../packages/worker/dist/index.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

export async function open({ url, name = "bench" }) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name, address: null, version: "0" };
  let engine;
  let worker;
  const specOf = ({ payload, dueAt = null }) => ({
    task: "noop",
    queue: "default",
    priority: 4,
    payload,
    schedule: { kind: "at", at: dueAt ?? database.clock.now() },
    policy: {},
    labels: {},
  });
  /** After the installation: the first process makes the tables. */
  const start = async () => {
    if (engine !== undefined) return;
    engine = createEngine({ database, ...ports, newId, node, alone: false });
    await engine.start();
  };
  /** Calls that come at the same time share a statement. */
  const addMany = async (items) => {
    const made = await engine.api.createJobs("default", items.map(specOf));
    const refused = made.find((one) => "error" in one);
    if (refused !== undefined) throw refused.error;
  };
  return {
    perCall: 10_000,
    async install() {
      await migrate(database);
      await start();
    },
    add: (payload) => addMany([{ payload }]),
    addMany,
    async work(onRun, { slots }) {
      await start();
      const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };
      worker = new Worker({
        transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
        tasks: [{ name: "noop", run: (payload) => void onRun(payload) }],
        name,
        queues: ["*"],
        slots,
        timers,
      });
      await worker.start();
    },
    async stopWork() {
      await worker?.stop(1_000);
      worker = undefined;
    },
    async close() {
      await worker?.stop(1_000);
      await engine?.stop();
      await database.close();
    },
  };
}
