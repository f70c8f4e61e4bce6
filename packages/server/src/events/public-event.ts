import { type Event, type EventType, eventTypes } from "@carillon/contract";
import { CarillonError, formatId, formatInstant } from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { shownJobId } from "./webhook-delivery.js";

/** A public event, with the namespace that it is filtered by. */
export interface PublicEvent {
  /** Null: an event of the cluster, for streams of all namespaces. */
  readonly namespaceId: number | null;
  readonly event: Event;
}

type RunEvent = Extract<EngineEvent, { readonly runId: string }>;

/** The public form of an engine event; null for internal ones. */
export function toPublicEvent(event: EngineEvent, now: number): PublicEvent | null {
  switch (event.type) {
    case "run.fired":
    case "run.blocked":
    case "run.late":
      return runEvent(event, event.type, now, {
        scheduled_for: formatInstant(event.nominal),
        late_ms: whole(event.lateMs),
      });
    case "run.sla_breached":
      return runEvent(event, event.type, now, { sla: event.term, late_ms: whole(event.lateMs) });
    case "run.claimed":
      return runEvent(event, "run.started", now, { waited_ms: whole(event.waitedMs) });
    case "run.progressed":
      return runEvent(event, "run.progress", now, { fraction: event.fraction, text: event.text });
    case "run.retried":
      return runEvent(event, "run.retrying", now, { delay_ms: whole(event.delayMs) });
    case "run.snoozed":
      return runEvent(event, "run.snoozed", now, { delay_ms: whole(event.delayMs) });
    case "run.finished":
      return runEvent(event, `run.${event.status}`, now, { duration_ms: whole(event.durationMs) });
    case "job.changed": {
      const { namespaceId, jobId, change } = event;
      return { namespaceId, event: { type: `job.${change}`, at: formatInstant(now), job_id: formatId("job", jobId) } };
    }
    case "queue.changed": {
      const { namespaceId, queue, change } = event;
      return { namespaceId, event: { type: `queue.${change}`, at: formatInstant(now), queue } };
    }
    case "task.defaults_changed": {
      const { type, namespaceId, task } = event;
      return { namespaceId, event: { type, at: formatInstant(now), task } };
    }
    case "session.lost": {
      const { namespaceId, sessionId, name, runs } = event;
      const worker = { worker_id: formatId("wrk", sessionId), worker: name, runs };
      return { namespaceId, event: { type: "worker.lost", at: formatInstant(now), ...worker } };
    }
    case "shards.taken_over": {
      const { nodeId, from, count: shards, durationMs } = event;
      const nodes = { node_id: formatId("node", nodeId), from_node_id: formatId("node", from) };
      const after = durationMs === null ? {} : { after_ms: whole(durationMs) };
      return {
        namespaceId: null,
        event: { type: "node.took_over", at: formatInstant(now), ...nodes, shards, ...after },
      };
    }
    default:
      return null;
  }
}

function runEvent(of: RunEvent, type: EventType, now: number, more: Partial<Event>): PublicEvent {
  const { namespaceId, runId, task, queue } = of;
  const ids = { job_id: shownJobId(of), run_id: formatId("run", runId) };
  return { namespaceId, event: { type, at: formatInstant(now), ...ids, task, queue, ...more } };
}

const whole = (ms: number): number => Math.round(ms);

/** The events that a stream gets. Ids are public ones. */
export interface EventFilter {
  readonly namespaceId: number;
  readonly types?: ReadonlySet<EventType>;
  readonly jobId?: string;
  readonly runId?: string;
  readonly queue?: string;
}

export function passes(filter: EventFilter, { namespaceId, event }: PublicEvent): boolean {
  return (
    (namespaceId === null || namespaceId === filter.namespaceId) &&
    (filter.types === undefined || filter.types.has(event.type)) &&
    (filter.jobId === undefined || event.job_id === filter.jobId) &&
    (filter.runId === undefined || event.run_id === filter.runId) &&
    (filter.queue === undefined || event.queue === filter.queue)
  );
}

/** Reads `run.failed,job`: event types, or the first words of several types. */
export function readEventTypes(text: string): ReadonlySet<EventType> {
  const found = new Set<EventType>();
  for (const part of text.split(",")) {
    const word = part.trim();
    const matching = eventTypes.filter((type) => type === word || type.startsWith(`${word}.`));
    if (matching.length === 0) throw unknownType(word);
    for (const type of matching) found.add(type);
  }
  return found;
}

function unknownType(word: string): CarillonError {
  const detail = `${JSON.stringify(word)} is not an event type; the types are ${eventTypes.join(", ")}, and the groups run, job, queue, task, worker and node`;
  return new CarillonError("field_invalid", `?type: ${detail}`, {
    items: [{ pointer: "?type", code: "field_invalid", detail }],
  });
}
