import { CarillonError, type ErrorCode, parseId, parseJobStatusFilter, parseStatusFilter } from "@carillon/core";
import type { JobListQuery, RunListQuery } from "@carillon/contract";
import type { JobFilter, RunFilter } from "@carillon/engine";

interface SharedQuery {
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly user_id?: string;
}

interface SharedFilter {
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
}

/** Members are always written in the same order: the page token's fingerprint is made from the JSON. */
function sharedFilter({ task, queue, owner, user_id: userId }: SharedQuery): SharedFilter {
  if (owner !== undefined && userId !== undefined && owner !== userId) {
    throw refused("?user_id", "field_invalid", "says the same as ?owner; send one of them");
  }
  const theOwner = owner ?? userId;
  return {
    ...(task !== undefined && { task }),
    ...(queue !== undefined && { queue }),
    ...(theOwner !== undefined && { owner: theOwner }),
  };
}

export function jobFilter(query: JobListQuery): JobFilter {
  const { status } = query;
  return {
    ...(status !== undefined && { status: parsed("?status", () => parseJobStatusFilter(status)) }),
    ...sharedFilter(query),
  };
}

/** Undefined if nothing can match, because no worker can have such an id. */
export function runFilter(query: RunListQuery, jobId?: string): RunFilter | undefined {
  const { status, job_id: jobText, worker_id: workerText } = query;
  const job = jobId ?? (jobText === undefined ? undefined : parsed("?job_id", () => parseId("job", jobText)));
  const workerId = workerText === undefined ? undefined : workerIdOf(workerText);
  if (workerId === null) return undefined;
  return {
    ...(status !== undefined && { status: parsed("?status", () => parseStatusFilter(status)) }),
    ...sharedFilter(query),
    ...(job !== undefined && { jobId: job }),
    ...(workerId !== undefined && { workerId }),
  };
}

/** Callers of other systems name workers as they like; asking for one that we never had is a question with an answer. */
function workerIdOf(text: string): string | null {
  try {
    return parseId("wrk", text);
  } catch (error) {
    if (error instanceof CarillonError) return null;
    throw error;
  }
}

/** Adds to a parser's refusal which parameter it is about. */
function parsed<Value>(pointer: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw error instanceof CarillonError ? refused(pointer, error.code, error.message) : error;
  }
}

function refused(pointer: string, code: ErrorCode, detail: string): CarillonError {
  return new CarillonError(code, `${pointer}: ${detail}`, { items: [{ pointer, code, detail }] });
}
