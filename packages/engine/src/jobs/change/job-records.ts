import { CarillonError, type Instant, ledgerReasons, type PreviewedFire, previewSchedule } from "@carillon/core";
import type { JobVersionView, OccurrenceView } from "../job-changes.js";
import type { JobChangeStore, LedgerPlace, LedgerRow, LockedJob, Queryable, ReplacedDefinition } from "@carillon/store";
import { specOf } from "./definition.js";
import type { DueRules } from "../../schedules/due-rules.js";
import type { Page, PageRequest } from "../../requests.js";

/** What is on record about a stored job, and what comes next. Reads only. */
export class JobRecords {
  readonly #db: Queryable;
  readonly #changes: JobChangeStore;
  readonly #rules: DueRules;

  constructor(db: Queryable, changes: JobChangeStore, rules: DueRules) {
    this.#db = db;
    this.#changes = changes;
    this.#rules = rules;
  }

  /** Newest first: the present definition, then those that were replaced. */
  async versions(job: LockedJob, page: PageRequest): Promise<Page<JobVersionView>> {
    const before = page.after === undefined ? null : Number(page.after);
    if (before !== null && !Number.isInteger(before)) throw foreignPlace();
    const present: JobVersionView = {
      version: job.due.version,
      spec: specOf(job),
      validFrom: job.definedAt ?? job.createdAt,
      validTo: null,
      replacedBy: null,
    };
    const replaced = await this.#changes.versions(this.#db, job.id, before, page.pageSize + 1);
    const rows = [...(before === null ? [present] : []), ...replaced.map(toVersion)];
    const shown = rows.slice(0, page.pageSize);
    return { rows: shown, next: rows.length > page.pageSize ? String(shown.at(-1)?.version) : null };
  }

  async occurrences(jobId: string, page: PageRequest): Promise<Page<OccurrenceView>> {
    const before = page.after === undefined ? null : readPlace(page.after);
    const rows = await this.#changes.occurrences(this.#db, jobId, before, page.pageSize + 1);
    const shown = rows.slice(0, page.pageSize);
    const last = shown.at(-1);
    const next = rows.length > page.pageSize && last !== undefined ? writePlace(last) : null;
    return { rows: shown.map(toOccurrence), next };
  }

  /** What comes next; nothing for a job that is over, or paused without an end. */
  upcoming(job: LockedJob, count: number): readonly PreviewedFire[] {
    const from = beginOfUpcoming(job);
    const left = (job.due.maxRuns ?? Number.POSITIVE_INFINITY) - job.due.firedCount;
    if (from === null || left <= 0) return [];
    const calendars = this.#rules.calendarsOf(job.namespaceId);
    const context = { jobId: job.id, calendars, checked: true };
    const { fires } = previewSchedule(job.schedule, context, { from, count: Math.min(count, left) });
    return fires;
  }
}

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
  const [from, version, word] = text.split(".");
  const reason = ledgerReasons.find((one) => one === word);
  const place = { from_at: Number(from), version: Number(version) };
  if (reason === undefined || !Number.isInteger(place.from_at) || !Number.isInteger(place.version))
    throw foreignPlace();
  return { ...place, reason };
}

function foreignPlace(): CarillonError {
  return new CarillonError("page_token_invalid", "the page token does not belong to this list");
}
