import { systemClock, systemRandom, systemSoon, systemTimers } from "@carillon/core";
import { HttpTransport, Worker } from "@carillon/worker";
import { callJournal } from "./call-journal.js";

// A process with the product's own worker over HTTP: `node regular-main.js <slots> <url> …`. Prints one event type per
// line.
const [slots, ...urls] = process.argv.slice(2);
const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };
const worker = new Worker({
  transport: new HttpTransport({ urls, timers, random: systemRandom }),
  tasks: [
    {
      name: "http",
      run: (payload, { idempotencyKey: runId, fence, signal }) => callJournal(payload, { runId, fence }, signal),
    },
  ],
  name: "regular",
  queues: ["*"],
  slots: Number(slots),
  timers,
  onEvent: ({ type }) => console.log(type),
});
await worker.start();
