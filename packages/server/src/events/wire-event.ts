import { formatId } from "@carillon/core";
import type { Event, EventType } from "@carillon/contract";
import type { EngineEvent } from "@carillon/engine";
import { shownJobId } from "../api/wire/delivery-run.js";
import { timestamp } from "../api/timestamp.js";

/** One event as the stream tells it, with what it is filtered by. */
export interface Notice {
  /** null: it is no one namespace's, and all are told. */
  readonly namespaceId: number | null;
  readonly event: Event;
}

type RunEvent = Extract<EngineEvent, { readonly runId: string }>;

/** What callers are told of an event; null for what is the node's own affair. */
export function noticeOf(event: EngineEvent, now: number): Notice | null {
  switch (event.type) {
    case "run.fired":
    case "run.blocked":
    case "run.late":
      return notice(event, event.type, now, { scheduled_for: timestamp(event.nominal), late_ms: whole(event.lateMs) });
    case "run.sla_breached":
      return notice(event, event.type, now, { sla: event.term, late_ms: whole(event.lateMs) });
    case "run.claimed":
      return notice(event, "run.started", now, { waited_ms: whole(event.waitedMs) });
    case "run.progressed":
      return notice(event, "run.progress", now, { fraction: event.fraction, text: event.text });
    case "run.retried":
      return notice(event, "run.retrying", now, { delay_ms: whole(event.delayMs) });
    case "run.snoozed":
      return notice(event, "run.snoozed", now, { delay_ms: whole(event.delayMs) });
    case "run.finished":
      return notice(event, `run.${event.status}`, now, { duration_ms: whole(event.durationMs) });
    case "job.changed": {
      const { namespaceId, jobId, change } = event;
      return { namespaceId, event: { type: `job.${change}`, at: timestamp(now), job_id: formatId("job", jobId) } };
    }
    case "queue.changed": {
      const { namespaceId, queue, change } = event;
      return { namespaceId, event: { type: `queue.${change}`, at: timestamp(now), queue } };
    }
    case "task.defaults_changed": {
      const { type, namespaceId, task } = event;
      return { namespaceId, event: { type, at: timestamp(now), task } };
    }
    case "session.lost": {
      const { namespaceId, sessionId, name, runs } = event;
      const worker = { worker_id: formatId("wrk", sessionId), worker: name, runs };
      return { namespaceId, event: { type: "worker.lost", at: timestamp(now), ...worker } };
    }
    case "shards.taken_over": {
      const { nodeId, from, count: shards, durationMs } = event;
      const nodes = { node_id: formatId("node", nodeId), from_node_id: formatId("node", from) };
      const after = durationMs === null ? {} : { after_ms: whole(durationMs) };
      return { namespaceId: null, event: { type: "node.took_over", at: timestamp(now), ...nodes, shards, ...after } };
    }
    default:
      return null;
  }
}

function notice(of: RunEvent, type: EventType, now: number, more: Partial<Event>): Notice {
  const { namespaceId, runId, task, queue } = of;
  const ids = { job_id: shownJobId(of), run_id: formatId("run", runId) };
  return { namespaceId, event: { type, at: timestamp(now), ...ids, task, queue, ...more } };
}

const whole = (ms: number): number => Math.round(ms);
