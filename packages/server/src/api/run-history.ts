import type { JobStats as WireStats, RunAttempts, RunEvents } from "@carillon/contract";
import { formatId, isFinal } from "@carillon/core";
import type { JobStats, RedriveView, RunView } from "@carillon/engine";
import { wireError } from "./run-wire.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

type WireAttempt = RunAttempts["attempts"][number];
type WireEvent = RunEvents["events"][number];

/** The tries that ended without success are on record with the run; the last one is the run itself. */
export function wireAttempts(run: RunView): WireAttempt[] {
  const before = run.attempts.map((record): WireAttempt => {
    const { attempt, sessionId, startedAt, endedAt, outcome, error } = record;
    return {
      attempt,
      worker_id: formatId("wrk", sessionId),
      started_at: timestamp(startedAt),
      ended_at: timestamp(endedAt),
      outcome,
      error: error === undefined ? null : wireError(error),
    };
  });
  const last = lastAttempt(run);
  return last === null ? before : [...before, last];
}

function lastAttempt({
  status,
  statusReason,
  attempt,
  workerId,
  startedAt,
  finishedAt,
  error,
}: RunView): WireAttempt | null {
  const outcome = outcomeOf(status, statusReason);
  if (startedAt === null || outcome === null) return null;
  return {
    attempt,
    worker_id: workerId === null ? null : formatId("wrk", workerId),
    started_at: timestamp(startedAt),
    ended_at: timestampOrNull(finishedAt),
    outcome,
    error: error && wireError(error),
  };
}

function outcomeOf(status: RunView["status"], reason: string | null): WireAttempt["outcome"] | null {
  if (status === "running" || status === "succeeded" || status === "cancelled") return status;
  if (status !== "failed" || reason === "expired") return null;
  return reason === "timeout" || reason === "worker_lost" ? reason : "failed";
}

/** A timeline that nobody wrote down: it follows from the run, its tries, and what was done about it. */
export function wireEvents(run: RunView, redrives: readonly RedriveView[]): WireEvent[] {
  const nothing = { attempt: null, worker_id: null, run_id: null, detail: null };
  const events: WireEvent[] = [
    { ...nothing, at: timestamp(run.createdAt), type: "created", detail: run.trigger.kind },
    { ...nothing, at: timestamp(run.trigger.scheduledFor), type: "due" },
  ];
  for (const one of wireAttempts(run)) {
    const { attempt, worker_id: worker, started_at: started, ended_at: ended, outcome, error } = one;
    const of = { ...nothing, attempt, worker_id: worker };
    events.push({ ...of, at: started, type: "started" });
    if (ended !== null && outcome !== "running") {
      events.push({ ...of, at: ended, type: outcome, detail: error?.message ?? null });
    }
  }
  const { status, statusReason, finishedAt, runAt } = run;
  if (status === "retrying") events.push({ ...nothing, at: timestamp(runAt), type: "next_try", detail: statusReason });
  const isTold = events.some((event) => event.type === status || (status === "failed" && isEnd(event)));
  if (isFinal(status) && finishedAt !== null && !isTold) {
    events.push({ ...nothing, at: timestamp(finishedAt), type: endWord(status), detail: statusReason });
  }
  for (const { kind, runId, at, actor } of redrives) {
    const type = kind === "retry" ? "retried" : kind === "replay" ? "replayed" : "discarded";
    events.push({ ...nothing, at: timestamp(at), type, run_id: runId && formatId("run", runId), detail: actor });
  }
  return events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function isEnd({ type }: WireEvent): boolean {
  return type === "timeout" || type === "worker_lost";
}

function endWord(status: RunView["status"]): "succeeded" | "failed" | "cancelled" | "skipped" {
  return status === "succeeded" || status === "cancelled" || status === "skipped" ? status : "failed";
}

export function wireStats(stats: JobStats): WireStats {
  const { finished, succeeded, failed, cancelled, skipped, retried } = stats;
  return {
    finished,
    succeeded,
    failed,
    cancelled,
    skipped,
    retried,
    first_at: timestampOrNull(stats.firstAt),
    last_at: timestampOrNull(stats.lastAt),
    duration_p50_ms: stats.durationP50Ms,
    duration_p95_ms: stats.durationP95Ms,
    lag_p95_ms: stats.lagP95Ms,
  };
}
