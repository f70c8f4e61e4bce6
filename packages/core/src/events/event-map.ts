import type { RunStatusReason } from "../run/reason.js";
import type { FinalRunStatus } from "../run/status.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** A run, as events name it. */
interface OfRun {
  readonly namespace: string;
  readonly runId: string;
  readonly jobId: string | null;
  readonly queue: string;
  readonly task: string;
}

/** An occurrence, as events name it. */
interface OfOccurrence {
  readonly namespace: string;
  readonly jobId: string;
  readonly nominal: Instant;
}

/** What nodes tell about themselves. Metrics, logs and the event stream subscribe; tests assert on it. */
export interface EventMap {
  /** An occurrence became a run. */
  readonly "occurrence.fired": OfOccurrence & { readonly runId: string; readonly latenessMs: DurationMs };
  /** It was fired later than the misfire threshold. */
  readonly "occurrence.late": OfOccurrence & { readonly runId: string; readonly latenessMs: DurationMs };
  /** A policy kept it from becoming a run; the ledger has it. */
  readonly "occurrence.skipped": OfOccurrence & { readonly reason: string };
  /** Occurrences from one instant to another passed while nothing could fire; the ledger has them. */
  readonly "occurrence.missed": OfOccurrence & { readonly through: Instant; readonly count: number };

  readonly "run.queued": OfRun;
  readonly "run.started": OfRun & { readonly attempt: number; readonly fence: number; readonly workerId: string };
  readonly "run.retrying": OfRun & {
    readonly attempt: number;
    readonly retryAt: Instant;
    readonly reason: RunStatusReason;
  };
  readonly "run.finished": OfRun & {
    readonly status: FinalRunStatus;
    readonly reason: RunStatusReason | null;
    readonly attempt: number;
    readonly durationMs: DurationMs | null;
  };
  /** It was taken from a worker that vanished, and is queued again. */
  readonly "run.rescued": OfRun & { readonly workerId: string; readonly losses: number };

  readonly "shard.gained": { readonly shard: number; readonly epoch: number };
  readonly "shard.lost": { readonly shard: number; readonly epoch: number };
  /** A write under an old epoch or fence changed nothing, as it should. */
  readonly "write.fenced": {
    readonly what: "fire" | "complete" | "heartbeat" | "promote" | "lease";
    readonly count: number;
  };

  readonly "worker.joined": { readonly namespace: string; readonly workerId: string; readonly name: string };
  readonly "worker.left": { readonly namespace: string; readonly workerId: string; readonly lost: boolean };

  readonly "node.skewed": { readonly skewMs: DurationMs };
  /** A pass of a loop ended with an error; the loop goes on. */
  readonly "loop.failed": { readonly loop: string; readonly error: unknown };
}

export type EventName = keyof EventMap;
