import type { ManualClock } from "@carillon/core";

/** Runs all work that can continue now. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the time; the work of one timer is done before the next one fires. */
export function pass(clock: ManualClock, ms: number): Promise<void> {
  return clock.advanceAsync(ms, settled);
}
