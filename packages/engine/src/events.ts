import {
  type DurationMs,
  type EventData,
  type EventType,
  type LedgerReason,
  type RunEndEvent,
  runEndEvents,
  type RunError,
} from "@carillon/core";

/** An event of the list in core, with bare UUIDs. The namespace decides who gets it; null: an event of the cluster, for all namespaces. */
type NamespacedEvent = {
  [Type in EventType]: { readonly type: Type; readonly namespaceId: number | null } & EventData<Type>;
}[EventType];

/** Events for metrics, logs and tests. `GET /v1/events` does not send them; `app.on()` has them as events of its process. */
export type DiagnosticEvent =
  | { readonly type: "occurrence.missed"; readonly jobId: string; readonly count: number }
  | {
      readonly type: "occurrence.skipped";
      readonly jobId: string;
      readonly reason: Exclude<LedgerReason, "missed">;
      readonly count: number;
    }
  | {
      readonly type: "backfill.advanced";
      readonly backfillId: string;
      readonly jobId: string;
      readonly made: number;
      readonly passed: number;
      readonly skipped: number;
    }
  | {
      readonly type: "backfill.ended";
      readonly backfillId: string;
      readonly jobId: string;
      readonly state: "done" | "aborted";
      readonly reason: string | null;
    }
  | {
      readonly type: "scheduler.ticked";
      readonly durationMs: DurationMs;
      readonly fired: number;
      readonly promoted: number;
      readonly passed: number;
      readonly loaded: number;
    }
  /** Runs were moved from far_future_run into the hot table. */
  | { readonly type: "runs.promoted"; readonly count: number }
  /** Runs of lost workers were queued again. */
  | { readonly type: "runs.rescued"; readonly count: number }
  | { readonly type: "sessions.expired"; readonly count: number }
  | { readonly type: "shards.acquired"; readonly count: number }
  | { readonly type: "shards.lost"; readonly count: number }
  | { readonly type: "node.joined" | "node.left"; readonly nodeId: string; readonly name: string }
  | {
      /** This node declared another one dead. */
      readonly type: "node.lost";
      readonly nodeId: string;
      readonly name: string;
      readonly detection: "heartbeat_timeout" | "session_lock_freed" | "lease_expired";
    }
  | {
      /** This node's clock left the tolerance, or returned into it. */
      readonly type: "clock.skewed" | "clock.in_sync";
      readonly skewMs: DurationMs;
      readonly toleranceMs: DurationMs;
    }
  | {
      /** The host's clock minus the database's, and the uncertainty of that measurement. */
      readonly type: "clock.measured";
      readonly skewMs: DurationMs;
      readonly uncertaintyMs: DurationMs;
    }
  /** The database failed over, was restored or is a clone: all shard leases are void. */
  | { readonly type: "database.timeline_changed"; readonly timeline: string; readonly previous: string }
  /** The node cannot read the database's timeline, so it cannot detect such a change. */
  | { readonly type: "database.timeline_unknown"; readonly reason: unknown }
  /** A fence refused rows of a statement. */
  | { readonly type: "write.fenced"; readonly statement: string; readonly count: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown };

/** All events of the engine. Metrics and logs subscribe; tests wait for them. */
export type EngineEvent = NamespacedEvent | DiagnosticEvent;

/** How a caller changed a job. */
export type JobChange = "created" | "updated" | "paused" | "resumed" | "cancelled";

export type OnEngineEvent = (event: EngineEvent) => void;

export interface FailedRun {
  readonly namespaceId: number;
  readonly runId: string;
  readonly task: string;
  readonly error: RunError;
}

/** Where the engine emits its events. Components of the node subscribe by type, the node's owner to all of them. */
export class EngineEvents {
  readonly #onEvent: OnEngineEvent | undefined;
  readonly #listeners = new Map<EngineEvent["type"], ((event: never) => void)[]>();

  constructor(onEvent?: OnEngineEvent) {
    this.#onEvent = onEvent;
  }

  readonly emit = (event: EngineEvent): void => {
    const listeners = this.#listeners.get(event.type) as OnEngineEvent[] | undefined;
    if (listeners !== undefined) for (const listener of listeners) listener(event);
    this.#onEvent?.(event);
  };

  on<Type extends EngineEvent["type"]>(
    type: Type,
    listener: (event: Extract<EngineEvent, { readonly type: Type }>) => void,
  ): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  /** Calls the listener when a run has ended, with any status. */
  onRunEnd(listener: (event: Extract<EngineEvent, { readonly type: RunEndEvent }>) => void): void {
    for (const type of Object.values(runEndEvents)) this.on(type, listener);
  }
}
