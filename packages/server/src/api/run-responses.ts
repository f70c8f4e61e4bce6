import type { Run, RunCreated, RunError as RunErrorJson, RunSummary } from "@carillon/contract";
import { type RunError, formatId, latenessOf, parseTraceParent, slaTermsOf } from "@carillon/core";
import type { AttemptRecord, RunExplanation, RunView } from "@carillon/engine";
import { shownJobId, shownPayload } from "../events/webhook-delivery.js";
import { type ApiResponse, createdResponse, ok } from "./http/handler.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

export function toRunSummaryJson(run: RunView): RunSummary {
  const { startedAt, finishedAt } = run;
  return {
    id: formatId("run", run.id),
    status: run.status,
    status_reason: run.statusReason,
    trigger: toTriggerJson(run),
    attempt: run.attempt,
    max_attempts: run.maxAttempts,
    started_at: timestampOrNull(startedAt),
    finished_at: timestampOrNull(finishedAt),
    lag_ms: lagMs(run),
    duration_ms: startedAt === null || finishedAt === null ? null : finishedAt - startedAt,
  };
}

function toTriggerJson({ id: runId, trigger }: RunView): RunSummary["trigger"] {
  const { kind, id, scheduledFor, upstreamIds } = trigger;
  const upstream = upstreamIds?.map((one) => formatId("run", one));
  return {
    kind,
    // A run that a call created has no other cause: its own id adds nothing.
    id: id === null || id === runId ? null : formatId(kind === "backfill" ? "bkf" : "run", id),
    scheduled_for: timestamp(scheduledFor),
    ...(upstream !== undefined && { upstream }),
  };
}

/** How late the current or last attempt started; null while the run waits for its next attempt. */
function lagMs({ startedAt, runAt }: RunView): number | null {
  return startedAt === null || startedAt < runAt ? null : startedAt - runAt;
}

/** Facts that are read only for a single run, not for lists. */
export interface RunFacts {
  readonly waitingOn?: RunExplanation | null;
  /** The run that retries this one. */
  readonly retriedAs?: string | null;
}

export function toRunJson(run: RunView, { waitingOn = null, retriedAs = null }: RunFacts = {}): Run {
  return {
    ...toRunSummaryJson(run),
    job_id: shownJobId(run),
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    run_at: timestamp(run.runAt),
    deadline_at: timestampOrNull(run.deadlineAt),
    sla: toSlaJson(run),
    created_at: timestamp(run.createdAt),
    losses: run.losses,
    worker_id: run.workerId === null ? null : formatId("wrk", run.workerId),
    retried_as: retriedAs === null ? null : formatId("run", retriedAs),
    waiting_on: waitingOn && { code: waitingOn.code, detail: waitingOn.detail },
    progress: run.progress && { ...run.progress, at: timestamp(run.progress.at) },
    payload: shownPayload(run),
    output: run.output ?? null,
    error: run.error && toErrorJson(run.error),
    attempts: run.attempts.map(toAttemptJson),
    labels: { ...run.labels },
    owner: run.owner,
    trace_id: parseTraceParent(run.policy.traceparent ?? "")?.traceId ?? null,
  };
}

/** Breaches are reported for runs that have started or ended; explain reports the lateness of waiting ones. */
function toSlaJson(run: RunView): Run["sla"] {
  const { trigger, policy, startedAt, finishedAt, attempts, status } = run;
  const terms = slaTermsOf({ sla: policy.sla, trigger: trigger.kind, nominal: trigger.scheduledFor });
  if (terms === null) return null;
  const { startBy, finishBy } = terms;
  const firstStart = attempts[0]?.startedAt ?? startedAt;
  const breached: ("start" | "finish")[] = [];
  if (firstStart !== null && latenessOf(startBy, firstStart) !== null) breached.push("start");
  if (finishedAt !== null && status !== "cancelled" && latenessOf(finishBy, finishedAt) !== null)
    breached.push("finish");
  return { start_by: timestampOrNull(startBy), finish_by: timestampOrNull(finishBy), breached };
}

export function toAttemptJson(record: AttemptRecord): Run["attempts"][number] {
  return {
    attempt: record.attempt,
    fence: record.fence,
    worker_id: formatId("wrk", record.sessionId),
    started_at: timestamp(record.startedAt),
    ended_at: timestamp(record.endedAt),
    outcome: record.outcome,
    error: record.error === undefined ? null : toErrorJson(record.error),
  };
}

export function toErrorJson({ type, message, stack, retryable, fingerprint }: RunError): RunErrorJson {
  return {
    type,
    message,
    ...(stack !== undefined && { stack }),
    retryable,
    ...(fingerprint !== undefined && { fingerprint }),
  };
}

/** The response to a call that always creates a run. */
export function newRunResponse(run: RunView): ApiResponse {
  const body = toRunJson(run);
  return createdResponse(`/v1/runs/${body.id}`, ok(body));
}

/** The response to a call that creates a run, or finds the one that exists already. */
export function runOrExistingResponse(run: RunView, isNew: boolean): ApiResponse {
  const body: RunCreated = { ...toRunJson(run), is_new: isNew };
  return isNew ? createdResponse(`/v1/runs/${body.id}`, ok(body)) : ok(body);
}
