import { type Instant, type RunError, type RunPolicy, type RunStatus, retryOf, shownLabels } from "@carillon/core";
import type { AttemptRecord, NewRun, RunProgress, StoredRun, TriggerKind } from "@carillon/store";

/** The cause of a run: its schedule, the creation of a one-off job, the end of another run, or a call. */
export interface RunTrigger {
  readonly kind: TriggerKind;
  /** Of the cause, if it has one. */
  readonly id: string | null;
  readonly scheduledFor: Instant;
  /** The runs whose ends started it, in the order of its job's `after`. */
  readonly upstreamIds?: readonly string[];
}

/** A run as callers see it, live or finished. Ids are canonical UUIDs; the wire adds the prefixes. */
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
  /** The deadline of its end; only of live runs. */
  readonly deadlineAt: Instant | null;
  readonly createdAt: Instant;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** The current or last try, from 1; 0 before the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly losses: number;
  readonly workerId: string | null;
  /** The latest report of its handler; null of a run that has ended. */
  readonly progress: RunProgress | null;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly output: unknown;
  readonly error: RunError | null;
  readonly attempts: readonly AttemptRecord[];
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
}

/**
 * The trigger of a run that the ends of other runs started: `after:` with the run that ended last and, if the job waits for several, all
 * of them in the order of its `after`, each behind a colon.
 */
export function afterTrigger(lastRunId: string, runIds: readonly string[]): string {
  return runIds.length > 1 ? ["after", lastRunId, ...runIds].join(":") : `after:${lastRunId}`;
}

/** The runs whose ends started a run with this trigger, in the order of `after`; none if it was started otherwise. */
export function upstreamIdsOf(trigger: string): readonly string[] {
  const [kind, last, ...all] = trigger.split(":");
  if (kind !== "after" || last === undefined) return [];
  return all.length > 0 ? all : [last];
}

/** The run that a run with this trigger retries or replays; null if it is neither. */
export function repeatedIdOf(trigger: string): string | null {
  const [kind, id] = trigger.split(":", 2);
  return kind === "retry" || kind === "replay" ? (id ?? null) : null;
}

/** A run as it was stored a moment ago: what a read would have shown then. */
export function newRunView(run: NewRun, stored: StoredRun): RunView {
  return {
    id: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    status: stored.state === "far_future" ? "scheduled" : stored.state,
    statusReason: null,
    trigger: { kind: "once", id: null, scheduledFor: run.nominal },
    runAt: run.runAt,
    deadlineAt: run.deadline ?? null,
    createdAt: stored.createdAt,
    startedAt: null,
    finishedAt: null,
    attempt: 0,
    maxAttempts: retryOf(run.policy).maxAttempts,
    losses: 0,
    workerId: null,
    progress: null,
    payload: run.payload ?? null,
    policy: run.policy,
    output: null,
    error: null,
    attempts: [],
    labels: shownLabels(run.labels),
    owner: run.owner,
  };
}
