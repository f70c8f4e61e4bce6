import type { Instant, JobSpec, JobStatus, LabelCondition } from "@carillon/core";
import type { JobView } from "./job-view.js";
import type { RunView } from "../runs/run-view.js";
import type { JobStats, RunFilter } from "@carillon/store";
import type { JobRef, Page, PageRequest, Total, TotalRequest, WaitRequest, Receipt } from "../requests.js";

export interface JobFilter {
  readonly status?: readonly JobStatus[];
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly labels?: readonly LabelCondition[];
  /** Values of payloads by their paths. Throws path_not_searchable for one that nobody declared. */
  readonly payload?: Readonly<Record<string, string>>;
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
}

/** What became of one spec of a batch. */
export type CreatedJob = { readonly id: string } | { readonly error: unknown };

/** What the HTTP API, the CLI in library mode and the SDK ask of the engine. Namespaces go by name. */
export interface EngineApi {
  /** What events call the namespace by. Throws not_found. */
  namespaceId(name: string): Promise<number>;
  /** Durable when it returns. Throws CarillonError key_taken, schedule_in_past, cron_invalid … */
  createJob(namespace: string, spec: JobSpec, receipt?: Receipt): Promise<JobView>;
  /** As createJob for each spec, in their order, faster; a spec that is refused does not keep the others from being stored. */
  createJobs(namespace: string, specs: readonly JobSpec[], receipt?: Receipt): Promise<CreatedJob[]>;
  getJob(namespace: string, ref: JobRef): Promise<JobView | null>;
  listJobs(namespace: string, filter: JobFilter, page: PageRequest): Promise<Page<JobView>>;
  /** The jobs that have these keys now, the newest first. */
  jobsOfKeys(namespace: string, keys: readonly string[]): Promise<readonly JobView[]>;
  getRun(namespace: string, id: string): Promise<RunView | null>;
  /** The run when it has ended; null when it has not in time, or is not there. Throws overloaded. */
  awaitRun(namespace: string, id: string, request: WaitRequest): Promise<RunView | null>;
  listRuns(namespace: string, filter: RunFilter, page: PageRequest): Promise<Page<RunView>>;
  totalRuns(namespace: string, filter: RunFilter, request: TotalRequest): Promise<Total>;
  /** Without regard to status. */
  totalJobs(namespace: string, filter: Omit<JobFilter, "status">, request: TotalRequest): Promise<Total>;
}

export interface JobStatsApi {
  /** How the newest runs of a job went. Throws not_found. */
  jobStats(namespace: string, ref: JobRef): Promise<JobStats>;
}
