import type {
  Forecast,
  ForecastQuery,
  Backfill,
  BackfillCount,
  BackfillList,
  Job,
  JobBackfill,
  JobBatchCreated,
  JobCancel,
  JobCreate,
  JobDeleteQuery,
  JobExplanation,
  JobList,
  JobListQuery,
  JobPatch,
  JobPause,
  JobPreview,
  JobResume,
  JobResumed,
  JobRunListQuery,
  JobRunNow,
  JobStats,
  JobVersionList,
  OccurrenceList,
  PageQuery,
  Run,
  RunList,
  RunRepeat,
  RunRetried,
  Upcoming,
  UpcomingQuery,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, ChangeOptions, MakeOptions, RunOptions, Transport } from "./transport.js";

/** A job by its id, or by its key written @key. */
export type JobReference = string;

export type BackfillRange = Omit<JobBackfill, "dry_run">;

export interface JobCalls {
  create(job: JobCreate, options?: MakeOptions): Promise<Job>;
  /** Each is created or refused by itself. */
  createMany(jobs: readonly JobCreate[], options?: MakeOptions): Promise<JobBatchCreated>;
  /** What a job would do; stores nothing. */
  preview(job: JobCreate, query?: UpcomingQuery, options?: CallOptions): Promise<JobPreview>;
  get(job: JobReference, options?: CallOptions): Promise<Job>;
  list(query?: JobListQuery, options?: CallOptions): Promise<JobList>;
  /** By @key: creates the job or replaces its definition. */
  put(job: JobReference, definition: JobCreate, options?: ChangeOptions): Promise<Job>;
  update(job: JobReference, patch: JobPatch, options?: ChangeOptions): Promise<Job>;
  delete(job: JobReference, query?: JobDeleteQuery, options?: ChangeOptions): Promise<void>;
  cancel(job: JobReference, how?: JobCancel, options?: ChangeOptions): Promise<Job>;
  pause(job: JobReference, how?: JobPause, options?: ChangeOptions): Promise<Job>;
  resume(job: JobReference, how?: JobResume, options?: ChangeOptions): Promise<JobResumed>;
  rollback(job: JobReference, version: number, options?: ChangeOptions): Promise<Job>;
  runNow(job: JobReference, overrides?: JobRunNow, options?: ChangeOptions & RunOptions): Promise<Run>;
  /** Runs of the past; goes on by itself, see `backfills`. */
  backfill(job: JobReference, range: BackfillRange, options?: ChangeOptions): Promise<Backfill>;
  /** How many occurrences a backfill would be about; writes nothing. */
  countBackfill(job: JobReference, range: BackfillRange, options?: ChangeOptions): Promise<BackfillCount>;
  backfills(job: JobReference, query?: PageQuery, options?: CallOptions): Promise<BackfillList>;
  /** How its last runs went. */
  stats(job: JobReference, options?: CallOptions): Promise<JobStats>;
  /** Of its last run, which failed. */
  retry(job: JobReference, how?: RunRepeat, options?: ChangeOptions): Promise<RunRetried>;
  runs(job: JobReference, query?: JobRunListQuery, options?: CallOptions): Promise<RunList>;
  versions(job: JobReference, query?: PageQuery, options?: CallOptions): Promise<JobVersionList>;
  /** The ledger: occurrences without a scheduled run. */
  occurrences(job: JobReference, query?: PageQuery, options?: CallOptions): Promise<OccurrenceList>;
  /** What the schedules will fire in the next hours. */
  forecast(query?: ForecastQuery, options?: CallOptions): Promise<Forecast>;
  /** Whether it fires, when, and if not, why. */
  explain(job: JobReference, options?: CallOptions): Promise<JobExplanation>;
  upcoming(job: JobReference, query?: UpcomingQuery, options?: CallOptions): Promise<Upcoming>;
}

export function jobCalls(call: Transport): JobCalls {
  const get = <Answer>(path: string, query = {}, given: CallOptions = {}) =>
    call<Answer>({ ...given, method: "GET", path, query });
  const post = <Answer>(path: string, body: unknown, given: ChangeOptions = {}) =>
    call<Answer>({ ...given, method: "POST", path, body });
  const at = (job: JobReference): string => `/v1/jobs/${segment(job)}`;
  return {
    create: (job, given) => post("/v1/jobs", job, given),
    createMany: (jobs, given) => post("/v1/jobs:batchCreate", { jobs }, given),
    preview: (job, query = {}, given = {}) =>
      call({ ...given, method: "POST", path: "/v1/jobs:preview", query, body: job }),
    get: (job, given) => get(at(job), {}, given),
    list: (query, given) => get("/v1/jobs", query, given),
    put: (job, definition, given = {}) => call({ ...given, method: "PUT", path: at(job), body: definition }),
    update: (job, patch, given = {}) => call({ ...given, method: "PATCH", path: at(job), body: patch }),
    delete: (job, query = {}, given = {}) => call({ ...given, method: "DELETE", path: at(job), query }),
    cancel: (job, how = {}, given) => post(`${at(job)}:cancel`, how, given),
    pause: (job, how = {}, given) => post(`${at(job)}:pause`, how, given),
    resume: (job, how = {}, given) => post(`${at(job)}:resume`, how, given),
    rollback: (job, version, given) => post(`${at(job)}:rollback`, { version }, given),
    runNow: (job, body = {}, { wait, ...given } = {}) =>
      call({ ...given, method: "POST", path: `${at(job)}:runNow`, query: { wait }, body }),
    backfill: (job, range, given) => post(`${at(job)}:backfill`, range, given),
    countBackfill: (job, range, given) => post(`${at(job)}:backfill`, { ...range, dry_run: true }, given),
    backfills: (job, query, given) => get(`${at(job)}/backfills`, query, given),
    stats: (job, given) => get(`${at(job)}/stats`, {}, given),
    retry: (job, how = {}, given) => post(`${at(job)}:retry`, how, given),
    runs: (job, query, given) => get(`${at(job)}/runs`, query, given),
    versions: (job, query, given) => get(`${at(job)}/versions`, query, given),
    occurrences: (job, query, given) => get(`${at(job)}/occurrences`, query, given),
    forecast: (query, given) => get("/v1/forecast", query, given),
    explain: (job, given) => get(`${at(job)}/explain`, {}, given),
    upcoming: (job, query, given) => get(`${at(job)}/upcoming`, query, given),
  };
}
