import type { Instant, JobSpec, LedgerReason, MissedChoice, PreviewedFire, RunPolicy } from "@carillon/core";
import type { JobView } from "./job-view.js";
import type { RunView } from "../runs/run-view.js";
import type { JobRef, Page, PageRequest, ChangeContext } from "../requests.js";

export interface PauseRequest {
  readonly reason: string | null;
  readonly until: Instant | null;
  readonly missed: MissedChoice;
}

export interface ResumeRequest {
  /** As the pause said when absent. */
  readonly missed?: MissedChoice;
}

export interface Resumed {
  readonly job: JobView;
  /** Occurrences inside the pause; 0 when the job was not paused. */
  readonly missed: number;
}

export interface CancelRequest {
  /** signal: running runs are asked to stop; keep: they go on. Waiting ones end in both cases. */
  readonly running: "signal" | "keep";
  /** Where other jobs wait for this one: refuse (the usual), or detach: they wait for the others that they name. */
  readonly dependants?: "refuse" | "detach";
}

/** What differs from the job for this one run; absent members are the job's. */
export interface RunNowRequest {
  /** Present when the payload is replaced, whole; null is a payload. */
  readonly payload?: { readonly value: unknown };
  readonly priority?: number;
  readonly queue?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Each given member replaces the job's. */
  readonly policy?: RunPolicy;
  /** Whatever the overlap policy says. */
  readonly force?: boolean;
}

/** A definition and when it was in force. */
export interface JobVersionView {
  readonly version: number;
  readonly spec: JobSpec;
  readonly validFrom: Instant;
  /** Null: it still is. */
  readonly validTo: Instant | null;
  readonly replacedBy: string | null;
}

/** Occurrences without a scheduled run: `count` of them, the first at `from`, the last at `to`. */
export interface OccurrenceView {
  readonly version: number;
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

/**
 * Changes of jobs. Each settles what is due under the present definition first, takes effect at once, and is durable when it
 * returns. All throw CarillonError: not_found; precondition_failed; job_ended for a cancelled job; job_busy when somebody
 * else holds the job for seconds.
 */
export interface JobChanges {
  /** `edit` runs with the job's row locked, at the database's time `now`, and must be pure. The key may not change. */
  editJob(
    namespace: string,
    ref: JobRef,
    edit: (current: JobSpec, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<JobView>;
  /** Edits the job that has the key, or creates it; `define` gets null when there is none. */
  upsertJob(
    namespace: string,
    key: string,
    define: (current: JobSpec | null, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<{ readonly job: JobView; readonly created: boolean }>;
  /** The definition of that version becomes a new one. Throws version_unknown. */
  rollbackJob(namespace: string, ref: JobRef, version: number, context: ChangeContext): Promise<JobView>;
  /** A job that is paused gets the new reason and end. */
  pauseJob(namespace: string, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<JobView>;
  /** A job that is not paused is answered as it is. */
  resumeJob(namespace: string, ref: JobRef, request: ResumeRequest, context: ChangeContext): Promise<Resumed>;
  /** How many occurrences a resume now would decide over; 0 when the job is not paused. */
  countMissed(namespace: string, ref: JobRef): Promise<number>;
  /** Cancelling a cancelled job is answered as the first time. */
  cancelJob(namespace: string, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<JobView>;
  /** Does not move the schedule. Throws overlap_refused, naming the live run. */
  runNow(namespace: string, ref: JobRef, request: RunNowRequest, context: ChangeContext): Promise<RunView>;
  /** Newest first, the present one at the top. `after` is a version. */
  listVersions(namespace: string, ref: JobRef, page: PageRequest): Promise<Page<JobVersionView>>;
  /** Newest first. `after` is a `next` of this list; anything else throws page_token_invalid. */
  listOccurrences(namespace: string, ref: JobRef, page: PageRequest): Promise<Page<OccurrenceView>>;
  /** What comes next, with what calendars remove in between; nothing while the job is paused without an end. */
  upcoming(namespace: string, ref: JobRef, count: number): Promise<readonly PreviewedFire[]>;
}
