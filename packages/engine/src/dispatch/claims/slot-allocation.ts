import type { Claimant, WorkerSession } from "../sessions/worker-session.js";

/** The slots that one claim may fill. */
export interface SlotAllocation {
  readonly sessions: readonly WorkerSession[];
  /** One index into the sessions for each slot, in the order in which the slots are filled. */
  readonly order: readonly number[];
  /** How many of them, from the first, are free slots; for the others a run waits at its worker. */
  readonly free: number;
  /** How many of the sessions have a free slot and no run that lost a worker before. */
  readonly forLostRuns: number;
}

/** Allocates slots: free ones before runs that wait at a worker, and of both those of the worker with the most first. */
export function allocateSlots(waiting: Iterable<WorkerSession>, max: number, claimant: Claimant): SlotAllocation {
  const sessions = [...waiting].filter((session) => session.roomFor(claimant) > 0);
  const slots = allocate(
    sessions.map((session) => session.freeFor(claimant)),
    max,
  );
  const ahead = allocate(
    sessions.map((session) => session.roomFor(claimant) - session.freeFor(claimant)),
    max - slots.length,
  );
  const forLostRuns = sessions.filter((session) => session.freeFor(claimant) > 0 && !session.hasLostRun).length;
  return { sessions, order: [...slots, ...ahead], free: slots.length, forLostRuns };
}

/** One of each that has the most left, then one of each that has the most left now, and so on. */
function allocate(counts: readonly number[], max: number): number[] {
  const byCount = counts.map((count, index) => ({ count, index })).sort((a, b) => b.count - a.count);
  const order: number[] = [];
  for (let level = byCount[0]?.count ?? 0; level > 0 && order.length < max; level--) {
    for (const { count, index } of byCount) {
      if (count < level || order.length >= max) break;
      order.push(index);
    }
  }
  return order;
}
