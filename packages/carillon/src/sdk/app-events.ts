import { CarillonError, eventTypes, type IdPrefix, type ListedEvent, shownId, unknownEventText } from "@carillon/core";
import type { DatabaseEvent, DiagnosticEvent, EngineEvent } from "@carillon/engine";
import type { WorkerEvent } from "@carillon/worker";

/** Events about this process alone: its engine's internals, its workers and its connections. A server writes them to its log. */
export type ProcessEvent = DiagnosticEvent | WorkerEvent | DatabaseEvent;

/** The events of an app with the engine inside: those that `GET /v1/events` sends, and those of this process. Ids have their prefixes. */
export type AppEvent = ListedEvent | ProcessEvent;

export type AppEventType = AppEvent["type"];

export type AppListener<Type extends AppEventType> = (event: Extract<AppEvent, { type: Type }>) => void;

/** An event as the engine, a worker or the database emits it. */
export type SourceEvent = EngineEvent | WorkerEvent | DatabaseEvent;

/** The compiler holds this list equal to the types, so that a name can be checked without loading the engine. */
const processEvents: Readonly<Record<ProcessEvent["type"], true>> = {
  "backfill.advanced": true,
  "backfill.ended": true,
  "clock.in_sync": true,
  "clock.measured": true,
  "clock.skewed": true,
  "clock.stepped": true,
  "connection.lost": true,
  "connection.opened": true,
  "database.down": true,
  "database.history_left": true,
  "database.server_replaced": true,
  "database.timeline_changed": true,
  "database.timeline_unknown": true,
  "database.up": true,
  "listen.started": true,
  "listen.unavailable": true,
  "loop.failed": true,
  "node.joined": true,
  "node.left": true,
  "node.lost": true,
  "notify.failed": true,
  "occurrence.missed": true,
  "occurrence.skipped": true,
  "run.attempt_failed": true,
  "run.ended_late": true,
  "run.result_refused": true,
  "run.signal_ignored": true,
  "runs.promoted": true,
  "runs.rescued": true,
  "scheduler.ticked": true,
  "sessions.expired": true,
  "shards.acquired": true,
  "shards.lost": true,
  "statement_names.off": true,
  "transaction.retried": true,
  "worker.disconnected": true,
  "worker.drain_requested": true,
  "worker.drained": true,
  "worker.session_lost": true,
  "worker.started": true,
  "worker.transport_failed": true,
  "write.fenced": true,
};

/** Every name that `app.on()` accepts. */
export const appEventTypes: readonly string[] = [...eventTypes, ...Object.keys(processEvents)];

/** Throws config_invalid for a name that is not an event. */
export function checkEventTypes<Type extends string>(types: Type | readonly Type[]): readonly Type[] {
  const wanted = typeof types === "string" ? [types] : types;
  const unknown = wanted.find((type) => !appEventTypes.includes(type));
  if (unknown !== undefined) throw new CarillonError("config_invalid", unknownEventText(unknown, appEventTypes));
  return wanted;
}

const prefixes: Readonly<Record<string, IdPrefix>> = {
  runId: "run",
  jobId: "job",
  nodeId: "node",
  fromNodeId: "node",
  workerId: "wrk",
  backfillId: "bkf",
};

/** The event with prefixed ids and without the namespace's internal number. */
export function shownEvent(event: SourceEvent): AppEvent {
  const { namespaceId: _, ...shown }: Record<string, unknown> = { ...event };
  for (const [name, prefix] of Object.entries(prefixes)) {
    const id = shown[name];
    if (typeof id === "string") shown[name] = shownId(prefix, id);
  }
  return shown as unknown as AppEvent;
}
