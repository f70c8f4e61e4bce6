import { Worker } from "node:worker_threads";
import type { Timers } from "@carillon/core";
import type { HeartbeatOptions, StartHeartbeat } from "./heartbeat.js";

/** The indices of the counters that both threads share. `holding` is 1 while the worker holds runs. */
export const shared = { turns: 0, acknowledged: 1, holding: 2, polls: 3 } as const;

export interface HeartbeatThreadData extends Omit<HeartbeatOptions, "onLost"> {
  readonly counters: Int32Array;
}

/** How often the main loop counts a turn. */
const turnEveryMs = 250;

/** Sends heartbeats from a thread of its own, so that a handler that blocks the main loop does not lose the session. */
export function threadHeartbeat(timers: Timers): StartHeartbeat {
  return ({ onLost, ...options }) => {
    const counters = new Int32Array(new SharedArrayBuffer(Object.keys(shared).length * Int32Array.BYTES_PER_ELEMENT));
    const workerData: HeartbeatThreadData = { ...options, counters };
    const thread = new Worker(new URL("./heartbeat-thread-main.js", import.meta.url), { workerData });
    thread.unref();
    thread.on("message", onLost);
    let turnTimer: unknown;
    const turn = (): void => {
      Atomics.add(counters, shared.turns, 1);
      turnTimer = timers.setTimeout(turn, turnEveryMs);
    };
    turn();
    return {
      get acknowledged() {
        return Atomics.load(counters, shared.acknowledged);
      },
      pollAnswered() {
        Atomics.add(counters, shared.polls, 1);
      },
      setHolding(isHolding) {
        Atomics.store(counters, shared.holding, isHolding ? 1 : 0);
      },
      stop() {
        timers.clearTimeout(turnTimer);
        void thread.terminate();
      },
    };
  };
}
