import type { Life } from "../targets/life.js";
import type { RunRow } from "./evidence.js";
import { occurrenceKey } from "./group-by.js";
import { isFollowing } from "./judge-followers.js";
import type { JournalView } from "./journal-view.js";

export const isRunNow = (run: RunRow): boolean => run.trigger.startsWith("run_now");

/** The first time at which somebody asked for the end of the job; null when nobody did. */
export function cancelledFrom({ changes }: Life): number | null {
  return changes.find(({ change }) => change.kind === "cancel")?.sentAt ?? null;
}

/** A run of a schedule that nothing promised. One that waited for its time and was cancelled with its job never was one. */
export function isUnasked(
  run: RunRow,
  promised: ReadonlySet<string>,
  { life, journal }: { life: Life | undefined; journal: JournalView },
): boolean {
  // What follows others is asked for by their ends.
  if (isRunNow(run) || isFollowing(run) || promised.has(occurrenceKey(run))) return false;
  const cancelled = life === undefined ? null : cancelledFrom(life);
  const wasEnded = run.status === "cancelled" && cancelled !== null && (run.finishedAt ?? 0) >= cancelled;
  return !(wasEnded && journal.startsOf(run.id).length === 0);
}
