import { Liar, Lies } from "./liar.js";
import { ProtocolClient } from "./protocol-client.js";

// A process with a worker that lies: `node liar-main.js <slots> <seed> <hangs until, ms since 1970> <url> …`.
const [slots, seed, hangsUntil, ...urls] = process.argv.slice(2);
const liar = new Liar({
  client: new ProtocolClient(urls),
  lies: new Lies(Number(seed), Number(hangsUntil)),
  slots: Number(slots),
  now: Date.now,
  say: (word, count = 1) => console.log(`${word} ${count}`),
});
await liar.work();
