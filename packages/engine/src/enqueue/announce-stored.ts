import type { DueRun, NewRun, Queued, StoredRun } from "@carillon/store";
import type { Wakeups } from "../wakeups/wakeups.js";

export interface MadeRun {
  readonly run: NewRun;
  readonly stored: StoredRun;
}

/** Wakes the gateways of stored runs that are queued, and the schedulers of those that wait for their time. */
export function announceStored(wakeups: Pick<Wakeups, "runsQueued" | "runsDue">, runs: readonly MadeRun[]): void {
  const queued: Queued[] = [];
  const due: DueRun[] = [];
  for (const { run, stored } of runs) {
    if (stored.state === "queued") queued.push(run);
    else if (stored.state === "scheduled") due.push({ id: run.id, shard: run.shard, runAt: run.runAt });
  }
  if (queued.length > 0) wakeups.runsQueued(queued);
  if (due.length > 0) wakeups.runsDue(due);
}
