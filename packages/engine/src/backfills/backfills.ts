import {
  CarillonError,
  errorCatalogue,
  formatInstant,
  type Instant,
  type JobState,
  type ScheduleSpec,
} from "@carillon/core";
import type { BackfillRequest, BackfillView } from "@carillon/store";
import type { CalendarCompiler } from "../calendars/calendar-cache.js";
import type { QueueCache } from "../catalog/queues.js";
import type { EngineContext } from "../context.js";
import { type ChangeTransaction, jobEnded, jobNotFound } from "../jobs/change/change-transaction.js";
import type { JobReader } from "../jobs/job-reader.js";
import type { JobUnitOfWork } from "../jobs/transaction/job-unit-of-work.js";
import { type ChangeContext, type JobRef, type Page, type PageRequest, toPage } from "../requests.js";
import { BackfillRunner } from "./backfill-runner.js";
import { BackfillStepper } from "./backfill-stepper.js";
import { PastRules, type RuledJob } from "./past-rules.js";

export interface BackfillsDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly queues: Pick<QueueCache, "ensure" | "isKnown" | "orderOf">;
  readonly compiler: CalendarCompiler;
  readonly transaction: ChangeTransaction;
  readonly jobs: Pick<JobReader, "find">;
}

/** Runs for instants of the past. All methods throw not_found for a namespace or job that does not exist. */
export class Backfills {
  readonly #context: EngineContext;
  readonly #deps: BackfillsDeps;
  readonly #rules: PastRules;

  constructor(context: EngineContext, deps: BackfillsDeps) {
    this.#context = context;
    this.#deps = deps;
    const { store, loops, wakeups, events } = context;
    const { unitOfWork, queues, compiler } = deps;
    this.#rules = new PastRules(store.past, compiler);
    const runner = new BackfillRunner(
      context,
      new BackfillStepper(context, { unitOfWork, queues, rules: this.#rules }),
    );
    loops.register("backfills", async () => {
      await runner.tick();
      return runner.idleMs;
    });
    wakeups.on("backfills", () => loops.wake("backfills"));
    wakeups.on("shards.owned", ({ gained }) => {
      if (gained.length > 0) loops.wake("backfills");
    });
    events.onRunEnd(({ jobId }) => {
      if (jobId !== null && runner.runEnded(jobId)) loops.wake("backfills");
    });
  }

  /** How many instants the range has; writes nothing. Instants that ran already are counted too. Throws job_ended, backfill_invalid. */
  count(namespace: string, ref: JobRef, request: BackfillRequest): Promise<number> {
    return this.#context.inNamespace(namespace, async (id) => (await this.#count(id, ref, request)).total);
  }

  /** Throws job_ended, backfill_invalid. */
  start(namespace: string, ref: JobRef, request: BackfillRequest, change: ChangeContext): Promise<BackfillView> {
    const { store, newId, inNamespace, wakeups } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      const { total, job } = await this.#count(namespaceId, ref, request);
      if (total === 0) throw noOccurrence(job.schedule);
      const id = newId();
      const { result } = await this.#deps.transaction.run(namespaceId, { id: job.id }, change, {
        processesDue: false,
        apply: async ({ tx, draft }) => {
          const backfill = { ...request, id, jobId: draft.job.id, total, actor: change.actor, trace: change.trace };
          await change.receipt?.keep(tx, { backfill: id });
          return { result: await store.backfills.insert(tx, backfill), patch: null };
        },
      });
      wakeups.broadcast("backfills");
      return result;
    });
  }

  get(namespace: string, id: string): Promise<BackfillView | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#context.store.backfills.find(namespaceId, id));
  }

  /** The backfills of a job, newest first. `after` is an id. */
  list(namespace: string, ref: JobRef, { pageSize, after }: PageRequest): Promise<Page<BackfillView>> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const job = await this.#job(namespaceId, ref);
      const rows = await this.#context.store.backfills.list(job.id, after ?? null, pageSize + 1);
      return toPage(rows, pageSize, (row) => row.id);
    });
  }

  /** Makes no more runs; those made are not cancelled. A backfill that has ended is returned unchanged; null: there is none. */
  abort(namespace: string, id: string, { actor }: ChangeContext): Promise<BackfillView | null> {
    const { backfills } = this.#context.store;
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const reason = actor === null ? "asked" : `asked by ${actor}`;
      return (await backfills.abort(namespaceId, id, reason)) ?? backfills.find(namespaceId, id);
    });
  }

  /** Needs no lock: the past does not change. */
  async #count(
    namespaceId: number,
    ref: JobRef,
    request: BackfillRequest,
  ): Promise<{ readonly total: number; readonly job: RuledJob }> {
    const job = await this.#job(namespaceId, ref);
    if (job.state === "cancelled") throw jobEnded(ref);
    checkRequest(request, this.#context.now());
    try {
      return { total: await this.#rules.count(this.#context.db, job, request), job };
    } catch (error) {
      if (
        !(error instanceof CarillonError) ||
        error.code === "backfill_invalid" ||
        errorCatalogue[error.code].status >= 500
      )
        throw error;
      const detail = `A rule that was in force then is no longer readable: ${error.message}`;
      throw new CarillonError("backfill_invalid", detail, { cause: error });
    }
  }

  /** A stored job, or a one-off job that is its run alone. */
  async #job(namespaceId: number, ref: JobRef): Promise<RuledJob & { readonly state: JobState }> {
    const job = await this.#deps.jobs.find(namespaceId, ref);
    if (job === null) throw jobNotFound(ref);
    return { id: job.id, namespaceId, schedule: job.schedule, state: job.state };
  }
}

/** Refuses a range that is not in the past, and bounds that allow no run. */
function checkRequest({ from, to, perSecond, concurrency }: BackfillRequest, now: Instant): void {
  if (!(perSecond > 0 && Number.isFinite(perSecond))) throw invalid("The rate must be a number above 0.");
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw invalid("The concurrency must be a whole number, at least 1.");
  if (from > to) throw invalid(`The range ends at ${formatInstant(to)}, before it begins at ${formatInstant(from)}.`);
  if (from < 0) throw invalid("The range begins before 1970.");
  if (to > now)
    throw invalid(
      `The range ends at ${formatInstant(to)}, which is in the future: it is ${formatInstant(now)}. The schedule fires future occurrences.`,
    );
}

function noOccurrence({ kind }: ScheduleSpec): CarillonError {
  const why =
    kind === "manual" || kind === "after"
      ? "The job has no schedule of its own. Run it now instead."
      : "The job's rule has no occurrence in that range.";
  return invalid(why);
}

function invalid(detail: string): CarillonError {
  return new CarillonError("backfill_invalid", detail);
}
