import type { Life } from "../targets/life.js";
import { undisturbedMs } from "./causes.js";
import type { DoneFault, RunRow } from "./evidence.js";
import type { JournalView } from "./journal-view.js";

/** Runs that are made in one transaction have their times in any order: then the occurrence says which is newer. */
const togetherMs = 100;
/** An order to stop is passed on at once, and at each heartbeat if it was lost. */
const stopMs = 3_000;
const settleMs = 2_000;

/** Whether a run was ended with right to make room for a newer one of its job. */
export function isReplaced(run: RunRow, life: Life | undefined, runs: readonly RunRow[]): boolean {
  if (run.status !== "cancelled" || run.reason !== "cancelled_by_overlap") return false;
  return life?.job.overlap === "cancel_running" && replacementOf(run, runs) !== undefined;
}

/**
 * How long a run worked on after a newer one had come to take its place, faults apart; null when it stopped in time. It may have
 * been done at that moment, so that it need not end as cancelled.
 */
export function workedOnMs(
  run: RunRow,
  { runs, journal, faults }: { runs: readonly RunRow[]; journal: JournalView; faults: readonly DoneFault[] },
): number | null {
  const replaced = replacementOf(run, runs)?.createdAt;
  const end = journal.endOf(run.token ?? journal.startsOf(run.id).at(-1)?.token ?? -1)?.at;
  if (replaced === undefined || end === undefined || end <= replaced) return null;
  const worked = undisturbedMs(faults, { from: replaced, to: end, settleMs });
  return worked > stopMs ? worked : null;
}

/** The first that was made after it and while it was live. */
function replacementOf(run: RunRow, runs: readonly RunRow[]): RunRow | undefined {
  const isNewer = ({ createdAt, nominal }: RunRow): boolean =>
    createdAt > run.createdAt || (createdAt >= run.createdAt - togetherMs && nominal > run.nominal);
  return runs
    .filter((one) => one.id !== run.id && isNewer(one) && one.createdAt <= (run.finishedAt ?? Number.POSITIVE_INFINITY))
    .toSorted((a, b) => a.createdAt - b.createdAt)[0];
}
