import type { HeartOptions } from "./heart.js";

/** What the two threads count for each other: places in the shared array. */
export const shared = { turns: 0, acknowledged: 1 } as const;

export interface HeartThread extends Omit<HeartOptions, "onLost"> {
  readonly counters: Int32Array;
}
