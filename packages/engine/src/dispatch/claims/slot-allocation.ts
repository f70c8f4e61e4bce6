import type { Claimant, WorkerSession } from "../sessions/worker-session.js";

export interface Places {
  readonly sessions: readonly WorkerSession[];
  /** Indexes into the sessions, in the order in which they are filled. */
  readonly order: readonly number[];
  /** The first so many of them are free slots. */
  readonly free: number;
  /** How many of the sessions have a free slot and no run that lost a worker before. */
  readonly apart: number;
}

/** Deals out places: free slots before what is given ahead, and of each the worker that has most first. */
export function dealPlaces(waiting: Iterable<WorkerSession>, most: number, claimant: Claimant): Places {
  const sessions = [...waiting].filter((session) => session.roomFor(claimant) > 0);
  const slots = deal(
    sessions.map((session) => session.freeFor(claimant)),
    most,
  );
  const ahead = deal(
    sessions.map((session) => session.roomFor(claimant) - session.freeFor(claimant)),
    most - slots.length,
  );
  const apart = sessions.filter((session) => session.freeFor(claimant) > 0 && !session.hasLost).length;
  return { sessions, order: [...slots, ...ahead], free: slots.length, apart };
}

/** One to each that has most left, then to each that has most left now, and so on. */
function deal(counts: readonly number[], most: number): number[] {
  const byCount = counts.map((count, index) => ({ count, index })).sort((a, b) => b.count - a.count);
  const order: number[] = [];
  for (let level = byCount[0]?.count ?? 0; level > 0 && order.length < most; level--) {
    for (const { count, index } of byCount) {
      if (count < level || order.length >= most) break;
      order.push(index);
    }
  }
  return order;
}
