import type {
  Job,
  JobCreate,
  JobList,
  JobListQuery,
  JobRunListQuery,
  Readiness,
  Run,
  RunList,
  RunListQuery,
  Version,
} from "@carillon/contract";
import { createTransport, type CallOptions, type ClientOptions } from "./transport.js";

/** A job by its id, or by its key written @key. */
export type JobReference = string;

/**
 * The HTTP API, typed. This is the wire as it is: snake_case, times and durations as text, the types that the server's own
 * schemas give. The SDK puts camelCase and its conveniences on top.
 */
export interface Client {
  readonly jobs: {
    create(job: JobCreate, options?: CallOptions): Promise<Job>;
    get(job: JobReference, options?: CallOptions): Promise<Job>;
    list(query?: JobListQuery, options?: CallOptions): Promise<JobList>;
    runs(job: JobReference, query?: JobRunListQuery, options?: CallOptions): Promise<RunList>;
  };
  readonly runs: {
    get(id: string, options?: CallOptions): Promise<Run>;
    list(query?: RunListQuery, options?: CallOptions): Promise<RunList>;
  };
  version(options?: CallOptions): Promise<Version>;
  /** What the node says of itself; a node that is not ready is an answer, not an error. */
  ready(options?: CallOptions): Promise<Readiness>;
}

export function createClient(options: ClientOptions): Client {
  const call = createTransport(options);
  const get = <Answer>(path: string, given: CallOptions = {}, query = {}) =>
    call<Answer>({ ...given, method: "GET", path, query });
  return {
    jobs: {
      create: (job, given = {}) => call<Job>({ ...given, method: "POST", path: "/v1/jobs", body: job }),
      get: (job, given) => get<Job>(`/v1/jobs/${segment(job)}`, given),
      list: (query, given) => get<JobList>("/v1/jobs", given, query),
      runs: (job, query, given) => get<RunList>(`/v1/jobs/${segment(job)}/runs`, given, query),
    },
    runs: {
      get: (id, given) => get<Run>(`/v1/runs/${segment(id)}`, given),
      list: (query, given) => get<RunList>("/v1/runs", given, query),
    },
    version: (given) => get<Version>("/version", given),
    ready: (given = {}) => call<Readiness>({ ...given, method: "GET", path: "/readyz", alsoGood: [503] }),
  };
}

/** One step of a path. Dots alone would be read as "here" and "above" by every URL parser on the way. */
function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new RangeError(`${JSON.stringify(text)} cannot be an id or a key here`);
  return encodeURIComponent(text);
}
