import { Worker } from "node:worker_threads";
import type { Timers } from "@carillon/core";
import type { Heart } from "./heart.js";
import { type HeartThread, newCounters, shared } from "./shared.js";

/** How often the main loop shows that it turns. */
const turnEveryMs = 250;

/** Beats in a thread of its own: a handler that blocks the main loop does not cost the session. */
export function threadHeart(timers: Timers): Heart {
  return ({ onLost, ...options }) => {
    const counters = newCounters();
    const data: HeartThread = { ...options, counters };
    const thread = new Worker(new URL("./heart-thread.js", import.meta.url), { workerData: data });
    thread.unref();
    thread.on("message", onLost);
    let turning: unknown;
    const turn = (): void => {
      Atomics.add(counters, shared.turns, 1);
      turning = timers.setTimeout(turn, turnEveryMs);
    };
    turn();
    return {
      get acknowledged() {
        return Atomics.load(counters, shared.acknowledged);
      },
      polled() {
        Atomics.add(counters, shared.polls, 1);
      },
      hold(isHolding) {
        Atomics.store(counters, shared.holding, isHolding ? 1 : 0);
      },
      stop() {
        timers.clearTimeout(turning);
        void thread.terminate();
      },
    };
  };
}
