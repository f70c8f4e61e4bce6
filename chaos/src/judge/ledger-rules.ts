import { isInside } from "../plan/constraints.js";
import type { JobHistory } from "../targets/job-history.js";
import type { LedgerRow, RunRow } from "./evidence.js";

/** A ledger entry with all that decides whether one of its occurrences may be left out. */
export interface Omission {
  readonly entry: LedgerRow;
  readonly nominal: number;
  readonly history: JobHistory;
  /** Those of the same job. */
  readonly runs: readonly RunRow[];
  /** When the work of a run was first seen. */
  readonly begunAt: (run: RunRow) => number | null;
}

/** Why an occurrence may be left out, by the reason in the ledger. A reason that is not here is allowed to nobody. */
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

/** run_once leaves out all but the latest of what is due once the oldest is too late; skip only what is itself too late. */
function isMisfire({ entry: { from, recordedAt }, nominal, history }: Omission): boolean {
  const { misfire } = history.job;
  if (recordedAt < nominal) return false;
  if (misfire.policy === "run_once") return recordedAt - from > misfire.thresholdMs;
  return misfire.policy === "skip" && recordedAt - nominal > misfire.thresholdMs;
}

/** A run says when it ended before its end is committed, and is live for everybody else until then. */
const commitMs = 2_000;

/** skip: some other run of the job was live between the occurrence and its entry. queue_one: one that had not begun. */
function isOverlap({ entry: { recordedAt }, nominal, history, runs, begunAt }: Omission): boolean {
  const { overlap } = history.job;
  if ((overlap !== "skip" && overlap !== "queue_one") || recordedAt < nominal) return false;
  const isLive = ({ createdAt, finishedAt }: RunRow): boolean =>
    createdAt <= recordedAt && (finishedAt ?? recordedAt) + commitMs >= nominal;
  const isWaiting = (run: RunRow): boolean => (begunAt(run) ?? Number.POSITIVE_INFINITY) > nominal;
  return runs.some((run) => run.nominal !== nominal && isLive(run) && (overlap === "skip" || isWaiting(run)));
}

/** A change came while it still waited: for others that were caught up, one after the other, or for the end of its window. */
function isSuperseded({ entry: { recordedAt }, nominal, history }: Omission): boolean {
  return mayWait(history, nominal) && isDuringChange(history, recordedAt) && nominal <= recordedAt;
}

/** A pause came while it still waited: it belongs to the pause then, and its end left it out. */
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

/** It waited for the end of its window, and another was fired in its place. */
function isHeldBack({ entry: { recordedAt }, nominal, history }: Omission): boolean {
  const { window, misfire } = history.job;
  return isInside(window, nominal) && recordedAt >= window.to && misfire.policy !== "run_all";
}
