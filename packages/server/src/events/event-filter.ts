import { type EventType, eventTypes } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { Notice } from "./wire-event.js";

/** What a stream wants to hear of. Ids as the wire has them. */
export interface EventFilter {
  readonly namespaceId: number;
  readonly types?: ReadonlySet<EventType>;
  readonly jobId?: string;
  readonly runId?: string;
  readonly queue?: string;
}

export function passes(filter: EventFilter, { namespaceId, event }: Notice): boolean {
  return (
    (namespaceId === null || namespaceId === filter.namespaceId) &&
    (filter.types === undefined || filter.types.has(event.type)) &&
    (filter.jobId === undefined || event.job_id === filter.jobId) &&
    (filter.runId === undefined || event.run_id === filter.runId) &&
    (filter.queue === undefined || event.queue === filter.queue)
  );
}

/** Reads `run.failed,job`: kinds, or the first word of several. */
export function readEventTypes(text: string): ReadonlySet<EventType> {
  const found = new Set<EventType>();
  for (const part of text.split(",")) {
    const word = part.trim();
    const meant = eventTypes.filter((type) => type === word || type.startsWith(`${word}.`));
    if (meant.length === 0) throw unknown(word);
    for (const type of meant) found.add(type);
  }
  return found;
}

function unknown(word: string): CarillonError {
  const detail = `there are no events ${JSON.stringify(word)}; there are run, job, queue, task, worker, node and ${eventTypes.join(", ")}`;
  return new CarillonError("field_invalid", `?type: ${detail}`, {
    items: [{ pointer: "?type", code: "field_invalid", detail }],
  });
}
