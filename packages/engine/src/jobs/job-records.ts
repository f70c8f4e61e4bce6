import { CarillonError, type Instant, ledgerReasons, type PreviewedFire, previewSchedule } from "@carillon/core";
import type { LedgerPlace, LedgerRow, LockedJob, ReplacedDefinition } from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type JobRef, type Page, type PageRequest, toPage } from "../requests.js";
import type { DueRules } from "../schedules/due-rules.js";
import { type ChangeTransaction, jobNotFound } from "./change/change-transaction.js";
import { specOf } from "./job-definition.js";
import type { JobReader, JobView } from "./job-reader.js";
import type { JobVersionView, OccurrenceView } from "./job-requests.js";
import type { JobUnitOfWork } from "./transaction/job-unit-of-work.js";

export type JobRecordsContext = Pick<EngineContext, "db" | "store">;

export interface JobRecordsDeps {
  readonly transaction: Pick<ChangeTransaction, "idOf">;
  readonly unitOfWork: Pick<JobUnitOfWork, "reads">;
  readonly reader: Pick<JobReader, "find">;
  readonly rules: Pick<DueRules, "calendarsOf">;
}

/**
 * Reads the versions, the ledger and the next occurrences of a job. A one-off job that is stored as its run alone has one version, no ledger, and
 * at most one occurrence.
 */
export class JobRecords {
  readonly #context: JobRecordsContext;
  readonly #deps: JobRecordsDeps;

  constructor(context: JobRecordsContext, deps: JobRecordsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** The job as stored, with the database's clock; or the view of a one-off job that is stored as its run alone. */
  async find(namespaceId: number, ref: JobRef): Promise<LockedJob | JobView> {
    const { transaction, unitOfWork, reader } = this.#deps;
    const id = await transaction.idOf(namespaceId, ref);
    const [stored] = await unitOfWork.reads.read(this.#context.db, [id], { payload: true });
    if (stored !== undefined && stored.namespaceId === namespaceId) return stored;
    const view = await reader.find(namespaceId, { id });
    if (view === null) throw jobNotFound(ref);
    return view;
  }

  /** Newest first: the present definition, then the replaced ones. */
  async versions(namespaceId: number, ref: JobRef, page: PageRequest): Promise<Page<JobVersionView>> {
    const job = await this.find(namespaceId, ref);
    if (!("due" in job)) return { rows: onlyVersion(job, page), next: null };
    const before = page.after === undefined ? null : Number(page.after);
    if (before !== null && !Number.isInteger(before)) throw foreignToken();
    const present: JobVersionView = {
      version: job.due.version,
      spec: specOf(job),
      validFrom: job.definedAt ?? job.createdAt,
      validTo: null,
      replacedBy: null,
    };
    const { db, store } = this.#context;
    const replaced = await store.changes.versions(db, job.id, before, page.pageSize + 1);
    const rows = [...(before === null ? [present] : []), ...replaced.map(toVersion)];
    return toPage(rows, page.pageSize, (row) => String(row.version));
  }

  async occurrences(namespaceId: number, ref: JobRef, page: PageRequest): Promise<Page<OccurrenceView>> {
    const job = await this.find(namespaceId, ref);
    if (!("due" in job)) return { rows: [], next: null };
    const before = page.after === undefined ? null : readPlace(page.after);
    const { db, store } = this.#context;
    const rows = await store.changes.occurrences(db, job.id, before, page.pageSize + 1);
    const found = toPage(rows, page.pageSize, writePlace);
    return { ...found, rows: found.rows.map(toOccurrence) };
  }

  /** The next occurrences; none for a job that has ended, or is paused without an end. */
  async upcoming(namespaceId: number, ref: JobRef, count: number): Promise<readonly PreviewedFire[]> {
    const job = await this.find(namespaceId, ref);
    if (!("due" in job)) return onlyFire(job, count);
    const from = beginOfUpcoming(job);
    const left = (job.due.maxRuns ?? Number.POSITIVE_INFINITY) - job.due.firedCount;
    if (from === null || left <= 0) return [];
    const calendars = this.#deps.rules.calendarsOf(job.namespaceId);
    const context = { jobId: job.id, calendars, checked: true };
    const { fires } = previewSchedule(job.schedule, context, { from, count: Math.min(count, left) });
    return fires;
  }
}

/** The instant after which the next occurrences are shown; null: the job fires no more, or is paused without an end. */
function beginOfUpcoming({ due, pause }: LockedJob): Instant | null {
  if (due.state === "active") return due.nominal === null ? null : due.nominal - 1;
  return due.state === "paused" ? (pause?.until ?? null) : null;
}

function toVersion({ version, spec, validFrom, validTo, replacedBy }: ReplacedDefinition): JobVersionView {
  return { version, spec, validFrom, validTo, replacedBy };
}

function toOccurrence({ version, reason, from_at: from, to_at: to, count, detail }: LedgerRow): OccurrenceView {
  return { version, reason, from, to, count, detail };
}

function writePlace({ from_at: from, version, reason }: LedgerPlace): string {
  return `${from}.${version}.${reason}`;
}

function readPlace(text: string): LedgerPlace {
  const [from, version, name] = text.split(".");
  const reason = ledgerReasons.find((one) => one === name);
  const place = { from_at: Number(from), version: Number(version) };
  if (reason === undefined || !Number.isInteger(place.from_at) || !Number.isInteger(place.version))
    throw foreignToken();
  return { ...place, reason };
}

function foreignToken(): CarillonError {
  return new CarillonError("page_token_invalid", "The page token does not belong to this list.");
}

function onlyVersion(job: JobView, page: PageRequest): JobVersionView[] {
  if (page.after !== undefined) return [];
  const { task, queue, priority, payload, schedule, policy, labels, owner, createdAt: validFrom } = job;
  const spec = { task, queue, priority, payload, schedule, policy, labels, ...(owner === null ? {} : { owner }) };
  return [{ version: job.version, spec, validFrom, validTo: null, replacedBy: null }];
}

function onlyFire({ id: jobId, schedule, lastRun }: JobView, count: number): readonly PreviewedFire[] {
  if (lastRun?.status !== "scheduled" || schedule.kind !== "at") return [];
  return previewSchedule(schedule, { jobId }, { from: schedule.at - 1, count }).fires;
}
