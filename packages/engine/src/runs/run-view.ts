import type { Instant, RunError, RunPolicy, RunStatus } from "@carillon/core";
import type { TriggerKind, AttemptRecord, RunProgress } from "@carillon/store";

/** Who asked for a run: its schedule, the creation of a one-off job, the end of another run, or a call that names itself. */
/** Who asked for a run. */
export interface RunTrigger {
  readonly kind: TriggerKind;
  /** What asked for it, where that has an id. */
  readonly id: string | null;
  readonly scheduledFor: Instant;
  /** The runs whose ends started it, in the order of its job's `after`. */
  readonly upstreamIds?: readonly string[];
}

/** A run as readers see it, live or finished. Ids are canonical UUIDs; the wire adds the prefixes. */
export interface RunView {
  readonly id: string;
  /** Equal to `id` for a one-off job that is stored as its run alone. */
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  readonly status: RunStatus;
  readonly statusReason: string | null;
  readonly trigger: RunTrigger;
  /** When it may start: the nominal instant plus jitter, or the next try. */
  readonly runAt: Instant;
  /** When it is to have ended; only of live runs. */
  readonly deadlineAt: Instant | null;
  readonly createdAt: Instant;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** The current or last try, from 1; 0 before the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly losses: number;
  readonly workerId: string | null;
  /** What its handler said last; null of a run that has ended. */
  readonly progress: RunProgress | null;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly output: unknown;
  readonly error: RunError | null;
  readonly attempts: readonly AttemptRecord[];
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
}
