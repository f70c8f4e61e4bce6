import type { HeartOptions } from "./heart.js";

/** What the two threads tell each other: places in the shared array. Runs are held where it is not 0. */
export const shared = { turns: 0, acknowledged: 1, holding: 2, polls: 3 } as const;

export function newCounters(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Object.keys(shared).length * Int32Array.BYTES_PER_ELEMENT));
}

export interface HeartThread extends Omit<HeartOptions, "onLost"> {
  readonly counters: Int32Array;
}
