// A process that starts an embedded PostgreSQL, to be killed by tests. Its argument is JSON: the start options and
// `holdAt`, the probe to stop at for good. It writes one JSON line per event and stops when its input says "stop".
import { createInterface } from "node:readline";
import { startEmbeddedPostgres } from "../../dist/index.js";

const { holdAt, ...options } = JSON.parse(process.argv[2]);
const say = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const hold = () => {
  say({ event: "held", at: holdAt });
  return new Promise(() => setInterval(() => undefined, 60_000));
};

process.on("SIGINT", () => say({ event: "interrupted" }));
try {
  const probes = holdAt === undefined ? {} : { [holdAt]: hold };
  const log = (line) => say({ event: "log", line });
  const server = await startEmbeddedPostgres({ ...options, probes, log });
  const { url, port, pid, adopted } = server;
  say({ event: "ready", url, port, pid, adopted });
  for await (const line of createInterface({ input: process.stdin })) if (line === "stop") break;
  await server.stop();
  say({ event: "stopped" });
} catch (error) {
  say({ event: "failed", code: error.code, message: error.message });
}
