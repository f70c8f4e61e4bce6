import type { ChaosJob } from "../plan/workload.js";
import type { LedgerRow, RunRow } from "./evidence.js";

/** A ledger entry with all that decides whether one of its occurrences may be left out. */
export interface Excuse {
  readonly entry: LedgerRow;
  readonly nominal: number;
  readonly job: ChaosJob;
  /** Those of the same job. */
  readonly runs: readonly RunRow[];
}

/** Why an occurrence may be left out, by the reason in the ledger. A reason that is not here is allowed to nobody. */
const rules: Readonly<Record<string, (excuse: Excuse) => boolean>> = {
  missed: isMisfire,
  overlap: isOverlap,
};

export function isAllowed(excuse: Excuse): boolean {
  return rules[excuse.entry.reason]?.(excuse) ?? false;
}

/** run_once leaves out all but the latest of what is due once the oldest is too late; skip only what is itself too late. */
function isMisfire({ entry: { from, recordedAt }, nominal, job: { misfire } }: Excuse): boolean {
  if (recordedAt < nominal) return false;
  if (misfire.policy === "run_once") return recordedAt - from > misfire.thresholdMs;
  return misfire.policy === "skip" && recordedAt - nominal > misfire.thresholdMs;
}

/** Some other run of the job was live between the occurrence and its entry. */
function isOverlap({ entry: { recordedAt }, nominal, job: { overlap }, runs }: Excuse): boolean {
  if (overlap === "allow" || recordedAt < nominal) return false;
  return runs.some(
    (run) => run.nominal !== nominal && run.createdAt <= recordedAt && (run.finishedAt ?? recordedAt) >= nominal,
  );
}
