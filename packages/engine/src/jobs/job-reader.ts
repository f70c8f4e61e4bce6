import { type RunStatus, occurrenceRunId, shownLabels } from "@carillon/core";
import { type JobRow, type JobStore, readPause } from "@carillon/store";
import { type JobRef, type Page, type PageRequest, type Total, type TotalRequest, toPage } from "../requests.js";
import { type RunLister, mergeParts, maxCounted } from "../runs/run-lister.js";
import type { RunReader } from "../runs/run-reader.js";
import type { RunView } from "../runs/run-view.js";
import type { JobFilter } from "./engine-api.js";
import { jobStatus, runStatusesOf } from "./job-status.js";
import type { JobView } from "./job-view.js";

/** So many jobs are read at once where only those of some statuses are wanted. */
const readForStatus = 200;

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

  /** The jobs that have these keys now, the newest first. */
  async ofKeys(namespaceId: number, keys: readonly string[]): Promise<JobView[]> {
    return this.#withLastRuns(namespaceId, await this.#jobs.ofKeys(namespaceId, keys));
  }

  async #withNeighbours(namespaceId: number, row: JobRow): Promise<JobView | null> {
    const [job = null] = await this.#withLastRuns(namespaceId, [row]);
    if (job === null || (row.has_downstream !== true && row.schedule.kind !== "after")) return job;
    return { ...job, neighbours: await this.#jobs.neighbours(row.id) };
  }

  /** Statuses are worked out from a job and its runs: jobs are read until enough of them have the right one, or it gets late. */
  async list(namespaceId: number, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    if (filter.status === undefined) return this.#listAny(namespaceId, filter, page);
    const wanted = new Set(filter.status);
    const isLate = this.#lister.startTimeBudget();
    const found: JobView[] = [];
    for (let request = { ...page, pageSize: Math.max(page.pageSize, readForStatus) }; ;) {
      const part = await this.#listAny(namespaceId, filter, request);
      found.push(...part.rows.filter((job) => wanted.has(jobStatus(job))));
      if (found.length > page.pageSize || part.next === null) return toPage(found, page.pageSize, (row) => row.id);
      if (found.length === page.pageSize || isLate()) return { rows: found, next: part.next };
      request = { ...request, after: part.next };
    }
  }

  async #listAny(namespaceId: number, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    const { status: _, ...same } = filter;
    const { pageSize, after = null, oldestFirst = false } = page;
    const direction = oldestFirst ? "oldest_first" : "newest_first";
    const stored = await this.#jobs.list(namespaceId, same, { after, limit: pageSize + 1, direction });
    const oneOff = await this.#lister.part(namespaceId, oneOffFilter(filter), { ...page, until: stored.edge });
    // A one-off job that became a stored one is in both: the stored one knows more.
    const parts = [
      { rows: oneOff.rows.map(oneOffJob), edge: oneOff.edge },
      { rows: await this.#withLastRuns(namespaceId, stored.rows), edge: stored.edge },
    ];
    return mergeParts(parts, { pageSize, direction });
  }

  /** Without regard to status, which is worked out from a job and its runs and is in no index: a total of it would need all rows. */
  async total(namespaceId: number, filter: JobFilter, request: TotalRequest): Promise<Total> {
    const { status: _, ...same } = filter;
    const oneOff = await this.#lister.total(namespaceId, { ...same, oneOffOnly: true }, request);
    if (request === "estimate") {
      return { count: oneOff.count + (await this.#jobs.estimate(namespaceId, same)), accuracy: "estimate" };
    }
    const stored = await this.#jobs.count(namespaceId, same, maxCounted);
    const isWhole = oneOff.accuracy === "exact" && stored < maxCounted;
    return { count: oneOff.count + stored, accuracy: isWhole ? "exact" : "at_least" };
  }

  /** The newest run is known by its id: no index on the hot table is needed. */
  async #withLastRuns(namespaceId: number, rows: readonly JobRow[]): Promise<JobView[]> {
    const lastRunIds = rows.map(newestRunOf);
    const ids = lastRunIds.filter((id) => id !== null);
    const runs = await this.#runs.findMany(namespaceId, ids);
    return rows.map((row, index) => toJobView(row, runs.get(lastRunIds[index] ?? "") ?? null));
  }
}

function oneOffFilter({ status, ...same }: JobFilter) {
  const statuses: readonly RunStatus[] | undefined = status === undefined ? undefined : runStatusesOf(status);
  return { ...same, ...(statuses !== undefined && { status: statuses }), oneOffOnly: true };
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
    labels: shownLabels(row.labels),
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
