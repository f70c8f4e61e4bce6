import type { Instant, JobSpec, MissedChoice, RunPolicy } from "@carillon/core";
import type { LedgerEntry } from "@carillon/store";
import type { JobView } from "./job-reader.js";

export interface PauseRequest {
  readonly reason: string | null;
  readonly until: Instant | null;
  readonly missed: MissedChoice;
}

export interface ResumeRequest {
  /** Absent: the choice of the pause. */
  readonly missed?: MissedChoice;
}

export interface Resumed {
  readonly job: JobView;
  /** Occurrences inside the pause; 0 when the job was not paused. */
  readonly missed: number;
}

export interface CancelRequest {
  /** signal: running runs are requested to stop; keep: they continue. Waiting runs end in both cases. */
  readonly running: "signal" | "keep";
  /** If other jobs wait for this one: refuse (the default), or detach: they wait only for the other jobs that they name. */
  readonly dependants?: "refuse" | "detach";
}

/** How this one run differs from its job; absent members are the job's. */
export interface RunNowRequest {
  /** Present when the whole payload is replaced; null is a payload. */
  readonly payload?: { readonly value: unknown };
  readonly priority?: number;
  readonly queue?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Each given member replaces the job's. */
  readonly policy?: RunPolicy;
  /** The overlap policy is ignored. */
  readonly force?: boolean;
}

/** A definition and when it was in force. */
export interface JobVersionView {
  readonly version: number;
  readonly spec: JobSpec;
  readonly validFrom: Instant;
  /** null: it is still in force. */
  readonly validTo: Instant | null;
  readonly replacedBy: string | null;
}

/** Occurrences without a scheduled run: `count` of them, the first at `from`, the last at `to`. */
export type OccurrenceView = Omit<LedgerEntry, "jobId" | "namespaceId">;

/** The outcome of one spec of a batch. */
export type CreatedJob = { readonly id: string } | { readonly error: unknown };
