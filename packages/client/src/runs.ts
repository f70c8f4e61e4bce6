import type {
  Run,
  RunBatchCreated,
  RunCreate,
  RunCreated,
  RunList,
  RunListQuery,
  RunRepeat,
  RunRetried,
  RunLog,
  RunLogQuery,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, MakeOptions, RunOptions, Transport } from "./transport.js";

export interface RunCalls {
  /** With dedupe it may answer with a run that was there before; `is_new` says so. */
  create(run: RunCreate, options?: RunOptions): Promise<RunCreated>;
  /** Each is stored or refused by itself. */
  createMany(runs: readonly RunCreate[], options?: MakeOptions): Promise<RunBatchCreated>;
  get(id: string, options?: CallOptions): Promise<Run>;
  /** What the run logged, a page at a time; with follow it waits for more. */
  logs(id: string, query?: RunLogQuery, options?: CallOptions): Promise<RunLog>;
  /** A new run in the place of one that failed; asked again, the same one. */
  retry(id: string, how?: RunRepeat, options?: MakeOptions): Promise<RunRetried>;
  /** Another run like one that has ended, every time. */
  replay(id: string, how?: RunRepeat, options?: MakeOptions): Promise<Run>;
  list(query?: RunListQuery, options?: CallOptions): Promise<RunList>;
}

export function runCalls(call: Transport): RunCalls {
  return {
    create: (run, { wait, ...given } = {}) =>
      call({ ...given, method: "POST", path: "/v1/runs", query: { wait }, body: run }),
    createMany: (runs, given = {}) => call({ ...given, method: "POST", path: "/v1/runs:batchCreate", body: { runs } }),
    get: (id, given = {}) => call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}` }),
    logs: (id, query = {}, given = {}) =>
      call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}/logs`, query }),
    retry: (id, body = {}, given = {}) =>
      call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:retry`, body }),
    replay: (id, body = {}, given = {}) =>
      call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:replay`, body }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: "/v1/runs", query }),
  };
}
