import type { CompiledSchedule, JobSpec } from "@carillon/core";
import { type Follower, heardNothing } from "../../dependencies/follower.js";
import { calendarRuleOf } from "../../schedules/calendar-rule.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { Settled, SettlerStore } from "../transaction/settler.js";
import {
  type CalendarLinks,
  type JobChangeStore,
  type JobStore,
  type LaneStore,
  type LockedJob,
  namesIn,
  type Queryable,
  type UpstreamLinks,
  UpstreamUnknown,
} from "@carillon/store";
import type { QueueCache } from "../../catalog/queues.js";
import { laneNameOf } from "../../catalog/lane-name.js";
import type { Adoption, Adopter } from "./adopter.js";
import type { Change, Changed } from "./change.js";
import { clearer, ended, hasCode, notFound, otherVersion, outrun } from "./change-errors.js";
import { isSameSchedule, specOf } from "./definition.js";
import type { DueRules } from "../../schedules/due-rules.js";
import type { JobPatch } from "./job-patch.js";
import { settleDue } from "../transaction/settle-due.js";
import type { JobRef, ChangeContext } from "../../requests.js";

export interface ChangeTransactionOptions {
  readonly store: Pick<SettlerStore, "settle" | "settler"> & {
    readonly changes: Pick<JobChangeStore, "touch" | "keepVersion" | "redefine">;
    readonly jobs: Pick<JobStore, "idOfKey">;
    readonly calendarLinks: Pick<CalendarLinks, "pin" | "link" | "unlink" | "behindOf">;
    readonly upstreamLinks: Pick<UpstreamLinks, "relink" | "unlink" | "isWhole">;
  };
  readonly follower: Pick<Follower, "hear" | "write">;
  /** What was due by an older version of a calendar is settled by it, before anything else is done with the job. */
  readonly followCalendars: (jobIds: readonly string[]) => Promise<unknown>;
  readonly lanes: Pick<LaneStore, "known" | "ensure">;
  readonly queues: Pick<QueueCache, "isKnown" | "ensure" | "orderOf">;
  readonly rules: DueRules;
  readonly adopter: Pick<Adopter, "adopt">;
  /** How long a change waits for whoever holds the job. */
  readonly patienceMs: number;
  readonly onChanged: (changed: Changed<unknown>) => void;
}

const mostTries = 5;
/** Ends of upstream runs that a change settles; what is more than that is settled under the new definition. */
const mostEnds = 1_000;

/** Every change of a job is one transaction: lock, settle what is due, apply, write, and only then tell. */
export class ChangeTransaction {
  readonly #options: ChangeTransactionOptions;

  constructor(options: ChangeTransactionOptions) {
    this.#options = options;
  }

  /** Windows or calendars are not known as they are in the database. */
  get #readRules(): TryAgain {
    return new TryAgain(() => this.#options.rules.refresh());
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
        const changed = await this.#options.store.settle((tx) =>
          this.#once({ tx, namespaceId, jobId, ref, context }, change),
        );
        if (changed.settled !== null || changed.adopted) this.#options.onChanged(changed);
        return changed;
      } catch (error) {
        const again = await this.#again(error, { namespaceId, ref, jobId, isFirst: attempt === 1 });
        if (error instanceof TryAgain && attempt >= mostTries) throw outrun(ref);
        if (again === null || attempt >= mostTries) throw clearer(error, ref);
        await again.prepare();
      }
    }
  }

  /** What to do before the change is tried again; null: its failure is the answer. */
  async #again(error: unknown, { namespaceId, ref, jobId, isFirst }: Failed): Promise<TryAgain | null> {
    if (error instanceof TryAgain) return error;
    if (hasCode(error, "calendar_unknown")) return isFirst ? this.#readRules : null;
    if (error instanceof UpstreamUnknown && isFirst)
      return new TryAgain(() => this.adoptOneOffs(namespaceId, namesIn(error.schedule).ids));
    // The job was cancelled after its key was looked up: another one may have the key by now.
    const isOther = hasCode(error, "job_ended") && "key" in ref && (await this.idOf(namespaceId, ref)) !== jobId;
    return isOther ? new TryAgain(() => Promise.resolve()) : null;
  }

  /** One-off jobs that are their run alone become stored jobs, so that others can wait for them; other ids are left alone. */
  async adoptOneOffs(namespaceId: number, ids: readonly string[]): Promise<void> {
    const untouched: Change<void> = { settles: false, apply: () => ({ result: undefined, patch: null }) };
    for (const id of ids) {
      try {
        await this.run(namespaceId, { id }, { actor: null }, untouched);
      } catch (error) {
        if (!hasCode(error, "not_found") && !hasCode(error, "job_ended")) throw error;
      }
    }
  }

  /** Throws not_found for a key that no job has; an id is looked for under the lock. */
  async idOf(namespaceId: number, ref: JobRef): Promise<string> {
    if ("id" in ref) return ref.id;
    const id = await this.#options.store.jobs.idOfKey(namespaceId, ref.key);
    if (id === null) throw notFound(ref);
    return id;
  }

  /** The lane of a definition. Made outside the transaction, which is then tried again. */
  laneOf(namespaceId: number, spec: Pick<JobSpec, "queue" | "task" | "policy">): number {
    const { lanes, queues } = this.#options;
    const { queue } = spec;
    if (!queues.isKnown(namespaceId, queue)) throw new TryAgain(() => queues.ensure(namespaceId, [queue]));
    const name = laneNameOf(spec, queues.orderOf(namespaceId, queue));
    const known = lanes.known(name);
    if (known === null) throw new TryAgain(async () => void (await lanes.ensure([name])));
    return known;
  }

  async #once<Result>(asked: Asked, change: Change<Result>): Promise<Changed<Result>> {
    const { tx, jobId, ref, context } = asked;
    const { settler } = this.#options.store;
    await settler.reads.bePatient(tx, this.#options.patienceMs);
    const adopted = await this.#lock(asked);
    const [draft] = await settler.open(tx, [jobId], { payload: true });
    if (draft === undefined || draft.job.namespaceId !== asked.namespaceId) throw notFound(ref);
    const { job } = draft;
    if (job.endedAt !== null && change.takesEnded !== true) throw ended(ref);
    if (context.ifVersion !== undefined && context.ifVersion !== job.due.version) throw otherVersion(draft, context);
    const { rules } = this.#options;
    const settles = change.settles && draft.isDue;
    const followsCalendars = calendarRuleOf(job.schedule) !== null;
    if ((settles || followsCalendars) && job.windows !== rules.revision) throw this.#readRules;
    if (followsCalendars && (await this.#isBehind(tx, job))) {
      throw new TryAgain(async () => void (await this.#options.followCalendars([jobId])));
    }
    const schedule = this.#compile(draft);
    if (settles && schedule !== null) settleDue(draft, schedule, rules);
    const hears = change.settles && job.schedule.kind === "after";
    const heard = hears ? await this.#options.follower.hear(tx, [draft], mostEnds) : heardNothing;
    const { result, patch } = await change.apply({ tx, draft, schedule });
    if (patch !== null) await this.#options.follower.write(tx, heard);
    const settled = patch === null ? null : await this.#write(tx, draft, patch, context);
    return { jobId, shard: job.shard, result, settled, adopted };
  }

  /** Its next time was computed with an older version of a calendar. An ended one follows nothing any more. */
  async #isBehind(tx: Queryable, { id, endedAt }: LockedJob): Promise<boolean> {
    return endedAt === null && (await this.#options.store.calendarLinks.behindOf(tx, [id])).length > 0;
  }

  /** A one-off job that is its run alone becomes a stored job on the way; answers whether it did. */
  async #lock({ tx, namespaceId, jobId, ref }: Asked): Promise<boolean> {
    const { settler } = this.#options.store;
    const [locked] = await settler.reads.lock(tx, [jobId]);
    if (locked !== undefined) return false;
    const laneOf: Adoption["laneOf"] = (spec) => this.laneOf(namespaceId, spec);
    const run = await this.#options.adopter.adopt({ tx, namespaceId, jobId, laneOf });
    const [adopted] = await settler.reads.lock(tx, [jobId]);
    if (adopted === undefined) throw run?.status === "cancelled" ? ended(ref) : notFound(ref);
    return true;
  }

  #compile({ job }: JobDraft): CompiledSchedule | null {
    const { id: jobId, namespaceId, schedule } = job;
    try {
      return this.#options.rules.compile({ jobId, namespaceId, schedule });
    } catch {
      // Whatever is wrong with it: a job that cannot be fired can still be changed, and above all cancelled.
      return null;
    }
  }

  async #write(
    tx: Queryable,
    draft: JobDraft,
    patch: JobPatch | "runs_only",
    { actor }: ChangeContext,
  ): Promise<Settled> {
    const { settler, changes } = this.#options.store;
    if (patch === "runs_only") return settler.write(tx, [draft]);
    const { job } = draft;
    const expectedVersion = job.due.version;
    const version = expectedVersion + 1;
    draft.set({ version, ledgerFrom: null, ledgerReason: null });
    // Runs are made before the definition changes: they take theirs from the job.
    const settled = await settler.write(tx, [draft]);
    const { pause, endedAt, definition } = patch;
    await changes.touch(tx, [{ id: job.id, expectedVersion, version, pause, endedAt }]);
    if (endedAt !== null && job.schedule.kind === "after") await this.#options.store.upstreamLinks.unlink(tx, [job.id]);
    if (definition === undefined) return settled;
    const [validFrom, validTo] = [job.definedAt ?? job.createdAt, job.now];
    const replaced = { jobId: job.id, version: expectedVersion, spec: specOf(job), validFrom, validTo };
    await changes.keepVersion(tx, { ...replaced, replacedBy: actor });
    await changes.redefine(tx, { id: job.id, version, ...definition, definedAt: job.now });
    await this.#follow(tx, draft, definition.spec);
    await this.#followJobs(tx, draft, definition.spec);
    return settled;
  }

  /** From now on the job follows the calendars of its new schedule. */
  async #follow(tx: Queryable, { job }: JobDraft, { schedule }: JobSpec): Promise<void> {
    const { rules, store } = this.#options;
    const editions = rules.editionsOf(job.namespaceId, schedule);
    if (calendarRuleOf(job.schedule) !== null) await store.calendarLinks.unlink(tx, [job.id]);
    if (editions.length === 0) return;
    const pinned = await store.calendarLinks.pin(
      tx,
      editions.map((one) => one.id),
    );
    if (pinned.size < editions.length) throw this.#readRules;
    await store.calendarLinks.link(
      tx,
      editions.map((one) => ({ ...one, jobId: job.id, shard: job.shard })),
    );
  }

  /** A job that it names has ended meanwhile: the same definition, said again, may name another one. */
  async isDetached(tx: Queryable, { id, schedule }: LockedJob): Promise<boolean> {
    return schedule.kind === "after" && !(await this.#options.store.upstreamLinks.isWhole(tx, { id, schedule }));
  }

  /** From now on it waits for the jobs of its new schedule; what it was told of the old ones does not count. */
  async #followJobs(tx: Queryable, { job }: JobDraft, { schedule }: JobSpec): Promise<void> {
    const { upstreamLinks } = this.#options.store;
    const { id, namespaceId, shard } = job;
    if (isSameSchedule(job, { schedule }) && !(await this.isDetached(tx, job))) return;
    if (schedule.kind === "after") await upstreamLinks.relink(tx, { id, namespaceId, shard, schedule });
    else if (job.schedule.kind === "after") await upstreamLinks.unlink(tx, [id]);
  }
}

interface Asked {
  readonly tx: Queryable;
  readonly namespaceId: number;
  readonly jobId: string;
  readonly ref: JobRef;
  readonly context: ChangeContext;
}

interface Failed {
  readonly namespaceId: number;
  readonly ref: JobRef;
  readonly jobId: string;
  readonly isFirst: boolean;
}

/** The transaction needs something that is made outside it. */
class TryAgain extends Error {
  readonly prepare: () => Promise<void>;
  constructor(prepare: () => Promise<void>) {
    super("a change is to be tried again");
    this.prepare = prepare;
  }
}
