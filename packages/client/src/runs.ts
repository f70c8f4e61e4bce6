import type {
  BulkCount,
  BulkOperation,
  RunAttempts,
  RunBulk,
  RunEvents,
  RunReschedule,
  Run,
  RunBatchCreated,
  RunCreate,
  RunCreated,
  RunExplanation,
  RunList,
  RunListQuery,
  RunRepeat,
  RunRetried,
  RunLog,
  RunLogQuery,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, MakeOptions, RunOptions, Transport } from "./transport.js";

export type LogFilter = Omit<RunLogQuery, "follow" | "page_token">;

export interface RunCalls {
  /** With dedupe it may answer with a run that was there before; `is_new` says so. */
  create(run: RunCreate, options?: RunOptions): Promise<RunCreated>;
  /** Each is stored or refused by itself. */
  createMany(runs: readonly RunCreate[], options?: MakeOptions): Promise<RunBatchCreated>;
  get(id: string, options?: CallOptions & Pick<RunOptions, "wait">): Promise<Run>;
  /** Why it does not run: one answer with its numbers. */
  explain(id: string, options?: CallOptions): Promise<RunExplanation>;
  /** What the run logged, a page at a time; with follow it waits for more. */
  logs(id: string, query?: RunLogQuery, options?: CallOptions): Promise<RunLog>;
  /** Its lines as they come, until it has ended and there are no more. */
  followLogs(id: string, query?: LogFilter, options?: CallOptions): AsyncGenerator<RunLog["lines"][number], void>;
  /** A new run in the place of one that failed; asked again, the same one. */
  retry(id: string, how?: RunRepeat, options?: MakeOptions): Promise<RunRetried>;
  /** Another run like one that has ended, every time. */
  replay(id: string, how?: RunRepeat, options?: MakeOptions): Promise<Run>;
  cancel(id: string, options?: MakeOptions): Promise<Run>;
  /** Another time for a run that waits. */
  reschedule(id: string, when: RunReschedule, options?: MakeOptions): Promise<Run>;
  attempts(id: string, options?: CallOptions): Promise<RunAttempts>;
  /** What became of it, step by step. */
  events(id: string, options?: CallOptions): Promise<RunEvents>;
  /** The same to many runs; goes on by itself, see `operations`. */
  bulk(what: Omit<RunBulk, "dry_run">, options?: MakeOptions): Promise<BulkOperation>;
  /** How many runs that would be about. */
  countBulk(what: Omit<RunBulk, "dry_run">, options?: CallOptions): Promise<BulkCount>;
  list(query?: RunListQuery, options?: CallOptions): Promise<RunList>;
}

export function runCalls(call: Transport): RunCalls {
  const logs: RunCalls["logs"] = (id, query = {}, given = {}) =>
    call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}/logs`, query });
  return {
    create: (run, { wait, ...given } = {}) =>
      call({ ...given, method: "POST", path: "/v1/runs", query: { wait }, body: run }),
    createMany: (runs, given = {}) => call({ ...given, method: "POST", path: "/v1/runs:batchCreate", body: { runs } }),
    get: (id, { wait, ...given } = {}) =>
      call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}`, query: { wait } }),
    explain: (id, given = {}) => call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}/explain` }),
    logs,
    async *followLogs(id, query = {}, given = {}) {
      for (let token: string | null | undefined; token !== null;) {
        const page: RunLog = await logs(
          id,
          { ...query, follow: "true", ...(token !== undefined && { page_token: token }) },
          given,
        );
        yield* page.lines;
        token = page.next_page_token;
      }
    },
    retry: (id, body = {}, given = {}) =>
      call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:retry`, body }),
    replay: (id, body = {}, given = {}) =>
      call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:replay`, body }),
    cancel: (id, given = {}) => call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:cancel` }),
    reschedule: (id, body, given = {}) =>
      call({ ...given, method: "POST", path: `/v1/runs/${segment(id)}:reschedule`, body }),
    attempts: (id, given = {}) => call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}/attempts` }),
    events: (id, given = {}) => call({ ...given, method: "GET", path: `/v1/runs/${segment(id)}/events` }),
    bulk: (body, given = {}) => call({ ...given, method: "POST", path: "/v1/runs:bulk", body }),
    countBulk: (what, given = {}) =>
      call({ ...given, method: "POST", path: "/v1/runs:bulk", body: { ...what, dry_run: true } }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: "/v1/runs", query }),
  };
}
