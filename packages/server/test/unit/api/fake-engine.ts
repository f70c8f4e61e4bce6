import {
  CarillonError,
  compileSchedule,
  type EnqueueSpec,
  type Instant,
  type JobSpec,
  statusOfJob,
} from "@carillon/core";
import type {
  CreatedJob,
  EngineApi,
  EnqueuedRun,
  Enqueueing,
  JobRef,
  JobView,
  Page,
  PageRequest,
  RunView,
  LogPage,
  LogRequest,
  RunLine,
  TotalRequest,
  BegunCall,
  KeptAnswer,
  KeyedCall,
  Receipts,
} from "@carillon/engine";

/** An EngineApi in memory, for tests of the API. Runs never change by themselves. */
export class FakeJobs implements EngineApi, Enqueueing, Receipts {
  readonly keys = new Map<string, { request: string; answer?: KeptAnswer }>();
  readonly jobs: JobView[] = [];
  readonly runs: RunView[] = [];
  /** Thrown by the next call, once. */
  failure: Error | undefined;
  readonly now: () => Instant;
  readonly #keys = new Map<string, string>();

  constructor(now: () => Instant) {
    this.now = now;
  }

  async namespaceId(): Promise<number> {
    return 1;
  }

  async createJob(_namespace: string, spec: JobSpec): Promise<JobView> {
    this.failOnce();
    if (spec.key !== undefined && this.jobs.some((job) => job.key === spec.key)) {
      throw new CarillonError("key_taken", `The key ${spec.key} belongs to another job.`);
    }
    const now = this.now();
    const id = uuid(this.jobs.length + 1);
    const { schedule } = spec;
    const run = schedule.kind === "at" ? runOf(id, spec, { at: schedule.at, now }) : null;
    const job: JobView = {
      id,
      ...definitionOf(id, spec, now),
      state: "active",
      pause: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
      neighbours: [],
      lastRun: run,
    };
    this.jobs.unshift(job);
    if (run !== null) this.runs.unshift(run);
    return job;
  }

  async createJobs(namespace: string, specs: readonly JobSpec[]): Promise<CreatedJob[]> {
    return Promise.all(
      specs.map((spec) =>
        this.createJob(namespace, spec).then(
          ({ id }) => ({ id }),
          (error: unknown) => ({ error }),
        ),
      ),
    );
  }

  async getJob(_namespace: string, ref: JobRef): Promise<JobView | null> {
    this.failOnce();
    return this.jobs.find((job) => ("id" in ref ? job.id === ref.id : job.key === ref.key)) ?? null;
  }

  async listJobs(_namespace: string, filter: Parameters<EngineApi["listJobs"]>[1], page: PageRequest) {
    this.failOnce();
    return pageOf(
      this.jobs.filter((job) =>
        matches(
          filter,
          job,
          statusOfJob({ state: job.state, oneOff: job.schedule.kind === "at", run: job.lastRun?.status ?? null }),
        ),
      ),
      page,
    );
  }

  async jobsOfKeys(_namespace: string, keys: readonly string[]): Promise<readonly JobView[]> {
    this.failOnce();
    return this.jobs.filter(({ key, state }) => key !== null && state !== "cancelled" && keys.includes(key));
  }

  async enqueueShown(_namespace: string, spec: EnqueueSpec): Promise<{ run: RunView; isNew: boolean }> {
    this.failOnce();
    const { dedupe } = spec;
    const held = this.runs.find((run) => dedupe !== undefined && this.#keys.get(run.id) === dedupe.key);
    if (held !== undefined && dedupe?.on === "reject") throw new CarillonError("run_duplicate", "it is there already");
    if (held !== undefined) return { run: held, isNew: false };
    const now = this.now();
    const at = spec.runAt ?? now;
    const run = runOf(uuid(this.runs.length + 1), { ...spec, schedule: { kind: "at", at } }, { at, now });
    this.runs.unshift(run);
    if (dedupe !== undefined) this.#keys.set(run.id, dedupe.key);
    return { run, isNew: true };
  }

  async enqueue(namespace: string, spec: EnqueueSpec): Promise<{ id: string; isNew: boolean }> {
    const { run, isNew } = await this.enqueueShown(namespace, spec);
    return { id: run.id, isNew };
  }

  enqueueIn(): Promise<never> {
    throw new Error("The API has no transactions of callers.");
  }

  async enqueueMany(namespace: string, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    return Promise.all(
      specs.map((spec) => this.enqueue(namespace, spec).catch((error: unknown): EnqueuedRun => ({ error }))),
    );
  }

  async getRun(_namespace: string, id: string): Promise<RunView | null> {
    this.failOnce();
    return this.runs.find((run) => run.id === id) ?? null;
  }

  /** The log lines of every run, set by the test. */
  readonly lines: RunLine[] = [];

  async readLogs(_namespace: string, id: string, request: LogRequest): Promise<LogPage | null> {
    this.failOnce();
    if (!this.runs.some((run) => run.id === id)) return null;
    const { fence = 0, number = 0 } = request.after ?? {};
    const rest = this.lines.filter((line) => line.fence > fence || (line.fence === fence && line.number > number));
    const hasMore = rest.length > request.pageSize;
    return { lines: rest.slice(0, request.pageSize), hasMore, isEnd: !hasMore && request.waitMs === undefined };
  }

  async listRuns(_namespace: string, filter: Parameters<EngineApi["listRuns"]>[1], page: PageRequest) {
    this.failOnce();
    const { jobId, workerId } = filter;
    const rows = this.runs.filter(
      (run) =>
        matches(filter, run, run.status) &&
        (jobId === undefined || run.jobId === jobId) &&
        (workerId === undefined || run.workerId === workerId),
    );
    return pageOf(rows, page);
  }

  async totalRuns(namespace: string, filter: Parameters<EngineApi["totalRuns"]>[1], accuracy: TotalRequest) {
    const { rows } = await this.listRuns(namespace, filter, { pageSize: Number.MAX_SAFE_INTEGER });
    return { count: rows.length, accuracy };
  }

  async totalJobs(namespace: string, filter: Parameters<EngineApi["totalJobs"]>[1], accuracy: TotalRequest) {
    const { rows } = await this.listJobs(namespace, filter, { pageSize: Number.MAX_SAFE_INTEGER });
    return { count: rows.length, accuracy };
  }

  async awaitRun(_namespace: string, id: string): Promise<RunView | null> {
    return this.runs.find((run) => run.id === id && run.finishedAt !== null) ?? null;
  }

  async beginCall(namespace: string, { caller, key, request }: KeyedCall): Promise<BegunCall> {
    const place = JSON.stringify([namespace, caller, key]);
    const row = this.keys.get(place);
    if (row !== undefined && row.request !== request) return { state: "other" };
    if (row !== undefined) return row.answer === undefined ? { state: "busy" } : { state: "done", answer: row.answer };
    this.keys.set(place, { request });
    return {
      state: "own",
      receipt: { keep: async () => undefined },
      answered: async (answer) => void this.keys.set(place, { request, answer }),
      refused: async () => void this.keys.delete(place),
    };
  }

  failOnce(): void {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
  }
}

/** The part of a job that its spec determines. */
export function definitionOf(id: string, spec: JobSpec, now: Instant) {
  const { key = null, owner = null, firing = {}, schedule } = spec;
  const next = schedule.kind === "at" ? schedule.at : compileSchedule(schedule, { jobId: id }).next(now)?.fireAt;
  return { ...spec, key, owner, firing, nextRunAt: next ?? null };
}

interface SharedFilter {
  readonly status?: readonly string[];
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
}

function matches(filter: SharedFilter, row: JobView | RunView, status: string): boolean {
  return (
    (filter.status === undefined || filter.status.includes(status)) &&
    (filter.task === undefined || filter.task === row.task) &&
    (filter.queue === undefined || filter.queue === row.queue) &&
    (filter.owner === undefined || filter.owner === row.owner)
  );
}

export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { after, pageSize, oldestFirst = false }: PageRequest,
): Page<Row> {
  if (oldestFirst) return pageOf(rows.toReversed(), { pageSize, ...(after !== undefined && { after }) });
  const from = after === undefined ? 0 : rows.findIndex((row) => row.id === after) + 1;
  const page = rows.slice(from, from + pageSize);
  return { rows: page, next: from + pageSize < rows.length ? (page.at(-1)?.id ?? null) : null };
}

export function uuid(number: number): string {
  return `0190aaaa-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

export function runOf(
  id: string,
  spec: JobSpec,
  { at, now }: { readonly at: Instant; readonly now: Instant },
): RunView {
  return {
    id,
    jobId: id,
    task: spec.task,
    queue: spec.queue,
    priority: spec.priority,
    status: at <= now ? "queued" : "scheduled",
    statusReason: null,
    trigger: { kind: "once", id: null, scheduledFor: at },
    runAt: at,
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    attempt: 0,
    deadlineAt: null,
    maxAttempts: spec.policy.retry?.maxAttempts ?? 5,
    losses: 0,
    workerId: null,
    progress: null,
    payload: spec.payload,
    policy: spec.policy,
    output: null,
    error: null,
    attempts: [],
    labels: spec.labels,
    owner: spec.owner ?? null,
  };
}
