import { setTimeout as delay } from "node:timers/promises";

/** Resolves after the time, or as soon as the signal fires. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
