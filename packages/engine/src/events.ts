import type { DurationMs, Instant, LedgerReason, RunError } from "@carillon/core";

/** Names of the classes in which jobs are fired, in their order. */
export const classNames = ["high", "normal", "low"] as const;

/** What may happen to a job at somebody's wish. */
export type JobChange = "created" | "updated" | "paused" | "resumed" | "cancelled";

export type ClassName = (typeof classNames)[number];

/** Which run it is, so far as whoever filters events asks. */
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

/** What the engine has to say. Metrics and logs subscribe; tests wait for it. */
export type EngineEvent =
  | (FiredRun & { readonly type: "run.fired"; readonly trigger: "schedule" | "after" })
  /** It was made, and waits for other runs of its job. */
  | (FiredRun & { readonly type: "run.blocked"; readonly trigger: "schedule" | "after" })
  /** Later than the job's misfire threshold; told beside its fire. */
  | (FiredRun & { readonly type: "run.late" })
  /** It started, or ended, later than was promised of it. */
  | (OfRun & {
      readonly type: "run.sla_breached";
      readonly term: "start" | "finish";
      /** The end of what was promised, and how long after it. */
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
  /** It cannot be fired and is paused, so that the others are. */
  | { readonly type: "job.parked"; readonly jobId: string; readonly error: unknown }
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
       * run.snoozed: its handler asked to be called later, and nothing was spent. run.waiting: it goes on without a worker until its
       * callback comes, no longer than this.
       */
      readonly type: "run.retried" | "run.snoozed" | "run.waiting";
      readonly delayMs: DurationMs;
    })
  /** Its handler said how far it is. */
  | (OfRun & { readonly type: "run.progressed"; readonly fraction: number; readonly text: string | null })
  | {
      /** Somebody made a job, or changed it. */
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
  /** A worker registered with other defaults for runs of a task than those before. */
  | { readonly type: "task.defaults_changed"; readonly namespaceId: number; readonly task: string }
  | {
      /** Runs moved from far_future_run into the hot table. */
      readonly type: "runs.moved";
      readonly count: number;
    }
  | { readonly type: "run.rescued"; readonly count: number }
  | { readonly type: "session.expired"; readonly count: number }
  | {
      /** This node declared a worker dead, which had left so many runs. */
      readonly type: "session.lost";
      readonly namespaceId: number;
      readonly sessionId: string;
      readonly name: string;
      readonly runs: number;
    }
  | { readonly type: "shards.gained"; readonly count: number }
  | { readonly type: "shards.lost"; readonly count: number }
  | {
      /** Shards of a node that is gone; the duration runs from its last sign of life that this node saw. */
      readonly type: "shards.taken_over";
      /** Who has them now. */
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
      readonly by: "silence" | "freed_lock" | "expired_lease";
    }
  | {
      /** This node's clock left the tolerance, or came back into it. */
      readonly type: "node.skewed" | "node.in_time";
      readonly skewMs: DurationMs;
      readonly toleranceMs: DurationMs;
    }
  | {
      /** The host's clock minus the database's, and how far off that may be. */
      readonly type: "clock.measured";
      readonly skewMs: DurationMs;
      readonly uncertaintyMs: DurationMs;
    }
  | { readonly type: "leases.voided"; readonly lineage: string; readonly remembered: string }
  | { readonly type: "lineage.unknown"; readonly reason: unknown }
  | { readonly type: "write.refused"; readonly statement: string; readonly count: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown };

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
}
