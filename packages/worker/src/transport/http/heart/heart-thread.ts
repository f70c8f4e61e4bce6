import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemTimers } from "@carillon/core";
import { createPoster } from "../post.js";
import { Beater } from "./beater.js";
import { type HeartThread, shared } from "./shared.js";

/** How often this thread looks whether the main loop turns. */
const lookEveryMs = 250;

const { counters, ...options } = workerData as HeartThread;
let turns = 0;
let turnedAt = systemClock.monotonic();

const look = (): void => {
  const seen = Atomics.load(counters, shared.turns);
  if (seen !== turns) turnedAt = systemClock.monotonic();
  turns = seen;
  systemTimers.setTimeout(look, lookEveryMs);
};

look();
new Beater({
  ...options,
  poster: createPoster(options),
  timers: systemTimers,
  isHolding: () => Atomics.load(counters, shared.holding) !== 0,
  polls: () => Atomics.load(counters, shared.polls),
  lagMs: () => systemClock.monotonic() - turnedAt,
  onAcknowledged: () => void Atomics.add(counters, shared.acknowledged, 1),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  onLost: () => parentPort?.postMessage("lost"),
}).start();
