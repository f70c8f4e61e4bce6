import type { DurationMs, Instant, LedgerReason, RunError } from "@carillon/core";

/** The priority classes, in the order in which their jobs are fired. */
export const classNames = ["high", "normal", "low"] as const;

/** How a caller changed a job. */
export type JobChange = "created" | "updated" | "paused" | "resumed" | "cancelled";

export type ClassName = (typeof classNames)[number];

/** The run of an event, with the fields by which subscribers filter. */
interface OfRun {
  readonly namespaceId: number;
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
}

/** An occurrence that became a run. */
interface FiredRun extends OfRun {
  readonly jobId: string;
  readonly nominal: Instant;
  readonly class: ClassName;
  readonly lateMs: DurationMs;
}

/** Every event of the engine. Metrics and logs subscribe to them; tests wait for them. */
export type EngineEvent =
  | (FiredRun & { readonly type: "run.fired"; readonly trigger: "schedule" | "after" })
  /** The run was created and waits for other runs of its job. */
  | (FiredRun & { readonly type: "run.blocked"; readonly trigger: "schedule" | "after" })
  /** The run was fired later than the job's misfire threshold; emitted after run.fired or run.blocked. */
  | (FiredRun & { readonly type: "run.late" })
  /** The run started or ended later than its SLA allows. */
  | (OfRun & {
      readonly type: "run.sla_breached";
      readonly term: "start" | "finish";
      /** The time that the SLA allowed; `lateMs` counts from it. */
      readonly by: Instant;
      readonly lateMs: DurationMs;
    })
  | { readonly type: "occurrence.missed"; readonly jobId: string; readonly count: number }
  | {
      readonly type: "occurrence.skipped";
      readonly jobId: string;
      readonly reason: Exclude<LedgerReason, "missed">;
      readonly count: number;
    }
  /** The job cannot be fired. It is paused so that the others can be. */
  | { readonly type: "job.quarantined"; readonly jobId: string; readonly error: unknown }
  | {
      readonly type: "backfill.stepped";
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
  | (OfRun & { readonly type: "run.claimed"; readonly waitedMs: DurationMs })
  | (OfRun & {
      readonly type: "run.finished";
      readonly status: "succeeded" | "failed" | "cancelled";
      readonly durationMs: DurationMs;
    })
  | (OfRun & {
      /**
       * run.snoozed: the handler asked to be called later; no attempt was spent. run.waiting: the run waits without a worker for its
       * callback, at most for `delayMs`.
       */
      readonly type: "run.retried" | "run.snoozed" | "run.waiting";
      readonly delayMs: DurationMs;
    })
  /** The handler reported progress. */
  | (OfRun & { readonly type: "run.progressed"; readonly fraction: number; readonly text: string | null })
  | {
      /** A caller created or changed a job. */
      readonly type: "job.changed";
      readonly namespaceId: number;
      readonly jobId: string;
      readonly change: JobChange;
    }
  | {
      readonly type: "queue.changed";
      readonly namespaceId: number;
      readonly queue: string;
      readonly change: "updated" | "paused" | "resumed";
    }
  /** A worker registered new default options for runs of a task. */
  | { readonly type: "task.defaults_changed"; readonly namespaceId: number; readonly task: string }
  | {
      /** Runs moved from far_future_run into the hot table. */
      readonly type: "runs.moved";
      readonly count: number;
    }
  | { readonly type: "run.rescued"; readonly count: number }
  | { readonly type: "session.expired"; readonly count: number }
  | {
      /** This node declared a worker dead that had `runs` runs. */
      readonly type: "session.lost";
      readonly namespaceId: number;
      readonly sessionId: string;
      readonly name: string;
      readonly runs: number;
    }
  | { readonly type: "shards.gained"; readonly count: number }
  | { readonly type: "shards.lost"; readonly count: number }
  | {
      /** A node took over the shards of a dead node. The duration counts from the dead node's last heartbeat that this node observed. */
      readonly type: "shards.taken_over";
      /** The new owner. */
      readonly nodeId: string;
      readonly from: string;
      readonly count: number;
      readonly durationMs: DurationMs | null;
    }
  | { readonly type: "node.joined" | "node.left"; readonly nodeId: string; readonly name: string }
  | {
      /** This node declared another dead. */
      readonly type: "node.dead";
      readonly nodeId: string;
      readonly name: string;
      readonly by: "heartbeat_timeout" | "freed_lock" | "expired_lease";
    }
  | {
      /** This node's clock left the tolerance, or is within it again. */
      readonly type: "node.skewed" | "node.in_time";
      readonly skewMs: DurationMs;
      readonly toleranceMs: DurationMs;
    }
  | {
      /** The host's clock minus the database's, and the error of that estimate. */
      readonly type: "clock.measured";
      readonly skewMs: DurationMs;
      readonly uncertaintyMs: DurationMs;
    }
  | { readonly type: "leases.voided"; readonly timeline: string; readonly remembered: string }
  | { readonly type: "timeline.unknown"; readonly reason: unknown }
  | { readonly type: "write.refused"; readonly statement: string; readonly count: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown };

export type OnEngineEvent = (event: EngineEvent) => void;

export interface FailedRun {
  readonly namespaceId: number;
  readonly runId: string;
  readonly task: string;
  readonly error: RunError;
}

/** Distributes the engine's events. Components subscribe by type; `onEvent` receives all events. */
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
}
