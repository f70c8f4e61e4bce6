import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemTimers } from "@carillon/core";
import { HeartbeatLoop } from "./heartbeat.js";
import { type HeartbeatThreadData, shared } from "./heartbeat-thread.js";
import { createPoster } from "./server-calls.js";

/** How often this thread checks whether the main loop has turned. */
const checkEveryMs = 250;

const { counters, ...options } = workerData as HeartbeatThreadData;
let lastTurns = 0;
let turnedAt = systemClock.monotonic();

const checkTurns = (): void => {
  const turns = Atomics.load(counters, shared.turns);
  if (turns !== lastTurns) turnedAt = systemClock.monotonic();
  lastTurns = turns;
  systemTimers.setTimeout(checkTurns, checkEveryMs);
};

checkTurns();
new HeartbeatLoop({
  ...options,
  poster: createPoster(options),
  timers: systemTimers,
  isHolding: () => Atomics.load(counters, shared.holding) !== 0,
  answeredPolls: () => Atomics.load(counters, shared.polls),
  lagMs: () => systemClock.monotonic() - turnedAt,
  onAcknowledged: () => void Atomics.add(counters, shared.acknowledged, 1),
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  onLost: () => parentPort?.postMessage("lost"),
}).start();
