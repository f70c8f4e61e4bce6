import type {
  Backfill,
  BackfillCount,
  BulkCount,
  BulkOperation,
  JobBackfill,
  RunBulk,
  RunLog,
  RunLogQuery,
} from "@carillon/contract";
import { checkOptions } from "@carillon/contract/check";
import { type EventCalls, eventCalls } from "./events.js";
import { type MethodOf, methodOf, type MethodsOf, methodsOf, type OptionsOf, type Route } from "./methods.js";
import { routes } from "./generated/routes.js";
import { clientOptions } from "./options.js";
import { type CallOptions, type ClientOptions, createOpenStream, createTransport } from "./transport.js";

/** A job by its id, or by its key written @key. */
export type JobReference = string;
export type BackfillRange = Omit<JobBackfill, "dry_run">;
export type LogFilter = Omit<RunLogQuery, "follow" | "page_token">;
type BulkRequest = Omit<RunBulk, "dry_run">;

type Groups = typeof routes;
type Calls = {
  readonly [Name in keyof Groups]: Groups[Name] extends Route
    ? MethodOf<Groups[Name]["id"]>
    : Groups[Name] extends Readonly<Record<string, Route>>
      ? MethodsOf<Groups[Name]>
      : never;
};

/** A dry run of a backfill or of a bulk operation has a method of its own, because its answer is another one. */
export interface JobCalls extends Omit<Calls["jobs"], "backfill"> {
  /** Starts runs for instants of the past; see `backfills` for how far they are. */
  backfill(job: JobReference, range: BackfillRange, options?: OptionsOf<"backfillJob">): Promise<Backfill>;
  /** Counts the occurrences of a backfill without starting it. */
  countBackfill(job: JobReference, range: BackfillRange, options?: CallOptions): Promise<BackfillCount>;
}

export interface RunCalls extends Omit<Calls["runs"], "bulk"> {
  /** Starts one action on many runs; see `operations` for how far it is. */
  bulk(request: BulkRequest, options?: OptionsOf<"bulkRuns">): Promise<BulkOperation>;
  /** Counts the runs of a bulk operation without starting it. */
  countBulk(request: BulkRequest, options?: CallOptions): Promise<BulkCount>;
  /** The log lines of a run as they are written, until it has ended and all were read. */
  followLogs(id: string, query?: LogFilter, options?: CallOptions): AsyncGenerator<RunLog["lines"][number], void>;
}

/**
 * The HTTP API, typed, as it is on the wire: snake_case, times and durations as text. Its methods are those that the operations of
 * @carillon/contract declare. The SDK puts camelCase and its conveniences on top.
 */
export interface Client extends Omit<Calls, "jobs" | "runs"> {
  readonly jobs: JobCalls;
  readonly runs: RunCalls;
  readonly events: EventCalls;
}

export function createClient(options: ClientOptions): Client {
  checkOptions(clientOptions, options, { name: "createClient", code: "config_invalid" });
  const call = createTransport(options);
  const table: RouteTable = routes;
  const calls = Object.fromEntries(
    Object.entries(table).map(([name, one]) => [name, isRoute(one) ? methodOf(one, call) : methodsOf(one, call)]),
  ) as unknown as Calls;
  const { jobs, runs } = calls;
  return {
    ...calls,
    jobs: {
      ...jobs,
      backfill: (job, range, given) => jobs.backfill(job, range, given) as Promise<Backfill>,
      countBackfill: (job, range, given) =>
        jobs.backfill(job, { ...range, dry_run: true }, given) as Promise<BackfillCount>,
    },
    runs: {
      ...runs,
      bulk: (request, given) => runs.bulk(request, given) as Promise<BulkOperation>,
      countBulk: (request, given) => runs.bulk({ ...request, dry_run: true }, given) as Promise<BulkCount>,
      async *followLogs(id, query = {}, given = {}) {
        for (let token: string | null | undefined; token !== null;) {
          const page: RunLog = await runs.logs(
            id,
            { ...query, follow: "true", ...(token !== undefined && { page_token: token }) },
            given,
          );
          yield* page.lines;
          token = page.next_page_token;
        }
      },
    },
    events: eventCalls(createOpenStream(options)),
  };
}

type RouteTable = Readonly<Record<string, Route | Readonly<Record<string, Route>>>>;

function isRoute(one: RouteTable[string]): one is Route {
  return typeof one["id"] === "string";
}
