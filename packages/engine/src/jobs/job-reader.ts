import { occurrenceRunId, type RunStatus } from "@carillon/core";
import type { JobFilter, JobRef, Page, PageRequest } from "../model/api.js";
import type { JobView } from "../model/job-view.js";
import type { RunView } from "../model/run-view.js";
import type { JobRow, JobStore } from "../store/entities/jobs.js";
import { readPause } from "../store/entities/stored-pause.js";
import { jobStatus, runStatusesOf } from "./job-status.js";
import { mergeParts } from "./merge-parts.js";
import type { RunLister } from "./run-lister.js";
import { type RunReader, toPage } from "./run-reader.js";

/** How many rows one page may look through for jobs that pass a filter on status. */
const mostScanned = 10_000;
const mostParts = 20;

/** Reads jobs: stored ones, and one-off jobs that are their run alone, in one form and one order. */
export class JobReader {
  readonly #jobs: JobStore;
  readonly #runs: RunReader;
  readonly #lister: RunLister;

  constructor(jobs: JobStore, runs: RunReader, lister: RunLister) {
    this.#jobs = jobs;
    this.#runs = runs;
    this.#lister = lister;
  }

  async find(namespaceId: number, ref: JobRef): Promise<JobView | null> {
    const id = "id" in ref ? ref.id : await this.#jobs.idOfKey(namespaceId, ref.key);
    if (id === null) return null;
    const [row] = await this.#jobs.find(namespaceId, [id]);
    if (row !== undefined) return this.#withNeighbours(namespaceId, row);
    const run = await this.#runs.find(namespaceId, id);
    return run !== null && run.jobId === run.id ? oneOffJob(run) : null;
  }

  async #withNeighbours(namespaceId: number, row: JobRow): Promise<JobView | null> {
    const [job = null] = await this.#withLastRuns(namespaceId, [row]);
    if (job === null || (row.feeds !== true && row.schedule.kind !== "after")) return job;
    return { ...job, neighbours: await this.#jobs.neighbours(row.id) };
  }

  async list(namespaceId: number, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    const found: JobView[] = [];
    const wanted = filter.status === undefined ? null : new Set(filter.status);
    let after = page.after;
    for (let scanned = 0; ;) {
      const request = after === undefined ? { pageSize: page.pageSize } : { pageSize: page.pageSize, after };
      const part = await this.#listAny(namespaceId, filter, request);
      found.push(...part.rows.filter((job) => wanted === null || wanted.has(jobStatus(job))));
      if (found.length > page.pageSize || part.next === null) return toPage(found, page.pageSize);
      // A page that took long to find little is better short than late.
      scanned += Math.max(part.rows.length, mostScanned / mostParts);
      if (found.length === page.pageSize || scanned >= mostScanned) return { rows: found, next: part.next };
      after = part.next;
    }
  }

  async #listAny(namespaceId: number, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    const { status, ...same } = filter;
    const limit = page.pageSize + 1;
    const stored = await this.#jobs.list(namespaceId, same, page.after ?? null, limit);
    const statuses: readonly RunStatus[] | undefined = status === undefined ? undefined : runStatusesOf(status);
    const runFilter =
      statuses === undefined ? { ...same, oneOffOnly: true } : { ...same, status: statuses, oneOffOnly: true };
    const oneOff = await this.#lister.part(namespaceId, runFilter, page);
    const edge = stored.length < limit ? null : (stored.at(-1)?.id ?? null);
    // A one-off job that became a stored one is in both: the stored one knows more.
    const parts = [
      { rows: oneOff.rows.map(oneOffJob), edge: oneOff.edge },
      { rows: await this.#withLastRuns(namespaceId, stored), edge },
    ];
    return mergeParts(parts, page.pageSize);
  }

  /** The newest run is known by its id: no index on the hot table is needed. */
  async #withLastRuns(namespaceId: number, rows: readonly JobRow[]): Promise<JobView[]> {
    const lastRunIds = rows.map(newestRunOf);
    const ids = lastRunIds.filter((id) => id !== null);
    const runs = await this.#runs.findMany(namespaceId, ids);
    return rows.map((row, index) => toJobView(row, runs.get(lastRunIds[index] ?? "") ?? null));
  }
}

/** One that was made before jobs kept a list of their runs has an id that follows from the job and the instant. */
function newestRunOf({ id, run_ids: runIds, fired_through: through }: JobRow): string | null {
  return runIds.at(-1) ?? (through === null ? null : occurrenceRunId(id, through, "schedule"));
}

function toJobView(row: JobRow, lastRun: RunView | null): JobView {
  return {
    id: row.id,
    key: row.key,
    task: row.task,
    queue: row.queue,
    priority: row.priority,
    payload: row.payload,
    schedule: row.schedule,
    policy: row.policy ?? {},
    firing: row.firing ?? {},
    labels: row.labels,
    owner: row.owner,
    state: row.state,
    pause: row.state === "paused" ? readPause(row) : null,
    version: row.version,
    nextRunAt: row.state === "paused" ? null : row.next_fire_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    neighbours: [],
    lastRun,
  };
}

function oneOffJob(run: RunView): JobView {
  const isWaiting = run.status === "scheduled" || run.status === "retrying";
  return {
    id: run.id,
    key: null,
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    payload: run.payload,
    schedule: { kind: "at", at: run.trigger.scheduledFor },
    policy: run.policy,
    firing: {},
    labels: run.labels,
    owner: run.owner,
    state: run.finishedAt === null ? "active" : run.status === "cancelled" ? "cancelled" : "completed",
    pause: null,
    version: 1,
    nextRunAt: isWaiting ? run.runAt : null,
    createdAt: run.createdAt,
    updatedAt: run.finishedAt ?? run.createdAt,
    neighbours: [],
    lastRun: run,
  };
}
