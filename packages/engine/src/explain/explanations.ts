import type { Instant, JobState } from "@carillon/core";
import type { OccurrenceView } from "../jobs/job-changes.js";
import type { JobView } from "../jobs/job-view.js";
import type { RunView } from "../runs/run-view.js";
import type { Unserved } from "../dispatch/sessions/why-unserved.js";
import type { JobRef } from "../requests.js";

/** What a run waits for, or what became of it. */
export type RunWaitCode =
  | "ended"
  | "running"
  | "due_later"
  | "due_now"
  | "retry_later"
  | "overlap"
  | "queue_paused"
  | "limit_concurrency"
  | "limit_rate"
  | "limit_order"
  | "limit_pending"
  | "breaker_open"
  | "position"
  | Unserved["code"];

/** Whether and why a job fires. */
export type JobWaitCode =
  | "fires"
  | "fires_now"
  | "window"
  | "paused"
  | "completed"
  | "cancelled"
  | "manual"
  | "after"
  | "never";

/** One answer, in one sentence, with its numbers. */
export interface Explanation<Code extends string> {
  readonly code: Code;
  readonly detail: string;
  /** When that changes by itself, where it is known. */
  readonly until: Instant | null;
  /** The numbers and names of the sentence. */
  readonly facts: Readonly<Record<string, string | number>>;
}

export type RunExplanation = Explanation<RunWaitCode>;

export interface JobExplanation extends Explanation<JobWaitCode> {
  readonly job: JobView;
  readonly state: JobState;
  /** The newest run: what it waits for, or how it ended. */
  readonly run: { readonly run: RunView; readonly explanation: RunExplanation } | null;
  /** The newest entries of the ledger. */
  readonly outcomes: readonly OccurrenceView[];
}

/** Why things are as they are. */
export interface Explanations {
  /** Null: there is no such run. */
  explainRun(namespace: string, runId: string): Promise<{ run: RunView; explanation: RunExplanation } | null>;
  /** The same of a run that was read before. */
  explain(namespace: string, run: RunView): Promise<RunExplanation>;
  /** Throws not_found. */
  explainJob(namespace: string, ref: JobRef): Promise<JobExplanation>;
}
