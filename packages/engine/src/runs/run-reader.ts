import {
  callbackSessionId,
  type Instant,
  isFinal,
  retryOf,
  type RunError,
  type RunPolicy,
  type RunStatus,
  shownLabels,
  timeOfUuid,
} from "@carillon/core";
import {
  type AttemptRecord,
  clockSlackMs,
  type NewRun,
  type RunProgress,
  type RunReads,
  type RunRow,
  type StoredRun,
  type TriggerKind,
} from "@carillon/store";

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
  /** Of its last claim; 0 before the first. */
  readonly fence: number;
  /** It is running, or it ended while it was. */
  readonly isClaimed: boolean;
  readonly workerId: string | null;
  /** The latest report of its handler; null of a run that has ended. */
  readonly progress: RunProgress | null;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly output: unknown;
  readonly error: RunError | null;
  /** The attempts that ended before the last one; `attemptsOf` adds that one. */
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
    fence: 0,
    isClaimed: false,
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

/**
 * Reads runs from all tables: live ones first, far-future ones included, then finished ones from history. `find` also finds a one-off run
 * that its job has yet to make, because the job was changed before its time.
 */
export class RunReader {
  readonly #reads: RunReads;

  constructor(reads: RunReads) {
    this.#reads = reads;
  }

  async find(namespaceId: number, id: string): Promise<RunView | null> {
    const found = (await this.findMany(namespaceId, [id])).get(id);
    if (found !== undefined) return found;
    const [toCome] = await this.#reads.toCome(namespaceId, [id]);
    if (toCome !== undefined) return toRunView(toCome, null);
    // Its job may have made it between the two reads.
    const live = await this.#reads.live(namespaceId, [id]);
    return (await this.views(live))[0] ?? null;
  }

  async findMany(namespaceId: number, ids: readonly string[]): Promise<Map<string, RunView>> {
    if (ids.length === 0) return new Map();
    const live = await this.#reads.live(namespaceId, ids);
    const found = new Map((await this.views(live)).map((run) => [run.id, run]));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) return found;
    // A run that ended between the two reads is in the second: runs never go back from history to the hot table.
    const notBefore = Math.min(...missing.map(timeOfUuid)) - clockSlackMs;
    const ended = await this.#reads.finished(namespaceId, missing, Math.max(0, notBefore));
    for (const row of ended) found.set(row.id, toRunView(row, null));
    return found;
  }

  /** Progress is read only for runs whose handler may have reported some. */
  async views(rows: readonly RunRow[]): Promise<RunView[]> {
    const started = rows.filter((row) => row.fence > 0 && !isFinal(row.status)).map((row) => row.id);
    const progress = started.length === 0 ? null : await this.#reads.progress(started);
    return rows.map((row) => toRunView(row, progress?.get(row.id) ?? null));
  }
}

const triggerKinds: ReadonlySet<string> = new Set([
  "schedule",
  "once",
  "run_now",
  "backfill",
  "retry",
  "replay",
  "after",
  "callback",
]);

/** A trigger is stored as its kind and, if its cause has one, an id behind a colon. */
function triggerOf(row: RunRow): RunView["trigger"] {
  const [kind = "", id = null] = row.trigger.split(":", 2);
  if (!triggerKinds.has(kind)) throw new Error(`run ${row.id} has the unknown trigger ${row.trigger}`);
  const upstreamIds = upstreamIdsOf(row.trigger);
  const after = upstreamIds.length > 0 ? { upstreamIds } : {};
  return { kind: kind as TriggerKind, id, scheduledFor: row.nominal_at, ...after };
}

export function toRunView(row: RunRow, progress: RunView["progress"]): RunView {
  return {
    id: row.id,
    jobId: row.job_id,
    task: row.task,
    queue: row.queue,
    priority: row.priority,
    status: row.status,
    statusReason: row.status_reason,
    trigger: triggerOf(row),
    runAt: row.run_at,
    deadlineAt: row.deadline_at,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    attempt: row.status === "running" ? row.attempt + 1 : row.attempt,
    maxAttempts: retryOf(row.policy ?? {}).maxAttempts,
    losses: row.losses,
    fence: row.fence,
    isClaimed: row.session_id !== null,
    workerId: row.session_id === callbackSessionId ? null : row.session_id,
    progress,
    payload: row.payload,
    policy: row.policy ?? {},
    output: row.output,
    error: row.error,
    attempts: row.attempts ?? [],
    labels: shownLabels(row.labels ?? {}),
    owner: row.owner,
  };
}
