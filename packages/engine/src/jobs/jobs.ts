import { CarillonError, type Instant, type JobSpec, type PreviewedFire } from "@carillon/core";
import type { JobStats, Store } from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import type { EngineContext } from "../context.js";
import type { UpstreamEnds } from "../dependencies/upstream-ends.js";
import type { CoalescedInserts } from "../enqueue/coalesced-inserts.js";
import { afterCommit } from "../after-commit.js";
import type { InsertWithReceipt } from "../enqueue/idempotency/insert-with-receipt.js";
import type { JobChange } from "../events.js";
import type { ChangeContext, JobRef, Page, PageRequest, Receipt, Total, TotalRequest } from "../requests.js";
import { searchByLabels } from "../runs/run-lister.js";
import type { RunReader, RunView } from "../runs/run-reader.js";
import type { DueRules } from "../schedules/due-rules.js";
import type { NamedCalendars } from "../schedules/schedule-calendars.js";
import { type ChangeTransaction, jobNotFound } from "./change/change-transaction.js";
import { JobCanceller } from "./change/job-canceller.js";
import { JobEditor } from "./change/job-editor.js";
import { JobPauser } from "./change/job-pauser.js";
import { RunNow } from "./change/run-now.js";
import { JobCreator } from "./job-creator.js";
import type { JobFilter, JobReader, JobView } from "./job-reader.js";
import { JobRecords } from "./job-records.js";
import type {
  CancelRequest,
  CreatedJob,
  JobVersionView,
  OccurrenceView,
  PauseRequest,
  Resumed,
  ResumeRequest,
  RunNowRequest,
} from "./job-requests.js";
import type { JobUnitOfWork } from "./transaction/job-unit-of-work.js";

export type JobsContext = Pick<
  EngineContext,
  "db" | "store" | "limits" | "newId" | "now" | "shardCount" | "wakeups" | "emit" | "inNamespace"
>;

export interface JobsDeps {
  readonly catalog: Pick<Catalog, "queues" | "rank">;
  readonly calendars: NamedCalendars;
  readonly rules: DueRules;
  readonly inserts: Pick<CoalescedInserts, "jobs" | "runs">;
  readonly insertWithReceipt: InsertWithReceipt;
  readonly transaction: ChangeTransaction;
  readonly unitOfWork: JobUnitOfWork;
  readonly upstreamEnds: UpstreamEnds;
  readonly reader: JobReader;
  readonly runs: RunReader;
}

/** The newest runs of a job that its statistics cover. */
const maxStatsRuns = 1_000;

/**
 * The jobs of a namespace. Every change is durable when it returns, and takes effect at once; the occurrences that are due are decided under the
 * old definition first. Changes throw not_found, precondition_failed, job_ended for a cancelled job, and job_busy when another transaction holds
 * the job for seconds.
 */
export class Jobs {
  readonly #context: JobsContext;
  readonly #store: Store;
  readonly #deps: JobsDeps;
  readonly #creator: JobCreator;
  readonly #editor: JobEditor;
  readonly #pauser: JobPauser;
  readonly #canceller: JobCanceller;
  readonly #runNow: RunNow;
  readonly #records: JobRecords;

  constructor(context: JobsContext, deps: JobsDeps) {
    this.#context = context;
    this.#store = context.store;
    this.#deps = deps;
    this.#creator = new JobCreator(context, deps);
    this.#editor = new JobEditor(context, { ...deps, creator: this.#creator });
    this.#pauser = new JobPauser(deps);
    this.#canceller = new JobCanceller(context, deps);
    this.#runNow = new RunNow(context, deps.transaction);
    this.#records = new JobRecords(context, deps);
  }

  /** Throws key_taken, schedule_in_past, cron_invalid and others. */
  create(namespace: string, spec: JobSpec, receipt?: Receipt): Promise<JobView> {
    return this.#context.inNamespace(namespace, async (id) => {
      await this.#store.searchPaths.declare(id, [spec]);
      const created = await this.#creator.create(id, spec, receipt);
      this.#changed(id, created.id, "created");
      return created.view ?? afterCommit(() => this.#view(id, created.id));
    });
  }

  /** As create for each spec, in their order, faster; a spec that is refused does not prevent the others. */
  createMany(namespace: string, specs: readonly JobSpec[], receipt?: Receipt): Promise<CreatedJob[]> {
    return this.#context.inNamespace(namespace, async (id) => {
      await this.#store.searchPaths.declare(id, specs);
      const created = await this.#creator.createMany(id, specs, receipt);
      for (const one of created) if ("id" in one) this.#changed(id, one.id, "created");
      return created;
    });
  }

  get(namespace: string, ref: JobRef): Promise<JobView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#deps.reader.find(id, ref));
  }

  list(namespace: string, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    return this.#context.inNamespace(namespace, async (id) =>
      this.#deps.reader.list(id, await searchByLabels(filter, id, this.#store.searchPaths), page),
    );
  }

  /** Ignores the status. */
  total(namespace: string, filter: Omit<JobFilter, "status">, request: TotalRequest): Promise<Total> {
    return this.#context.inNamespace(namespace, async (id) =>
      this.#deps.reader.total(id, await searchByLabels(filter, id, this.#store.searchPaths), request),
    );
  }

  /** The jobs that have these keys now, the newest first. */
  byKeys(namespace: string, keys: readonly string[]): Promise<readonly JobView[]> {
    return this.#context.inNamespace(namespace, (id) => this.#deps.reader.byKeys(id, keys));
  }

  /** `edit` is called with the job's row locked, at the database's time `now`, and must be pure. The key may not change. */
  edit(
    namespace: string,
    ref: JobRef,
    edit: (current: JobSpec, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<JobView> {
    return this.#context.inNamespace(namespace, async (id) => {
      const recorded = recordSpecs(edit);
      const jobId = await this.#editor.edit(id, ref, recorded.define, context);
      this.#changed(id, jobId, "updated");
      return afterCommit(async () => {
        await this.#store.searchPaths.declare(id, recorded.specs);
        return this.#view(id, jobId);
      });
    });
  }

  /** Edits the job that has the key, or creates it; `define` receives null when there is none. */
  upsert(
    namespace: string,
    key: string,
    define: (current: JobSpec | null, now: Instant) => JobSpec,
    context: ChangeContext,
  ): Promise<{ readonly job: JobView; readonly created: boolean }> {
    return this.#context.inNamespace(namespace, async (id) => {
      const recorded = recordSpecs(define);
      const { id: jobId, created } = await this.#editor.upsert(id, key, recorded.define, context);
      this.#changed(id, jobId, created ? "created" : "updated");
      return afterCommit(async () => {
        await this.#store.searchPaths.declare(id, recorded.specs);
        return { job: await this.#view(id, jobId), created };
      });
    });
  }

  /** The definition of that version becomes a new one. Throws version_unknown. */
  rollback(namespace: string, ref: JobRef, version: number, context: ChangeContext): Promise<JobView> {
    return this.#change(namespace, "updated", (id) => this.#editor.rollback(id, ref, version, context));
  }

  /** A paused job gets the new reason and end. */
  pause(namespace: string, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<JobView> {
    return this.#change(namespace, "paused", (id) => this.#pauser.pause(id, ref, request, context));
  }

  /** A job that is not paused stays as it is. */
  resume(namespace: string, ref: JobRef, request: ResumeRequest, context: ChangeContext): Promise<Resumed> {
    return this.#context.inNamespace(namespace, async (id) => {
      const { id: jobId, missed } = await this.#pauser.resume(id, ref, request, context);
      this.#changed(id, jobId, "resumed");
      return { job: await afterCommit(() => this.#view(id, jobId)), missed };
    });
  }

  /** How many occurrences a resume would decide about now; 0 when the job is not paused. */
  countMissed(namespace: string, ref: JobRef): Promise<number> {
    return this.#context.inNamespace(namespace, async (id) => {
      const job = await this.#records.find(id, ref);
      return "due" in job ? this.#pauser.countMissed(job) : 0;
    });
  }

  /** A cancelled job stays as it is. */
  cancel(namespace: string, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<JobView> {
    return this.#change(namespace, "cancelled", (id) => this.#canceller.cancel(id, ref, request, context));
  }

  /** Does not move the schedule. Throws overlap_refused, naming the live run. */
  runNow(namespace: string, ref: JobRef, request: RunNowRequest, context: ChangeContext): Promise<RunView> {
    return this.#context.inNamespace(namespace, async (id) => {
      const runId = await this.#runNow.run(id, ref, request, context);
      const run = await afterCommit(() => this.#deps.runs.find(id, runId));
      if (run === null) throw new Error(`run ${runId} was stored and cannot be found`);
      return run;
    });
  }

  /** Newest first, starting with the present one. `after` is a version. */
  versions(namespace: string, ref: JobRef, page: PageRequest): Promise<Page<JobVersionView>> {
    return this.#context.inNamespace(namespace, (id) => this.#records.versions(id, ref, page));
  }

  /** The ledger, newest first. `after` is a `next` of this list; anything else throws page_token_invalid. */
  occurrences(namespace: string, ref: JobRef, page: PageRequest): Promise<Page<OccurrenceView>> {
    return this.#context.inNamespace(namespace, (id) => this.#records.occurrences(id, ref, page));
  }

  /** The next occurrences, with those that calendars remove in between; none while the job is paused without an end. */
  upcoming(namespace: string, ref: JobRef, count: number): Promise<readonly PreviewedFire[]> {
    return this.#context.inNamespace(namespace, (id) => this.#records.upcoming(id, ref, count));
  }

  stats(namespace: string, ref: JobRef): Promise<JobStats> {
    return this.#context.inNamespace(namespace, async (id) => {
      const job = await this.#deps.reader.find(id, ref);
      if (job === null) throw new CarillonError("not_found", "There is no such job.");
      return this.#store.runChanges.jobStats(id, job.id, maxStatsRuns);
    });
  }

  #change(namespace: string, change: JobChange, work: (namespaceId: number) => Promise<string>): Promise<JobView> {
    return this.#context.inNamespace(namespace, async (id) => {
      const jobId = await work(id);
      this.#changed(id, jobId, change);
      return afterCommit(() => this.#view(id, jobId));
    });
  }

  #changed(namespaceId: number, jobId: string, change: JobChange): void {
    this.#context.emit({ type: `job.${change}`, namespaceId, jobId });
  }

  async #view(namespaceId: number, id: string): Promise<JobView> {
    const view = await this.#deps.reader.find(namespaceId, { id });
    if (view === null) throw jobNotFound({ id });
    return view;
  }
}

/** The spec of an edit is known only once the job is locked: its searchable paths are declared after the edit. */
function recordSpecs<Current>(define: (current: Current, now: Instant) => JobSpec) {
  const specs: JobSpec[] = [];
  return {
    specs,
    define: (current: Current, now: Instant): JobSpec => {
      const spec = define(current, now);
      specs.push(spec);
      return spec;
    },
  };
}
