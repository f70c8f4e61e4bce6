import { CarillonError, type CompiledSchedule, formatId, type Instant, type JobSpec, timeOfUuid } from "@carillon/core";
import {
  type CalendarLinks,
  clockSlackMs,
  type JobChangeStore,
  type JobStore,
  type LaneStore,
  type LockedJob,
  namesIn,
  type Queryable,
  type RunReads,
  sqlStateOf,
  type StoredPause,
  type UpstreamLinks,
  UpstreamUnknown,
} from "@carillon/store";
import type { CalendarSweep } from "../../calendars/calendar-sweep.js";
import { laneNameOf } from "../../catalog/lanes.js";
import type { QueueCache } from "../../catalog/queues.js";
import { priorityClass } from "../../catalog/rank-run.js";
import { shardOf } from "../../cluster/shards.js";
import type { EngineContext } from "../../context.js";
import { noEnds, type UpstreamEnds } from "../../dependencies/upstream-ends.js";
import type { ChangeContext, JobRef } from "../../requests.js";
import { RunReader, type RunView } from "../../runs/run-reader.js";
import type { DueRules } from "../../schedules/due-rules.js";
import { usesCalendars } from "../../schedules/schedule-calendars.js";
import { isSameSchedule, specOf } from "../job-definition.js";
import type { JobDraft } from "../transaction/job-draft.js";
import {
  announceApplied,
  type AnnounceContext,
  type Applied,
  type JobUnitOfWork,
} from "../transaction/job-unit-of-work.js";
import { processDue } from "../transaction/process-due.js";

/** A job during its change: locked and read, with its due occurrences decided in the draft. */
export interface ChangeSubject {
  readonly tx: Queryable;
  readonly draft: JobDraft;
  /** The rule in force; null if it can no longer be compiled. */
  readonly schedule: CompiledSchedule | null;
}

/** One kind of change. `apply` may be called several times: a transaction may be repeated. */
export interface Change<Result> {
  /** Due occurrences are decided first. */
  readonly processesDue: boolean;
  /** `apply` is called for a cancelled job too. */
  readonly acceptsEnded?: boolean;
  apply(subject: ChangeSubject): Promise<ChangeResult<Result>> | ChangeResult<Result>;
}

export interface ChangeResult<Result> {
  readonly result: Result;
  /** null: nothing is written, neither the job nor its due occurrences. */
  readonly patch: JobPatch | "runs_only" | null;
}

/** How a change alters the stored job; the draft has the new due state. */
export interface JobPatch {
  readonly pause: StoredPause | null;
  readonly endedAt: Instant | null;
  /** Set when the definition is replaced. */
  readonly definition?: { readonly spec: JobSpec; readonly lane: number };
}

export interface Changed<Result> {
  readonly jobId: string;
  readonly shard: number;
  readonly result: Result;
  /** null: the job stays as it was. */
  readonly applied: Applied | null;
  /** A one-off job that was stored as its run alone became a stored job. */
  readonly adopted: boolean;
}

export type ChangeTransactionContext = AnnounceContext & {
  readonly shardCount: number;
  readonly limits: Pick<EngineContext["limits"], "changeLockTimeoutMs">;
  readonly store: {
    readonly changes: Pick<
      JobChangeStore,
      "touch" | "keepVersion" | "redefine" | "holdRun" | "adoptLive" | "adoptEnded"
    >;
    readonly jobs: Pick<JobStore, "idOfKey">;
    readonly lanes: Pick<LaneStore, "known" | "ensure">;
    readonly readsOver: (tx: Queryable) => RunReads;
    readonly calendarLinks: Pick<CalendarLinks, "pin" | "link" | "unlink" | "behindOf">;
    readonly upstreamLinks: Pick<UpstreamLinks, "relink" | "unlink" | "isWhole">;
  };
};

export interface ChangeTransactionDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly upstreamEnds: Pick<UpstreamEnds, "process" | "write">;
  /** A job that has not followed a new version of a calendar follows it first: its due occurrences are decided by the old version. */
  readonly calendarSweep: Pick<CalendarSweep, "follow">;
  readonly queues: Pick<QueueCache, "isKnown" | "ensure" | "orderOf">;
  readonly rules: DueRules;
}

const maxTries = 5;
/** Upstream ends that a change processes before it applies; the others are processed under the new definition. */
const maxEnds = 1_000;

/** Every change of a job is one transaction: lock, decide due occurrences, apply, write; announced after the commit. */
export class ChangeTransaction {
  readonly #context: ChangeTransactionContext;
  readonly #deps: ChangeTransactionDeps;

  constructor(context: ChangeTransactionContext, deps: ChangeTransactionDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async run<Result>(
    namespaceId: number,
    ref: JobRef,
    context: ChangeContext,
    change: Change<Result>,
  ): Promise<Changed<Result>> {
    for (let attempt = 1; ; attempt += 1) {
      const jobId = await this.idOf(namespaceId, ref);
      try {
        const request = { namespaceId, jobId, ref, context };
        const changed = await this.#deps.unitOfWork.transaction((tx) => this.#once({ ...request, tx }, change));
        const { shard, applied, adopted } = changed;
        if (applied !== null || adopted) announceApplied(this.#context, [shard], applied);
        return changed;
      } catch (error) {
        const retry = await this.#retryAfter(error, { namespaceId, ref, jobId, isFirst: attempt === 1 });
        if (error instanceof RetryAfter && attempt >= maxTries) throw rulesChangeTooFast(ref);
        if (retry === null || attempt >= maxTries) throw toChangeError(error, ref);
        await retry.prepare();
      }
    }
  }

  /** One-off jobs that are stored as their run alone become stored jobs, so that others can wait for them; other ids are ignored. */
  async adoptOneOffs(namespaceId: number, ids: readonly string[]): Promise<void> {
    const noChange: Change<void> = { processesDue: false, apply: () => ({ result: undefined, patch: null }) };
    for (const id of ids) {
      try {
        await this.run(namespaceId, { id }, { actor: null }, noChange);
      } catch (error) {
        if (!hasCode(error, "not_found") && !hasCode(error, "job_ended")) throw error;
      }
    }
  }

  /** Throws not_found for a key that no job has; an id is checked under the lock. */
  async idOf(namespaceId: number, ref: JobRef): Promise<string> {
    if ("id" in ref) return ref.id;
    const id = await this.#context.store.jobs.idOfKey(namespaceId, ref.key);
    if (id === null) throw jobNotFound(ref);
    return id;
  }

  /** The lane of a definition. An unknown one is made outside the transaction, which is then tried again. */
  laneOf(namespaceId: number, spec: Pick<JobSpec, "queue" | "task" | "policy">): number {
    const { lanes } = this.#context.store;
    const { queues } = this.#deps;
    const { queue } = spec;
    if (!queues.isKnown(namespaceId, queue)) throw new RetryAfter(() => queues.ensure(namespaceId, [queue]));
    const name = laneNameOf(spec, queues.orderOf(namespaceId, queue));
    const known = lanes.known(name);
    if (known === null) throw new RetryAfter(async () => void (await lanes.ensure([name])));
    return known;
  }

  /** Whether an upstream job that the schedule names was cancelled with `detach`: the same definition, given again, may name another one. */
  async isDetached(tx: Queryable, { id, schedule }: LockedJob): Promise<boolean> {
    return schedule.kind === "after" && !(await this.#context.store.upstreamLinks.isWhole(tx, { id, schedule }));
  }

  /** What to do before the change is tried again; null: the error is the caller's. */
  async #retryAfter(error: unknown, { namespaceId, ref, jobId, isFirst }: FailedTry): Promise<RetryAfter | null> {
    if (error instanceof RetryAfter) return error;
    if (hasCode(error, "calendar_unknown")) return isFirst ? this.#rulesRefreshed() : null;
    if (error instanceof UpstreamUnknown && isFirst)
      return new RetryAfter(() => this.adoptOneOffs(namespaceId, namesIn(error.schedule).ids));
    // The job was cancelled after its key was read: another job may have the key by now.
    const isOther = hasCode(error, "job_ended") && "key" in ref && (await this.idOf(namespaceId, ref)) !== jobId;
    return isOther ? new RetryAfter(() => Promise.resolve()) : null;
  }

  /** The windows or calendars that this node knows are not the database's newest. */
  #rulesRefreshed(): RetryAfter {
    return new RetryAfter(() => this.#deps.rules.refresh());
  }

  async #once<Result>(request: LockRequest, change: Change<Result>): Promise<Changed<Result>> {
    const { tx, jobId, ref, context } = request;
    const { unitOfWork, upstreamEnds, calendarSweep, rules } = this.#deps;
    await unitOfWork.reads.setLockTimeout(tx, this.#context.limits.changeLockTimeoutMs);
    const adopted = await this.#lock(request);
    const [draft] = await unitOfWork.open(tx, [jobId], { payload: true });
    if (draft === undefined || draft.job.namespaceId !== request.namespaceId) throw jobNotFound(ref);
    const { job } = draft;
    if (job.endedAt !== null && change.acceptsEnded !== true) throw jobEnded(ref);
    if (context.ifVersion !== undefined && context.ifVersion !== job.due.version) throw versionMismatch(draft, context);
    const processesDue = change.processesDue && draft.isDue;
    const followsCalendars = usesCalendars(job.schedule);
    if ((processesDue || followsCalendars) && job.windows !== rules.revision) throw this.#rulesRefreshed();
    if (followsCalendars && (await this.#isBehind(tx, job)))
      throw new RetryAfter(async () => void (await calendarSweep.follow([jobId])));
    const schedule = this.#compile(draft);
    if (followsCalendars) await unitOfWork.readAhead(tx, [draft]);
    if (processesDue && schedule !== null) processDue(draft, schedule, rules);
    const hasUpstream = change.processesDue && job.schedule.kind === "after";
    const processed = hasUpstream ? await upstreamEnds.process(tx, [draft], maxEnds) : noEnds;
    const { result, patch } = await change.apply({ tx, draft, schedule });
    if (patch !== null) await upstreamEnds.write(tx, processed);
    const applied = patch === null ? null : await this.#write(tx, draft, patch, context);
    return { jobId, shard: job.shard, result, applied, adopted };
  }

  /** Whether the job's next time was computed with an older version of a calendar. An ended job follows no calendar. */
  async #isBehind(tx: Queryable, { id, endedAt }: LockedJob): Promise<boolean> {
    return endedAt === null && (await this.#context.store.calendarLinks.behindOf(tx, [id])).length > 0;
  }

  /** A one-off job that is stored as its run alone becomes a stored job first; returns whether it did. */
  async #lock({ tx, namespaceId, jobId, ref }: LockRequest): Promise<boolean> {
    const { reads } = this.#deps.unitOfWork;
    const [locked] = await reads.lock(tx, [jobId]);
    if (locked !== undefined) return false;
    const run = await this.#adopt({ tx, namespaceId, jobId });
    const [adopted] = await reads.lock(tx, [jobId]);
    if (adopted === undefined) throw run?.status === "cancelled" ? jobEnded(ref) : jobNotFound(ref);
    return true;
  }

  /**
   * Makes a stored job of a one-off job that is stored as its run alone; its id stays. Afterwards the stored job exists, made here or by
   * another transaction, unless there is no such one-off job or it was cancelled. Returns the run as it was found; the job is not locked yet.
   */
  async #adopt({
    tx,
    namespaceId,
    jobId: id,
  }: Pick<LockRequest, "tx" | "namespaceId" | "jobId">): Promise<RunView | null> {
    const { store, shardCount } = this.#context;
    const run = await new RunReader(store.readsOver(tx)).find(namespaceId, id);
    if (run === null || run.jobId !== id) return null;
    const urgency = priorityClass(run.priority);
    if ((await store.changes.holdRun(tx, namespaceId, id)) !== null) {
      await store.changes.adoptLive(tx, id, urgency);
      return run;
    }
    const notBefore = Math.max(0, timeOfUuid(id) - clockSlackMs);
    const place = { lane: this.laneOf(namespaceId, run), shard: shardOf(id, shardCount) };
    await store.changes.adoptEnded(tx, { id, notBefore, class: urgency, ...place });
    return run;
  }

  #compile({ job }: JobDraft): CompiledSchedule | null {
    const { id: jobId, namespaceId, schedule } = job;
    try {
      return this.#deps.rules.compile({ jobId, namespaceId, schedule });
    } catch {
      // A job that cannot be fired can still be changed, and above all cancelled.
      return null;
    }
  }

  async #write(
    tx: Queryable,
    draft: JobDraft,
    patch: JobPatch | "runs_only",
    { actor }: ChangeContext,
  ): Promise<Applied> {
    const { unitOfWork } = this.#deps;
    const { changes, upstreamLinks } = this.#context.store;
    if (patch === "runs_only") return unitOfWork.write(tx, [draft]);
    const { job } = draft;
    const expectedVersion = job.due.version;
    const version = expectedVersion + 1;
    draft.set({ version, ledgerFrom: null, ledgerReason: null });
    // Runs are made before the definition changes: they take theirs from the job.
    const applied = await unitOfWork.write(tx, [draft]);
    const { pause, endedAt, definition } = patch;
    await changes.touch(tx, [{ id: job.id, expectedVersion, version, pause, endedAt }]);
    if (endedAt !== null && job.schedule.kind === "after") await upstreamLinks.unlink(tx, [job.id]);
    if (definition === undefined) return applied;
    const [validFrom, validTo] = [job.definedAt ?? job.createdAt, job.now];
    const replaced = { jobId: job.id, version: expectedVersion, spec: specOf(job), validFrom, validTo };
    await changes.keepVersion(tx, { ...replaced, replacedBy: actor });
    await changes.redefine(tx, { id: job.id, version, ...definition, definedAt: job.now });
    await this.#linkCalendars(tx, draft, definition.spec);
    await this.#linkUpstreams(tx, draft, definition.spec);
    return applied;
  }

  /** From now on the job follows the calendars of its new schedule. */
  async #linkCalendars(tx: Queryable, { job }: JobDraft, { schedule }: JobSpec): Promise<void> {
    const { calendarLinks } = this.#context.store;
    const editions = this.#deps.rules.editionsOf(job.namespaceId, schedule);
    if (usesCalendars(job.schedule)) await calendarLinks.unlink(tx, [job.id]);
    if (editions.length === 0) return;
    const pinned = await calendarLinks.pin(
      tx,
      editions.map((one) => one.id),
    );
    if (pinned.size < editions.length) throw this.#rulesRefreshed();
    await calendarLinks.link(
      tx,
      editions.map((one) => ({ ...one, jobId: job.id, shard: job.shard })),
    );
  }

  /** From now on the job waits for the upstream jobs of its new schedule; ends of the old ones do not count. */
  async #linkUpstreams(tx: Queryable, { job }: JobDraft, { schedule }: JobSpec): Promise<void> {
    const { upstreamLinks } = this.#context.store;
    const { id, namespaceId, shard } = job;
    if (isSameSchedule(job, { schedule }) && !(await this.isDetached(tx, job))) return;
    if (schedule.kind === "after") await upstreamLinks.relink(tx, { id, namespaceId, shard, schedule });
    else if (job.schedule.kind === "after") await upstreamLinks.unlink(tx, [id]);
  }
}

interface LockRequest {
  readonly tx: Queryable;
  readonly namespaceId: number;
  readonly jobId: string;
  readonly ref: JobRef;
  readonly context: ChangeContext;
}

interface FailedTry {
  readonly namespaceId: number;
  readonly ref: JobRef;
  readonly jobId: string;
  readonly isFirst: boolean;
}

/** The transaction needs a step that runs outside it; then the change is tried again. */
class RetryAfter extends Error {
  readonly prepare: () => Promise<void>;
  constructor(prepare: () => Promise<void>) {
    super("a change is to be tried again");
    this.prepare = prepare;
  }
}

const lockNotAvailable = "55P03";

export function hasCode(error: unknown, code: CarillonError["code"]): boolean {
  return error instanceof CarillonError && error.code === code;
}

export function jobNotFound(ref: JobRef): CarillonError {
  return new CarillonError("not_found", `There is no job ${nameOf(ref)}.`);
}

export function jobEnded(ref: JobRef): CarillonError {
  return new CarillonError("job_ended", `The job ${nameOf(ref)} is cancelled: create another job.`);
}

function versionMismatch({ job }: JobDraft, { ifVersion }: ChangeContext): CarillonError {
  const detail = `The job has version ${job.due.version}, not ${ifVersion}: read it again.`;
  return new CarillonError("precondition_failed", detail);
}

/** A lock timeout becomes job_busy; any other error stays as it is. */
function toChangeError(error: unknown, ref: JobRef): unknown {
  if (sqlStateOf(error) !== lockNotAvailable) return error;
  const detail = `Another transaction holds the job ${nameOf(ref)} for longer than a change waits; nothing was changed.`;
  return new CarillonError("job_busy", detail, { cause: error });
}

function rulesChangeTooFast(ref: JobRef): CarillonError {
  const detail = `The calendars or maintenance windows of the job ${nameOf(ref)} change faster than this node can read them; nothing was changed.`;
  return new CarillonError("job_busy", detail);
}

function nameOf(ref: JobRef): string {
  return "id" in ref ? formatId("job", ref.id) : JSON.stringify(ref.key);
}
