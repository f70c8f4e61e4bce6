import { type PreviewedFire, previewSchedule } from "@carillon/core";
import type { JobChanges, JobVersionView, OccurrenceView } from "../job-changes.js";
import type { JobView } from "../job-view.js";
import type { LockedJob, Queryable } from "@carillon/store";
import type { SettlerStore } from "../transaction/settler.js";
import type { JobReader } from "../job-reader.js";
import type { RunReader } from "../../runs/run-reader.js";
import { notFound } from "./change-errors.js";
import type { ChangeTransaction } from "./change-transaction.js";
import type { JobEdits } from "./job-edits.js";
import type { JobEndings } from "./job-endings.js";
import type { JobPauses } from "./job-pauses.js";
import type { JobRecords } from "./job-records.js";
import type { RunNow } from "./run-now.js";
import type { JobRef, Page, PageRequest } from "../../requests.js";

export interface JobChangerParts {
  readonly db: Queryable;
  readonly store: Pick<SettlerStore, "settler">;
  readonly transaction: ChangeTransaction;
  readonly edits: JobEdits;
  readonly pauses: JobPauses;
  readonly endings: JobEndings;
  readonly runNow: RunNow;
  readonly records: JobRecords;
  readonly jobs: JobReader;
  readonly runs: RunReader;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
}

/** Changes of jobs as callers see them: names of namespaces in, views out. */
export function jobChanger(parts: JobChangerParts): JobChanges {
  const { edits, pauses, endings, runNow, namespaceId } = parts;
  const view = viewer(parts);
  return {
    async editJob(namespace, ref, edit, context) {
      const within = await namespaceId(namespace);
      return view(within, await edits.edit(within, ref, edit, context));
    },
    async upsertJob(namespace, key, define, context) {
      const within = await namespaceId(namespace);
      const { id, created } = await edits.upsert(within, key, define, context);
      return { job: await view(within, id), created };
    },
    async rollbackJob(namespace, ref, version, context) {
      const within = await namespaceId(namespace);
      return view(within, await edits.rollback(within, ref, version, context));
    },
    async pauseJob(namespace, ref, request, context) {
      const within = await namespaceId(namespace);
      return view(within, await pauses.pause(within, ref, request, context));
    },
    async resumeJob(namespace, ref, request, context) {
      const within = await namespaceId(namespace);
      const { id, missed } = await pauses.resume(within, ref, request, context);
      return { job: await view(within, id), missed };
    },
    async cancelJob(namespace, ref, request, context) {
      const within = await namespaceId(namespace);
      return view(within, await endings.cancel(within, ref, request, context));
    },
    async runNow(namespace, ref, request, context) {
      const within = await namespaceId(namespace);
      const id = await runNow.run(within, ref, request, context);
      const run = await parts.runs.find(within, id);
      if (run === null) throw new Error(`run ${id} was stored and cannot be found`);
      return run;
    },
    ...recordReads(parts),
  };
}

type RecordReads = Pick<JobChanges, "countMissed" | "listVersions" | "listOccurrences" | "upcoming">;

/** A one-off job that is its run alone has one version, no ledger, and at most one fire to come. */
function recordReads(parts: JobChangerParts): RecordReads {
  const { records, pauses } = parts;
  const find = finder(parts);
  return {
    async countMissed(namespace, ref) {
      const job = await find(namespace, ref);
      return "due" in job ? pauses.countMissed(job) : 0;
    },
    async listVersions(namespace, ref, page): Promise<Page<JobVersionView>> {
      const job = await find(namespace, ref);
      return "due" in job ? records.versions(job, page) : { rows: onlyVersion(job, page), next: null };
    },
    async listOccurrences(namespace, ref, page): Promise<Page<OccurrenceView>> {
      const job = await find(namespace, ref);
      return "due" in job ? records.occurrences(job.id, page) : { rows: [], next: null };
    },
    async upcoming(namespace, ref, count) {
      const job = await find(namespace, ref);
      return "due" in job ? records.upcoming(job, count) : onlyFire(job, count);
    },
  };
}

/** The job as stored, with the database's clock; or the view of a one-off job that is its run alone. */
function finder({ db, store, transaction, jobs, namespaceId }: JobChangerParts) {
  return async (namespace: string, ref: JobRef): Promise<LockedJob | JobView> => {
    const within = await namespaceId(namespace);
    const id = await transaction.idOf(within, ref);
    const [stored] = await store.settler.reads.read(db, [id], { payload: true });
    if (stored !== undefined && stored.namespaceId === within) return stored;
    const view = await jobs.find(within, { id });
    if (view === null) throw notFound(ref);
    return view;
  };
}

function viewer({ jobs }: JobChangerParts) {
  return async (namespaceId: number, id: string): Promise<JobView> => {
    const view = await jobs.find(namespaceId, { id });
    if (view === null) throw notFound({ id });
    return view;
  };
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
