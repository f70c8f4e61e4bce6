import type { DurationMs, Instant, JobSpec, JobStatus, LabelCondition } from "@carillon/core";
import type { JobView } from "./job-view.js";
import type { Receipt } from "./receipts.js";
import type { RunView } from "./run-view.js";
import type { RunFilter } from "@carillon/store";

export type JobRef = { readonly id: string } | { readonly key: string };

/** Keyset page: newest first unless said otherwise. `after` is a `next` of this list. */
export interface PageRequest {
  readonly pageSize: number;
  readonly after?: string;
  readonly oldestFirst?: boolean;
}

/** By the planner's statistics, which costs nothing, or by counting, which ends at a bound. */
export type TotalRequest = "estimate" | "exact";

/** How many rows a list has. */
export interface Total {
  readonly count: number;
  readonly accuracy: "exact" | "estimate" | "at_least";
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** What to pass as `after` for the next page; null at the end. A page may be short, or empty, before the last. */
  readonly next: string | null;
}

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

/** How long a caller waits for the end of a run. */
export interface WaitRequest {
  readonly waitMs: DurationMs;
  /** Fires when the caller goes away. */
  readonly signal?: AbortSignal;
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
