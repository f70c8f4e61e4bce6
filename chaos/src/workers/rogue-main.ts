import { RogueWorker, FalseReports } from "./rogue-worker.js";
import { ProtocolClient } from "./protocol-client.js";

// A process with a worker that sends false reports: `node rogue-main.js <slots> <seed> <hangs until, ms since 1970>
// <url> …`.
const [slots, seed, hangsUntil, ...urls] = process.argv.slice(2);
const rogue = new RogueWorker({
  client: new ProtocolClient(urls),
  falseReports: new FalseReports(Number(seed), Number(hangsUntil)),
  slots: Number(slots),
  now: Date.now,
  print: (event, count = 1) => console.log(`${event} ${count}`),
});
await rogue.work();
