import { type Assignment, defaultRetryPolicy, type DurationMs, type Instant, retryOf, timeoutOf } from "@carillon/core";
import type { ClaimedRun, Lane } from "@carillon/store";

/** An assignment with its payload as the stored JSON, which is parsed when the payload is read. */
export type Assigned = Assignment & { readonly payloadJson: string };

/** Converts a claimed run to the form in which its worker gets it. */
export function toAssignment(run: ClaimedRun, lane: Lane | null): Assigned {
  if (lane === null) throw new Error(`run ${run.id} was claimed from lane ${run.lane}, which this node does not know`);
  return new AssignedRun(run, lane);
}

class AssignedRun implements Assigned {
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly payloadJson: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly atMostOnce: boolean;
  readonly fence: number;
  readonly timeoutMs: DurationMs | null;
  readonly scheduledFor: Instant;
  readonly runAt: Instant;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;

  constructor(run: ClaimedRun, lane: Lane) {
    const { policy } = run;
    this.runId = run.id;
    this.jobId = run.jobId;
    this.task = lane.task;
    this.queue = lane.queue;
    this.payloadJson = run.payload;
    this.attempt = run.spent + 1;
    this.atMostOnce = policy.guarantee === "at_most_once";
    const isUsual = policy.retry === undefined && !this.atMostOnce;
    this.maxAttempts = isUsual ? defaultRetryPolicy.maxAttempts : retryOf(policy).maxAttempts;
    this.fence = run.fence;
    this.timeoutMs = timeoutOf(policy);
    this.scheduledFor = run.nominal;
    this.runAt = run.runAt;
    this.traceparent = policy.traceparent;
    this.tracestate = policy.tracestate;
  }

  /** Parsed at every read: a handler reads it once, and most of the time the run only waits. */
  get payload(): unknown {
    return JSON.parse(this.payloadJson);
  }
}
