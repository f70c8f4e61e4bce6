// A process that registers jobs through the engine's batch path and says how long that took. It owns no shard: its hints
// reach the nodes as those of any other process would.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createEngine, openDatabase } from "../../packages/engine/dist/index.js";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "../../packages/core/dist/index.js";
import { specOf } from "./workload.mjs";

const perCall = 10_000;

async function register({ url, workload }) {
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "registrar", address: null, version: "0" };
  const { api } = createEngine({ database, ...ports, newId, node, alone: false });
  const begin = performance.now();
  for (let first = 0; first < workload.count; first += perCall) {
    const size = Math.min(perCall, workload.count - first);
    const created = await api.createJobs(
      "default",
      Array.from({ length: size }, (_, index) => specOf(workload, first + index)),
    );
    const refused = created.find((one) => "error" in one);
    if (refused !== undefined) throw refused.error;
  }
  const ms = performance.now() - begin;
  // Hints are sent behind the caller's back; one that the end of this process swallowed would be found by a full look only.
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
