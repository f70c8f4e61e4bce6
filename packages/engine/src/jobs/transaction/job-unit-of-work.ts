import { type DurationMs, firingPolicy, type Instant, type OverlapPolicy, priorityClasses } from "@carillon/core";
import type {
  EndedWaiting,
  JobTransactionReads,
  JobTransactionWrites,
  LedgerEntry,
  LiveRunOfJob,
  MadeJobRun,
  NewJobRun,
  Queryable,
  Queued,
  Store,
} from "@carillon/store";
import { rankByPriority, type RankRun } from "../../catalog/rank-run.js";
import type { EngineContext } from "../../context.js";
import type { OnEngineEvent } from "../../events.js";
import { announceEnded } from "../../runs/run-events.js";
import { endOf, usesCalendars } from "../../schedules/schedule-calendars.js";
import { JobDraft } from "./job-draft.js";

/** What a job transaction wrote. It is announced once the transaction has committed. */
export interface Applied {
  /** By run id. */
  readonly made: ReadonlyMap<string, MadeJobRun>;
  /** The runs that a worker may claim now. */
  readonly queued: readonly Queued[];
  /** Waiting runs that were ended. */
  readonly ended: readonly EndedWaiting[];
  /** Running runs that are requested to stop, with the session that holds them. */
  readonly stopped: readonly { id: string; sessionId: string }[];
  readonly entries: readonly LedgerEntry[];
  /** Occurrences that became runs. */
  readonly fires: readonly AppliedFire[];
}

export interface AppliedFire {
  readonly run: MadeJobRun;
  readonly of: { readonly namespaceId: number; readonly task: string; readonly queue: string };
  readonly nominal: Instant;
  readonly trigger: "schedule" | "after";
  /** The job's class of priority when it was fired. */
  readonly class: number;
  readonly misfireThresholdMs: DurationMs;
}

export interface JobUnitOfWorkOptions {
  readonly reads: JobTransactionReads;
  readonly writes: JobTransactionWrites;
  /** Runs the work in one transaction, again if the day's partition of history is missing. */
  readonly transaction: Store["historyTransaction"];
  readonly rank?: RankRun;
}

/** Reads locked jobs into drafts and writes the drafts back: a few statements for any number of jobs. */
export class JobUnitOfWork {
  readonly reads: JobTransactionReads;
  readonly writes: JobTransactionWrites;
  readonly transaction: Store["historyTransaction"];
  readonly #rank: RankRun;

  constructor({ reads, writes, transaction, rank = rankByPriority }: JobUnitOfWorkOptions) {
    this.reads = reads;
    this.writes = writes;
    this.transaction = transaction;
    this.#rank = rank;
  }

  /** Call with the jobs locked. The live runs of jobs that allow overlap are not read: there may be any number. */
  async open(tx: Queryable, jobIds: readonly string[], options: OpenOptions = {}): Promise<JobDraft[]> {
    if (jobIds.length === 0) return [];
    const jobs = await this.reads.read(tx, jobIds, { payload: options.payload ?? false });
    const idsOf = (which: (overlap: OverlapPolicy) => boolean): string[] =>
      jobs.filter((job) => which(job.due.overlap)).map((job) => job.id);
    const replacing = idsOf((overlap) => overlap === "cancel_running");
    const waiting = idsOf((overlap) => overlap !== "cancel_running" && overlap !== "allow");
    const live = byJob([...(await this.#live(tx, replacing, true)), ...(await this.#live(tx, waiting, false))]);
    return jobs.map((job) => new JobDraft(job, live.get(job.id) ?? [], this.#rank));
  }

  /** Reads the live runs of a job that allows overlap. `hold` locks them, for a change that ends them. */
  async readLive(tx: Queryable, draft: JobDraft, options: { hold: boolean }): Promise<void> {
    draft.setLive(await this.reads.live(tx, [draft.job.id], options));
  }

  /**
   * Reads the entries of the ledger that reach past now, for a change that may end the rule. Only a completed job whose schedule has not ended
   * yet has any: instants that calendars removed after its last occurrence.
   */
  async readAhead(tx: Queryable, drafts: readonly JobDraft[]): Promise<void> {
    const completed = drafts.filter(
      ({ job }) =>
        job.due.state === "completed" && usesCalendars(job.schedule) && (endOf(job.schedule) ?? -1) > job.now,
    );
    if (completed.length === 0) return;
    const entries = await this.reads.future(
      tx,
      completed.map(({ job: { id, now } }) => ({ jobId: id, after: now })),
    );
    for (const draft of completed) draft.setAhead(entries.filter((entry) => entry.jobId === draft.job.id));
  }

  /**
   * Writes runs before their ends: a run that is made and replaced in the same transaction is made first. `insert` is for runs that do not
   * take their definition from the job as it is now.
   */
  async write(tx: Queryable, drafts: readonly JobDraft[], insert?: InsertRuns): Promise<Applied> {
    const runs = drafts.flatMap((draft) => draft.runs);
    const made = new Map((await (insert ?? this.#insert)(tx, runs)).map((run) => [run.id, run]));
    for (const draft of drafts) noteDuplicates(draft, made);
    const ended = await this.writes.endRuns(
      tx,
      drafts.flatMap((draft) => draft.ends),
    );
    const stopped = await this.writes.stopRuns(
      tx,
      drafts.flatMap((draft) => draft.stops),
    );
    const untracked = await this.writes.untrackRuns(
      tx,
      drafts.flatMap((draft) => draft.untracked),
    );
    await this.writes.move(
      tx,
      drafts.map((draft) => ({ jobId: draft.job.id, expectedVersion: draft.job.due.version, due: draft.due })),
    );
    const entries = drafts.flatMap((draft) => draft.entries);
    const cuts = drafts.flatMap((draft) => draft.cuts);
    if (cuts.length > 0) await this.writes.cut(tx, cuts);
    await this.writes.note(tx, entries);
    const over = new Set(ended.map((run) => run.id));
    const queued = [...made.values()].filter((run) => run.state === "queued" && !over.has(run.id));
    const fires = drafts.flatMap((draft) => firesOf(draft, made));
    return { made, queued: [...queued, ...untracked], ended, stopped, entries, fires };
  }

  readonly #insert: InsertRuns = (tx, runs) => this.writes.insertRuns(tx, runs);

  #live(tx: Queryable, jobIds: readonly string[], hold: boolean): Promise<LiveRunOfJob[]> {
    return jobIds.length === 0 ? Promise.resolve([]) : this.reads.live(tx, jobIds, { hold });
  }
}

type InsertRuns = (tx: Queryable, runs: readonly NewJobRun[]) => Promise<MadeJobRun[]>;

export interface OpenOptions {
  readonly payload?: boolean;
}

/** An occurrence whose run exists already was fired before: the ledger records it. */
function noteDuplicates(draft: JobDraft, made: ReadonlyMap<string, MadeJobRun>): void {
  for (const { id, nominal } of draft.runs) {
    if (!made.has(id)) draft.note({ reason: "duplicate", from: nominal, to: nominal, count: 1 });
  }
}

function firesOf({ job, runs }: JobDraft, made: ReadonlyMap<string, MadeJobRun>): AppliedFire[] {
  const { misfireThresholdMs } = firingPolicy(job.firing);
  const of = { namespaceId: job.namespaceId, task: job.task, queue: job.queue };
  return runs.flatMap(({ id, nominal, trigger }) => {
    const run = made.get(id);
    const [kind] = trigger.split(":", 1);
    if (run === undefined || (kind !== "schedule" && kind !== "after")) return [];
    return [{ run, of, nominal, trigger: kind, class: job.due.class, misfireThresholdMs }];
  });
}

function byJob(runs: readonly LiveRunOfJob[]): Map<string, LiveRunOfJob[]> {
  const found = new Map<string, LiveRunOfJob[]>();
  for (const run of runs) {
    const known = found.get(run.jobId);
    if (known === undefined) found.set(run.jobId, [run]);
    else known.push(run);
  }
  return found;
}

/** What announcing a job transaction needs of the context. */
export type AnnounceContext = Pick<EngineContext, "emit"> & {
  readonly wakeups: Pick<EngineContext["wakeups"], "jobsChanged" | "runsQueued" | "broadcast">;
};

/** After the commit: emits the events and wakes the components. Jobs of these shards changed; `applied` null: no job transaction was written. */
export function announceApplied(
  { emit, wakeups }: AnnounceContext,
  shards: readonly number[],
  applied: Applied | null,
): void {
  if (applied !== null) emitApplied(applied, emit);
  wakeForApplied(wakeups, shards, applied);
}

/** Emits the events of the occurrences that a job transaction decided, the same as the scheduler emits for those that it fires. */
export function emitApplied(
  { fires, entries, ended }: Pick<Applied, "fires" | "entries" | "ended">,
  emit: OnEngineEvent,
): void {
  announceEnded(ended, "cancelled", emit);
  for (const { run, of, nominal, trigger, class: rank, misfireThresholdMs } of fires) {
    const lateMs = Math.max(0, run.createdAt - run.runAt);
    const priorityClass = priorityClasses[rank] ?? "normal";
    const fired = { ...of, runId: run.id, jobId: run.jobId, trigger, priorityClass, scheduledFor: nominal, lateMs };
    emit({ type: run.state === "blocked" ? "run.blocked" : "run.fired", ...fired });
    if (lateMs > misfireThresholdMs) emit({ type: "run.late", ...fired });
  }
  for (const { jobId, reason, count } of entries) {
    if (reason === "missed") emit({ type: "occurrence.missed", jobId, count });
    else emit({ type: "occurrence.skipped", jobId, reason, count });
  }
}

/** Wakes the schedulers of changed jobs, the gateways of queued runs and the sessions of runs that are to stop. */
export function wakeForApplied(
  wakeups: AnnounceContext["wakeups"],
  shards: readonly number[],
  applied: Pick<Applied, "queued" | "stopped"> | null,
): void {
  wakeups.jobsChanged(shards);
  if (applied === null) return;
  wakeups.runsQueued(applied.queued);
  if (applied.stopped.length > 0) wakeups.broadcast("stops");
}
