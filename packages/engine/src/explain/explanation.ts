import { formatDuration, type Instant, type JobState, type RunError } from "@carillon/core";
import type { Unserved } from "../dispatch/sessions/why-unserved.js";
import type { JobView } from "../jobs/job-reader.js";
import type { OccurrenceView } from "../jobs/job-requests.js";
import type { RunView } from "../runs/run-reader.js";

/** What a run waits for, or how it ended. */
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

/** An answer: one sentence, and its numbers. */
export interface Explanation<Code extends string> {
  readonly code: Code;
  readonly detail: string;
  /** When the answer changes without any action; null: not known. */
  readonly until: Instant | null;
  /** The numbers and names in the sentence. */
  readonly facts: Readonly<Record<string, string | number>>;
}

export type RunExplanation = Explanation<RunWaitCode>;

export interface JobExplanation extends Explanation<JobWaitCode> {
  readonly job: JobView;
  readonly state: JobState;
  /** The newest run, and what it waits for or how it ended. */
  readonly run: { readonly run: RunView; readonly explanation: RunExplanation } | null;
  /** The newest ledger entries. */
  readonly outcomes: readonly OccurrenceView[];
}

/** An answer without numbers. */
export function plain<Code extends string>(code: Code, detail: string): Explanation<Code> {
  return { code, detail, until: null, facts: {} };
}

/** A duration for people: whole seconds from one second up. */
export function durationText(ms: number): string {
  const size = Math.max(0, ms);
  return formatDuration(size < 1_000 ? Math.round(size) : Math.round(size / 1_000) * 1_000);
}

export function at(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function byWhom(actor: string | null): string {
  return actor === null ? "" : ` by ${actor}`;
}

export function because(reason: string | null): string {
  return reason === null || reason === "" ? "" : `: ${reason}`;
}

const maxErrorLength = 300;

/** Fits into a sentence: the type of an error and the first line of its message. */
export function errorSummary({ type, message }: Pick<RunError, "type" | "message">): string {
  const line = message.split("\n", 1)[0] ?? "";
  return `${type}: ${line.length > maxErrorLength ? `${line.slice(0, maxErrorLength - 1)}…` : line}`;
}
