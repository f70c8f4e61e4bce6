import type { QueueStats } from "@carillon/engine";

/** A worker that nobody has seen yet. */
const usualSlots = 10;

/** Workers of the usual size at which nothing would wait. */
export function desiredWorkers({
  queued,
  running,
  workers,
  slots,
}: Pick<QueueStats, "queued" | "running" | "workers" | "slots">): number {
  const slotsOfOne = workers > 0 ? slots / workers : usualSlots;
  return Math.ceil((queued + running) / slotsOfOne);
}
