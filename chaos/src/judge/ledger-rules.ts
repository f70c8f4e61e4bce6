import { isInside } from "../plan/constraints.js";
import type { JobHistory } from "../targets/job-history.js";
import type { LedgerRow, RunRow } from "./evidence.js";

/** A ledger entry with everything that decides whether it may leave out one of its occurrences. */
export interface Omission {
  readonly entry: LedgerRow;
  readonly nominal: number;
  readonly history: JobHistory;
  /** The runs of the same job. */
  readonly runs: readonly RunRow[];
  /** When the journal first recorded work of a run. */
  readonly begunAt: (run: RunRow) => number | null;
}

/** The condition under which each ledger reason may leave out an occurrence. Any other reason is a violation. */
const rules: Readonly<Record<string, (omission: Omission) => boolean>> = {
  missed: isMisfire,
  overlap: isOverlap,
  superseded: isSuperseded,
  paused: isLeftToPause,
  window: isHeldBack,
};

export function isAllowed(omission: Omission): boolean {
  return rules[omission.entry.reason]?.(omission) ?? false;
}

/**
 * run_once leaves out all due occurrences but the latest once the oldest is too late; skip leaves out only an
 * occurrence that is itself too late.
 */
function isMisfire({ entry: { from, recordedAt }, nominal, history }: Omission): boolean {
  const { misfire } = history.job;
  if (recordedAt < nominal) return false;
  if (misfire.policy === "run_once") return recordedAt - from > misfire.thresholdMs;
  return misfire.policy === "skip" && recordedAt - nominal > misfire.thresholdMs;
}

/** The end of a run is recorded before it is committed, and other transactions see the run as live until then. */
const commitMs = 2_000;

/** skip: another run of the job was live between the occurrence and its entry. queue_one: another run had not begun. */
function isOverlap({ entry: { recordedAt }, nominal, history, runs, begunAt }: Omission): boolean {
  const { overlap } = history.job;
  if ((overlap !== "skip" && overlap !== "queue_one") || recordedAt < nominal) return false;
  const isLive = ({ createdAt, finishedAt }: RunRow): boolean =>
    createdAt <= recordedAt && (finishedAt ?? recordedAt) + commitMs >= nominal;
  const isWaiting = (run: RunRow): boolean => (begunAt(run) ?? Number.POSITIVE_INFINITY) > nominal;
  return runs.some((run) => run.nominal !== nominal && isLive(run) && (overlap === "skip" || isWaiting(run)));
}

/** A change took effect while the occurrence waited: for the catch-up of earlier ones, or for the end of its window. */
function isSuperseded({ entry: { recordedAt }, nominal, history }: Omission): boolean {
  return mayWait(history, nominal) && isDuringChange(history, recordedAt) && nominal <= recordedAt;
}

/** A pause began while the occurrence waited, so that it counts as inside the pause, whose end left it out. */
function isLeftToPause({ entry: { recordedAt }, nominal, history }: Omission): boolean {
  const wasPaused = history.changes.some(
    ({ change, sentAt, settledAt }) =>
      change.kind === "pause" && sentAt < recordedAt && nominal <= (settledAt ?? Number.POSITIVE_INFINITY),
  );
  return mayWait(history, nominal) && wasPaused && isDuringChange(history, recordedAt);
}

const mayWait = (history: JobHistory, nominal: number): boolean =>
  catchesUp(history) || (history.job.window?.mode === "hold" && isInside(history.job.window, nominal));

const catchesUp = ({ job, changes }: JobHistory): boolean =>
  job.misfire.policy === "run_all" ||
  changes.some(({ change }) => change.kind === "resume" && change.missed !== "none");

const isDuringChange = ({ changes }: JobHistory, at: number): boolean =>
  changes.some(({ sentAt, settledAt }) => sentAt <= at && at < (settledAt ?? Number.POSITIVE_INFINITY) + 1);

/** The occurrence waited for the end of its window, and a later one fired in its place. */
function isHeldBack({ entry: { recordedAt }, nominal, history }: Omission): boolean {
  const { window, misfire } = history.job;
  return isInside(window, nominal) && recordedAt >= window.to && misfire.policy !== "run_all";
}
