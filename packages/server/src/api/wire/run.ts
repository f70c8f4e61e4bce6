import type { Run, RunError as WireError, RunSummary } from "@carillon/contract";
import { formatId, parseTraceParent, type RunError } from "@carillon/core";
import type { AttemptRecord, RunExplanation, RunView } from "@carillon/engine";
import { timestamp, timestampOrNull } from "./scalars.js";

export function runSummary(run: RunView): RunSummary {
  const { startedAt, finishedAt } = run;
  return {
    id: formatId("run", run.id),
    status: run.status,
    status_reason: run.statusReason,
    trigger: wireTrigger(run.trigger),
    attempt: run.attempt,
    max_attempts: run.maxAttempts,
    started_at: timestampOrNull(startedAt),
    finished_at: timestampOrNull(finishedAt),
    lag_ms: lagMs(run),
    duration_ms: startedAt === null || finishedAt === null ? null : finishedAt - startedAt,
  };
}

function wireTrigger({ kind, id, scheduledFor, upstreamIds }: RunView["trigger"]): RunSummary["trigger"] {
  const upstream = upstreamIds?.map((one) => formatId("run", one));
  return {
    kind,
    id: id === null ? null : wireId(kind, id),
    scheduled_for: timestamp(scheduledFor),
    ...(upstream !== undefined && { upstream }),
  };
}

function wireId(kind: RunView["trigger"]["kind"], id: string): string {
  if (kind === "backfill") return formatId("bkf", id);
  return kind === "retry" || kind === "replay" || kind === "after" ? formatId("run", id) : id;
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
    job_id: run.jobId === null ? null : formatId("job", run.jobId),
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    run_at: timestamp(run.runAt),
    deadline_at: timestampOrNull(run.deadlineAt),
    created_at: timestamp(run.createdAt),
    losses: run.losses,
    worker_id: run.workerId === null ? null : formatId("wrk", run.workerId),
    retried_as: retriedAs === null ? null : formatId("run", retriedAs),
    waiting_on: waitingOn && { code: waitingOn.code, detail: waitingOn.detail },
    progress: run.progress && { ...run.progress, at: timestamp(run.progress.at) },
    payload: run.payload ?? null,
    output: run.output ?? null,
    error: run.error && wireError(run.error),
    attempts: run.attempts.map(wireAttempt),
    labels: { ...run.labels },
    owner: run.owner,
    trace_id: parseTraceParent(run.policy.traceparent ?? "")?.traceId ?? null,
  };
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
