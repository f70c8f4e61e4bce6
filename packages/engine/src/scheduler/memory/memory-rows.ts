import type { FinalRunStatus, Instant, LiveRunStatus, RunPolicy } from "@carillon/core";
import type { LedgerEntry, LockedJob } from "@carillon/store";

/** A job with its due state: a row of `job` and one of `job_due`. */
export type MemoryJob = Omit<LockedJob, "windows" | "now">;

/** A live run. */
export interface MemoryRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly state: LiveRunStatus;
  readonly stateReason: string | null;
  readonly priority: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly createdAt: Instant;
  readonly trigger: string;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly version: number | null;
  readonly serial: boolean;
  readonly untracked: boolean;
  /** Its worker is asked to stop. */
  readonly cancelReason: string | null;
  readonly sessionId: string | null;
}

/** A run in history. */
export interface EndedRun {
  readonly run: MemoryRun;
  readonly status: FinalRunStatus;
  readonly reason: string | null;
  readonly finishedAt: Instant;
}

/** A range of the ledger. */
export interface MemoryRange extends LedgerEntry {
  readonly recordedAt: Instant;
}
