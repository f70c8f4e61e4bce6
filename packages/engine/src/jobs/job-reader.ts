import {
  CarillonError,
  type Instant,
  type JobPause,
  type JobState,
  type JobStatus,
  occurrenceRunId,
  type RunStatus,
  runStatuses,
  shownLabels,
  statusOfJob,
  type StoredSpec,
} from "@carillon/core";
import { type JobRow, type JobStore, type Neighbour, type NewJob, readPause, type RunFilter } from "@carillon/store";
import { type JobRef, type Page, type PageRequest, toPage, type Total, type TotalRequest } from "../requests.js";
import { maxCounted, mergeParts, type RunLister } from "../runs/run-lister.js";
import type { RunReader, RunView } from "../runs/run-reader.js";
import type { DueRules } from "../schedules/due-rules.js";
import { fireAfterPause } from "./pause-end.js";

/** A job as readers see it. A one-off job that is stored as its run alone is shown in the same form. */
export interface JobView extends StoredSpec {
  readonly id: string;
  readonly state: JobState;
  /** null unless the job is paused. */
  readonly pause: JobPause | null;
  readonly version: number;
  /**
   * The next nominal instant with its jitter added; null when the schedule has no occurrence left. Of a paused job: the first one after the
   * end of the pause; null if the pause has none.
   */
  readonly nextRunAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** The jobs that it waits for, and those that wait for it; only where a single job is read. */
  readonly neighbours: readonly Neighbour[];
  /** The run of a one-off job; the latest live or finished run of a recurring one; null before the first. */
  readonly lastRun: RunView | null;
}

export interface JobFilter extends Omit<RunFilter, "status" | "jobId" | "workerId" | "trigger"> {
  readonly status?: readonly JobStatus[];
}

/** The status that lists show for a job. */
export function jobStatus(job: JobView): JobStatus {
  return statusOfJob({ state: job.state, oneOff: job.schedule.kind === "at", run: job.lastRun?.status ?? null });
}

/** The run statuses in which a job that is stored as its run alone has one of these job statuses. */
function runStatusesOf(statuses: readonly JobStatus[]): RunStatus[] {
  return runStatuses.filter((run) => {
    const state = run === "cancelled" ? "cancelled" : "active";
    return statuses.includes(statusOfJob({ state, oneOff: true, run }));
  });
}

function toJobView(row: JobRow, lastRun: RunView | null, nextRunAt: Instant | null): JobView {
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
    nextRunAt,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    neighbours: [],
    lastRun,
  };
}

/** A job at the moment in which it was stored. Not for a job that waits for others: its neighbours are not part of the new row. */
export function newJobView(job: NewJob, createdAt: Instant): JobView {
  const { id, key, task, queue, priority, payload = null, schedule, policy, firing, owner, state } = job;
  return {
    id,
    key,
    task,
    queue,
    priority,
    payload,
    schedule,
    policy,
    firing,
    labels: shownLabels(job.labels),
    owner,
    state,
    pause: null,
    version: 1,
    nextRunAt: job.nextFireAt,
    createdAt,
    updatedAt: createdAt,
    neighbours: [],
    lastRun: null,
  };
}

/** The job of a run that is stored without a row for its job. */
export function oneOffJob(run: RunView): JobView {
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

/** Jobs that are read at once for a list of some statuses. */
const pageForStatus = 200;

export interface JobReaderDeps {
  readonly runs: RunReader;
  readonly lister: RunLister;
  readonly rules: Pick<DueRules, "compile">;
}

/** Reads jobs: stored ones, and one-off jobs that are stored as their run alone, in one form and one order. */
export class JobReader {
  readonly #jobs: JobStore;
  readonly #runs: RunReader;
  readonly #lister: RunLister;
  readonly #rules: Pick<DueRules, "compile">;

  constructor(jobs: JobStore, { runs, lister, rules }: JobReaderDeps) {
    this.#jobs = jobs;
    this.#runs = runs;
    this.#lister = lister;
    this.#rules = rules;
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
  async byKeys(namespaceId: number, keys: readonly string[]): Promise<JobView[]> {
    return this.#withLastRuns(namespaceId, await this.#jobs.ofKeys(namespaceId, keys));
  }

  async #withNeighbours(namespaceId: number, row: JobRow): Promise<JobView | null> {
    const [job = null] = await this.#withLastRuns(namespaceId, [row]);
    if (job === null || (row.has_downstream !== true && row.schedule.kind !== "after")) return job;
    return { ...job, neighbours: await this.#jobs.neighbours(row.id) };
  }

  /** A status is computed from a job and its runs: jobs are read until the page is full or its time budget is spent. */
  async list(namespaceId: number, filter: JobFilter, page: PageRequest): Promise<Page<JobView>> {
    if (filter.status === undefined) return this.#listAny(namespaceId, filter, page);
    const statuses = new Set(filter.status);
    const isLate = this.#lister.startTimeBudget();
    const found: JobView[] = [];
    for (let request = { ...page, pageSize: Math.max(page.pageSize, pageForStatus) }; ;) {
      const part = await this.#listAny(namespaceId, filter, request);
      found.push(...part.rows.filter((job) => statuses.has(jobStatus(job))));
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
    // A one-off job that became a stored one is in both lists: mergeParts keeps the stored one, which has more details.
    const parts = [
      { rows: oneOff.rows.map(oneOffJob), edge: oneOff.edge },
      { rows: await this.#withLastRuns(namespaceId, stored.rows), edge: stored.edge },
    ];
    return mergeParts(parts, { pageSize, direction });
  }

  /** Ignores the status, which is computed from a job and its runs and is in no index: a total of it would need all rows. */
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
    return rows.map((row, index) =>
      toJobView(row, runs.get(lastRunIds[index] ?? "") ?? null, this.#nextRunAt(namespaceId, row)),
    );
  }

  #nextRunAt(namespaceId: number, row: JobRow): Instant | null {
    const { state, id: jobId, schedule } = row;
    if (state !== "paused") return row.next_fire_at;
    const pause = readPause(row);
    if (pause === null || pause.until === null) return null;
    try {
      return fireAfterPause(this.#rules.compile({ jobId, namespaceId, schedule }), pause);
    } catch (error) {
      // A job whose calendar is gone is shown, without a time: it cannot be resumed either.
      if (error instanceof CarillonError) return null;
      throw error;
    }
  }
}

function oneOffFilter({ status, ...same }: JobFilter) {
  const statuses: readonly RunStatus[] | undefined = status === undefined ? undefined : runStatusesOf(status);
  return { ...same, ...(statuses !== undefined && { status: statuses }), oneOffOnly: true };
}

/** The id of a run that was made before jobs listed their runs follows from the job and the instant. */
function newestRunOf({ id, run_ids: runIds, fired_through: through }: JobRow): string | null {
  return runIds.at(-1) ?? (through === null ? null : occurrenceRunId(id, through, "schedule"));
}
