import type { ManualClock } from "@carillon/core";

/** Lets everything that can go on now do so. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Moves time on; what a timer sets in motion goes on before the next one fires. */
export function pass(clock: ManualClock, ms: number): Promise<void> {
  return clock.advanceAsync(ms, settled);
}
