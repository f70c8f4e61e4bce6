import {
  CarillonError,
  type Instant,
  type LabelCondition,
  parseId,
  parseJobStatusFilter,
  parseLabelSelector,
  parseStatusFilter,
} from "@carillon/core";
import { type JobListQuery, queryInstant, type RunListQuery } from "@carillon/contract";
import type { JobFilter, RunFilter } from "@carillon/engine";
import { parsed, refused } from "./http/errors.js";

interface SharedQuery {
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly label_selector?: string;
  readonly created_after?: string;
  readonly created_before?: string;
  readonly payload?: Readonly<Record<string, string>>;
}

interface SharedFilter {
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly labels?: readonly LabelCondition[];
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
  readonly payload?: Readonly<Record<string, string>>;
}

/** Members are always written in the same order: the fingerprint in the page token is made from the JSON. */
function sharedFilter(query: SharedQuery): SharedFilter {
  const { task, queue, owner, label_selector: selector } = query;
  const { created_after: after, created_before: before } = query;
  return {
    ...(task !== undefined && { task }),
    ...(queue !== undefined && { queue }),
    ...(owner !== undefined && { owner }),
    ...(selector !== undefined && { labels: parsed("?label_selector", () => parseLabelSelector(selector)) }),
    ...(after !== undefined && { createdFrom: parsed("?created_after", () => queryInstant(after)) }),
    ...(before !== undefined && { createdBefore: parsed("?created_before", () => queryInstant(before)) }),
    ...(query.payload !== undefined && { payload: sorted(query.payload) }),
  };
}

function sorted(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export function jobFilter(query: JobListQuery): JobFilter {
  const { status } = query;
  return {
    ...(status !== undefined && { status: parsed("?status", () => parseJobStatusFilter(status)) }),
    ...sharedFilter(query),
  };
}

/** Undefined if no run can match, because no worker can have such an id. */
export function runFilter(query: RunListQuery, jobId?: string): RunFilter | undefined {
  const { status, job_id: jobText, worker_id: workerText, trigger } = query;
  const job = jobId ?? (jobText === undefined ? undefined : parsed("?job_id", () => parseId("job", jobText)));
  const workerId = workerText === undefined ? undefined : workerIdOf(workerText);
  const filter: RunFilter = {
    ...(status !== undefined && { status: parsed("?status", () => parseStatusFilter(status)) }),
    ...sharedFilter(query),
    ...(job !== undefined && { jobId: job }),
    ...(workerId && { workerId }),
    ...(trigger !== undefined && { trigger }),
  };
  // Only now: a wrong filter is refused, also beside such a worker.
  return workerId === null ? undefined : filter;
}

/** Null for a text that is not an id: callers of other systems may name workers differently, and get an empty list. */
function workerIdOf(text: string): string | null {
  try {
    return parseId("wrk", text);
  } catch (error) {
    if (error instanceof CarillonError) return null;
    throw error;
  }
}

/** The status of a job is derived from its runs: a count by status would read all of them. */
export function refuseTotalWithStatus({ status }: JobListQuery): void {
  if (status === undefined) return;
  throw refused("?total", "field_invalid", "cannot be combined with ?status; leave out one of the two");
}

/** The requested keys; null: the query has none. Keys select the jobs completely, so that no other filter is allowed beside them. */
export function keysOf({ key, ...others }: JobListQuery): readonly string[] | null {
  if (key === undefined) return null;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw refused(`?${other}`, "field_invalid", "cannot be combined with ?key, which returns all jobs with these keys");
  return [...new Set(key.split(","))];
}
