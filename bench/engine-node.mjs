// An engine node in this process, and workers that end every run at once.
import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "../packages/core/dist/index.js";
import { Engine, migrate, openDatabase } from "../packages/engine/dist/index.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

export async function prepare(url) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  await database.close();
}

export async function startNode(url, name) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name, address: null, version: "0" };
  const engine = new Engine({ database, ...ports, newId, node, alone: false });
  await engine.start();
  return {
    engine,
    async stop() {
      await engine.stop();
      await database.close();
    },
  };
}

/** Returns a function that pauses the worker. */
export async function startWorker({ gateway }, { slots, namespaces, onRuns }) {
  const outcome = { kind: "succeeded", outputJson: "null" };
  const session = await gateway.open({
    namespace: "default",
    ...(namespaces !== undefined && { namespaces }),
    name: "bench",
    queues: ["default"],
    tasks: ["work"],
    slots,
    nodeId: null,
    onAssign(assigned) {
      onRuns(assigned);
      const completions = assigned.map(({ runId, fence }) => ({ runId, fence, startedAgoMs: 0, outcome }));
      gateway.complete(session, completions).catch(() => {});
    },
    onStop() {},
    onLost() {},
  });
  gateway.resume(session);
  return () => gateway.pause(session);
}

export const spec = { task: "work", queue: "default", priority: 4, payload: null, policy: {}, labels: {} };

/** Resolves promises when their conditions hold; `check` evaluates all conditions. */
export class Conditions {
  #pending = [];

  until(isMet) {
    return new Promise((resolve) => this.#pending.push({ isMet, resolve }));
  }

  check() {
    for (const { resolve } of this.#pending.filter(({ isMet }) => isMet())) resolve();
  }
}
