import type { DueRun, NewRun, Queued, StoredRun } from "@carillon/store";
import type { Wakeups } from "../wakeups/wakeups.js";

export interface NewlyStoredRun {
  readonly run: NewRun;
  readonly stored: StoredRun;
}

/** Wakes the gateways for stored runs that are queued, and the schedulers for those that wait for their time. */
export function announceStored(
  wakeups: Pick<Wakeups, "runsQueued" | "runsDue">,
  runs: readonly NewlyStoredRun[],
): void {
  const queued: Queued[] = [];
  const due: DueRun[] = [];
  for (const { run, stored } of runs) {
    if (stored.state === "queued") queued.push(run);
    else if (stored.state === "scheduled") due.push({ id: run.id, shard: run.shard, runAt: run.runAt });
  }
  if (queued.length > 0) wakeups.runsQueued(queued);
  if (due.length > 0) wakeups.runsDue(due);
}
