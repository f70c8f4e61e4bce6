// A process that registers jobs through the engine's batch API and reports how long that took. It owns no shard: its notifications reach
// the nodes like those of any other process.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Engine, openDatabase } from "../../packages/engine/dist/index.js";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "../../packages/core/dist/index.js";
import { toSpec } from "./workload.mjs";

const perCall = 10_000;

async function register({ url, workload }) {
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "registrar", address: null, version: "0" };
  const { jobs } = new Engine({ database, ...ports, newId, node, alone: false });
  const begin = performance.now();
  for (let first = 0; first < workload.count; first += perCall) {
    const size = Math.min(perCall, workload.count - first);
    const created = await jobs.createMany(
      "default",
      Array.from({ length: size }, (_, index) => toSpec(workload, first + index)),
    );
    const refused = created.find((one) => "error" in one);
    if (refused !== undefined) throw refused.error;
  }
  const ms = performance.now() - begin;
  // Notifications are sent asynchronously. One that is lost when this process ends would delay its jobs until the next full scan.
  await sleep(500);
  await database.close();
  return { ms };
}

process.on("message", (request) => {
  register(request).then(
    (answer) => process.send(answer, () => process.disconnect()),
    (error) => process.send({ error: String(error?.stack ?? error) }, () => process.disconnect()),
  );
});
