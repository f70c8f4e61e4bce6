import { type JobStats as StatsJson, limits, type RunEvents, type RunLogLine } from "@carillon/contract";
import { formatId, isFinal } from "@carillon/core";
import type { JobStats, LinePlace, LogPage, RedriveView, RunLine, RunView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, handlers, ok, timestamp, timestampOrNull } from "./http/handler.js";
import { pageRequest, pageTokenOf } from "./http/paging.js";
import { idOrNotFound, jobRef } from "./http/request.js";
import { toAttemptsJson } from "./runs.js";

type EventJson = RunEvents["events"][number];

export function runHistoryHandlers({ engine }: ApiOptions) {
  const find = async (namespace: string, id: string): Promise<RunView> =>
    found(await engine.runs.get(namespace, idOrNotFound("run", id)), `There is no run ${id}.`);
  return handlers({
    async listRunAttempts({ params, namespace }) {
      return ok({ attempts: toAttemptsJson(await find(namespace, params.id)) });
    },
    async listRunEvents({ params, namespace }) {
      const run = await find(namespace, params.id);
      return ok({ events: toEventsJson(run, await engine.deadLetters.redrivesOf(namespace, run.id)) });
    },
    async getJobStats({ params, namespace }) {
      return ok(toStatsJson(await engine.jobs.stats(namespace, jobRef(params.id))));
    },
  });
}

/** A timeline derived from the run, its attempts and its redrives; events are not stored. */
function toEventsJson(run: RunView, redrives: readonly RedriveView[]): EventJson[] {
  const nothing = { attempt: null, worker_id: null, run_id: null, detail: null };
  const events: EventJson[] = [
    { ...nothing, at: timestamp(run.createdAt), type: "created", detail: run.trigger.kind },
    { ...nothing, at: timestamp(run.trigger.scheduledFor), type: "due" },
  ];
  const attempts = toAttemptsJson(run);
  for (const one of attempts) {
    const { attempt, worker_id: worker, started_at: started, ended_at: ended, outcome, error } = one;
    const of = { ...nothing, attempt, worker_id: worker };
    events.push({ ...of, at: started, type: "started" });
    if (ended !== null && outcome !== "running") {
      events.push({ ...of, at: ended, type: outcome, detail: error?.message ?? null });
    }
  }
  const { status, statusReason, finishedAt, runAt } = run;
  if (status === "retrying") events.push({ ...nothing, at: timestamp(runAt), type: "next_try", detail: statusReason });
  // The end of the last attempt is the end of the run, unless the run ended while it waited.
  const hasEnd = attempts.length > run.attempts.length;
  if (isFinal(status) && finishedAt !== null && !hasEnd) {
    events.push({ ...nothing, at: timestamp(finishedAt), type: endType(status), detail: statusReason });
  }
  for (const { kind, runId, at, actor } of redrives) {
    const type = kind === "retry" ? "retried" : kind === "replay" ? "replayed" : "discarded";
    events.push({ ...nothing, at: timestamp(at), type, run_id: runId && formatId("run", runId), detail: actor });
  }
  return events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function endType(status: RunView["status"]): "succeeded" | "failed" | "cancelled" | "skipped" {
  return status === "succeeded" || status === "cancelled" || status === "skipped" ? status : "failed";
}

function toStatsJson(stats: JobStats): StatsJson {
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

const positionPattern = /^(\d{1,15})\.(\d{1,9})$/;
const readPosition = (text: string): string | null => (positionPattern.test(text) ? text : null);

export function runLogHandlers({ engine }: ApiOptions) {
  return handlers({
    async listRunLogs({ params, query, namespace, signal }) {
      const id = idOrNotFound("run", params.id);
      const { level, follow } = query;
      const list = ["logs", namespace, id, level ?? null];
      const { pageSize, after } = pageRequest(query, list, readPosition);
      const position = positionOf(after);
      const isFollowing = follow === "true";
      const logs = await engine.runs.logs(namespace, id, {
        pageSize,
        after: position,
        ...(level !== undefined && { level }),
        ...(isFollowing && { waitMs: limits.followMs }),
        ...(signal !== undefined && { signal }),
      });
      const page = found(logs, `There is no run ${params.id}.`);
      const next = nextPosition(page, position, isFollowing);
      const token = next === null ? null : pageTokenOf(`${next.fence}.${next.number}`, list);
      return ok({ lines: page.lines.map(toLineJson), next_page_token: token });
    },
  });
}

/** A caller that follows gets a next page until the run has ended; another caller while lines are left. */
function nextPosition({ lines, hasMore, isEnd }: LogPage, after: LinePlace, isFollowing: boolean): LinePlace | null {
  const isLastPage = isFollowing ? isEnd : !hasMore;
  return isLastPage ? null : (lines.at(-1) ?? after);
}

function positionOf(text = "0.0"): LinePlace {
  const [, fence, number] = positionPattern.exec(text) ?? [];
  return { fence: Number(fence), number: Math.min(Number(number), 2_147_483_647) };
}

function toLineJson({ at, level, message, fields, fence, number }: RunLine): RunLogLine {
  return { at: timestamp(at), level, message, fields: fields ?? null, fence, number };
}
