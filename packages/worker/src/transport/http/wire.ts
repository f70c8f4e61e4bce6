import type { Assignment, Completion, Outcome, RunError, StopOrder } from "@carillon/core";
import type { WorkerPolled } from "@carillon/client";
import type { Registration } from "../../runtime/transport.js";

export interface ClaimName {
  readonly runId: string;
  readonly fence: number;
}

export interface PollNews {
  readonly runs: readonly Assignment[];
  readonly refused: readonly string[];
  readonly stops: readonly StopOrder[];
  readonly lost: readonly ClaimName[];
  readonly isToDrain: boolean;
  /** At once, giving back what it has. */
  readonly isToLeave: boolean;
}

/** A server of an older version gives no notice. */
type Polled = Omit<WorkerPolled, "leave"> & Partial<Pick<WorkerPolled, "leave">>;

export function newsOf({ runs, refused, stops, lost, drain, leave = false }: Polled): PollNews {
  return {
    runs: runs.map(assignmentOf),
    refused,
    stops: stops.map(({ run_id: runId, fence, reason }) => ({ runId, fence, reason })),
    lost: lost.map(({ run_id: runId, fence }) => ({ runId, fence })),
    isToDrain: drain,
    isToLeave: leave,
  };
}

function assignmentOf(run: WorkerPolled["runs"][number]): Assignment {
  return {
    runId: run.run_id,
    jobId: run.job_id,
    task: run.task,
    queue: run.queue,
    payload: run.payload,
    attempt: run.attempt,
    maxAttempts: run.max_attempts,
    atMostOnce: run.at_most_once,
    fence: run.fence,
    timeoutMs: run.timeout_ms,
    scheduledFor: run.scheduled_for,
    runAt: run.run_at,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
  };
}

/** What a worker does not say is left out: a server of an older version may not know it. */
export function registrationJson({ isSpot, ...registration }: Registration): string {
  return JSON.stringify({ ...registration, ...(isSpot === true && { spot: true }) });
}

export function claimsJson(runs: Iterable<ClaimName>): string {
  return `[${Array.from(runs, ({ runId, fence }) => `{"run_id":"${runId}","fence":${fence}}`).join(",")}]`;
}

/** A result larger than this would be refused with all that go with it. */
const longestOutput = 8_388_608;

/** The output goes as the handler's result was written, without being read again. */
export function resultJson({ runId, fence, startedAgoMs, outcome }: Completion): string {
  const agoMs = Math.max(0, Math.round(startedAgoMs));
  return `{"run_id":"${runId}","fence":${fence},"started_ago_ms":${agoMs},${outcomeJson(outcome)}}`;
}

/** What is reported of a run whose result the server did not take. */
export function notTaken(completion: Completion, message: string): Completion {
  const error = { type: "ResultNotStorable", message, retryable: false };
  return { ...completion, outcome: { kind: "failed", reason: "handler_error", error } };
}

function outcomeJson(outcome: Outcome): string {
  if (outcome.kind === "succeeded") {
    const { outputJson } = outcome;
    if (outputJson.length <= longestOutput) return `"outcome":"succeeded","output":${outputJson}`;
    const message = `the result cannot be stored: it has ${outputJson.length} characters, more than ${longestOutput}`;
    return failureJson("failed", { type: "ResultNotStorable", message, retryable: false });
  }
  if (outcome.kind === "snoozed") return `"outcome":"snoozed","delay_ms":${Math.round(outcome.delayMs)}`;
  if (outcome.kind === "waiting") return `"outcome":"waiting","wait_ms":${Math.round(outcome.waitMs)}`;
  if (outcome.kind === "cancelled")
    return outcome.error === null ? `"outcome":"cancelled"` : failureJson("cancelled", outcome.error);
  const after = outcome.retryAfterMs;
  const retry = after === undefined ? "" : `,"retry_after_ms":${Math.max(0, Math.round(after))}`;
  return failureJson(outcome.reason === "timeout" ? "timeout" : "failed", outcome.error) + retry;
}

const longestType = 200;
const longestText = 16_384;

function failureJson(outcome: string, { type, message, stack, retryable }: RunError): string {
  const error = {
    type: storable(type, longestType),
    message: storable(message, longestText),
    ...(stack !== undefined && { stack: storable(stack, longestText) }),
    retryable,
  };
  return `"outcome":"${outcome}","error":${JSON.stringify(error)}`;
}

/** Without what PostgreSQL cannot hold in a text, and no longer than the server takes. */
function storable(text: string, most: number): string {
  return text.slice(0, most).replaceAll(/[\0\p{Surrogate}]/gu, "\ufffd");
}
