import type { Event } from "@carillon/contract";
import {
  CarillonError,
  type EventField,
  eventGroups,
  eventList,
  type EventType,
  eventTypes,
  formatId,
  formatInstant,
  unknownEventText,
} from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { shownJobId } from "./webhook-delivery.js";

/** A public event, with the namespace that it is filtered by. */
export interface PublicEvent {
  /** Null: an event of the cluster, for streams of all namespaces. */
  readonly namespaceId: number | null;
  readonly event: Event;
}

interface WireField {
  /** The name of the field in the engine, and in snake case. */
  readonly name: string;
  readonly wireName: string;
  readonly form: EventField["form"];
}

/** By type, the fields that the list of events declares. Diagnostic events of the engine are not in it. */
const wireFields = new Map<string, readonly WireField[]>(
  eventTypes.map((type) => [
    type,
    Object.entries<EventField>(eventList[type].fields).map(([name, { form }]) => {
      const wireName = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      return { name, wireName, form };
    }),
  ]),
);

/** The public form of an engine event; null for diagnostic ones. */
export function toPublicEvent(event: EngineEvent, now: number): PublicEvent | null {
  const fields = wireFields.get(event.type);
  if (fields === undefined || !("namespaceId" in event)) return null;
  const values: Readonly<Record<string, unknown>> = { ...event };
  const shown: Record<string, unknown> = { type: event.type, at: formatInstant(now) };
  for (const { name, wireName, form } of fields) shown[wireName] = shownValue(form, values[name], values);
  return { namespaceId: event.namespaceId, event: shown as Event };
}

function shownValue(form: EventField["form"], value: unknown, { task }: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === "number") {
    if (form === "instant") return formatInstant(value);
    return form === "milliseconds" ? Math.round(value) : value;
  }
  if (typeof value !== "string" || form === "plain" || form === "instant" || form === "milliseconds") return value;
  return form === "job" ? shownJobId({ jobId: value, task: String(task) }) : formatId(form, value);
}

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

const eventNames = [...eventTypes, ...eventGroups];

/** Reads `run.failed,job`: event types and groups of them. */
export function readEventTypes(text: string): ReadonlySet<EventType> {
  const found = new Set<EventType>();
  for (const part of text.split(",")) {
    const name = part.trim();
    const matching = eventTypes.filter((type) => type === name || type.startsWith(`${name}.`));
    if (matching.length === 0) throw unknownType(name);
    for (const type of matching) found.add(type);
  }
  return found;
}

function unknownType(name: string): CarillonError {
  const detail = unknownEventText(name, eventNames);
  return new CarillonError("field_invalid", `?type: ${detail}`, {
    items: [{ pointer: "?type", code: "field_invalid", detail }],
  });
}
