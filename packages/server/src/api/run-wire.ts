import type { Run, RunError as WireError, RunSummary } from "@carillon/contract";
import { formatId, latenessOf, parseTraceParent, type RunError, slaTermsOf } from "@carillon/core";
import type { AttemptRecord, RunExplanation, RunView } from "@carillon/engine";
import { shownJobId, shownPayload } from "./wire/delivery-run.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

export function runSummary(run: RunView): RunSummary {
  const { startedAt, finishedAt } = run;
  return {
    id: formatId("run", run.id),
    status: run.status,
    status_reason: run.statusReason,
    trigger: wireTrigger(run),
    attempt: run.attempt,
    max_attempts: run.maxAttempts,
    started_at: timestampOrNull(startedAt),
    finished_at: timestampOrNull(finishedAt),
    lag_ms: lagMs(run),
    duration_ms: startedAt === null || finishedAt === null ? null : finishedAt - startedAt,
  };
}

function wireTrigger({ id: runId, trigger }: RunView): RunSummary["trigger"] {
  const { kind, id, scheduledFor, upstreamIds } = trigger;
  const upstream = upstreamIds?.map((one) => formatId("run", one));
  return {
    kind,
    // What a call asked for has no other cause: its own id says nothing.
    id: id === null || id === runId ? null : formatId(kind === "backfill" ? "bkf" : "run", id),
    scheduled_for: timestamp(scheduledFor),
    ...(upstream !== undefined && { upstream }),
  };
}

/** How late the current or last try began. While the next try is waited for, there is none to measure. */
function lagMs({ startedAt, runAt }: RunView): number | null {
  return startedAt === null || startedAt < runAt ? null : startedAt - runAt;
}

/** What is looked up only for a run that is asked for by itself. */
export interface RunFacts {
  readonly waitingOn?: RunExplanation | null;
  /** The run that takes its place. */
  readonly retriedAs?: string | null;
}

export function wireRun(run: RunView, { waitingOn = null, retriedAs = null }: RunFacts = {}): Run {
  return {
    ...runSummary(run),
    job_id: shownJobId(run),
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    run_at: timestamp(run.runAt),
    deadline_at: timestampOrNull(run.deadlineAt),
    sla: wireSla(run),
    created_at: timestamp(run.createdAt),
    losses: run.losses,
    worker_id: run.workerId === null ? null : formatId("wrk", run.workerId),
    retried_as: retriedAs === null ? null : formatId("run", retriedAs),
    waiting_on: waitingOn && { code: waitingOn.code, detail: waitingOn.detail },
    progress: run.progress && { ...run.progress, at: timestamp(run.progress.at) },
    payload: shownPayload(run),
    output: run.output ?? null,
    error: run.error && wireError(run.error),
    attempts: run.attempts.map(wireAttempt),
    labels: { ...run.labels },
    owner: run.owner,
    trace_id: parseTraceParent(run.policy.traceparent ?? "")?.traceId ?? null,
  };
}

/** Of a run that has not started, or not ended, the terms alone: explain says how late it is. */
function wireSla(run: RunView): Run["sla"] {
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

function wireAttempt(record: AttemptRecord): Run["attempts"][number] {
  return {
    attempt: record.attempt,
    fence: record.fence,
    worker_id: formatId("wrk", record.sessionId),
    started_at: timestamp(record.startedAt),
    ended_at: timestamp(record.endedAt),
    outcome: record.outcome,
    error: record.error === undefined ? null : wireError(record.error),
  };
}

export function wireError({ type, message, stack, retryable, fingerprint }: RunError): WireError {
  return {
    type,
    message,
    ...(stack !== undefined && { stack }),
    retryable,
    ...(fingerprint !== undefined && { fingerprint }),
  };
}
