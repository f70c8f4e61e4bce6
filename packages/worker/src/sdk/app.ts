import type { TimeInput } from "@carillon/contract/check";
import type { MisfirePolicy, OverlapPolicy } from "@carillon/core";
import type { WorkerEvent } from "../runtime/worker.js";
import type { Enqueued, EnqueueItem, EnqueueOptions, RunDefaults, TaskDefinition, TaskReference } from "./task.js";

export interface ScheduleOptions<Input> extends RunDefaults {
  readonly cron?: string;
  readonly timeZone?: string;
  /** An interval such as "15m". */
  readonly every?: string;
  /** A single time; text without an offset is in the time zone. */
  readonly at?: TimeInput;
  /** The job has no schedule: it runs on request only. */
  readonly manual?: true;
  readonly jitter?: string;
  readonly startsAt?: TimeInput;
  readonly endsAt?: TimeInput;
  readonly maxRuns?: number;
  /** How the two day fields of a cron expression combine when both are restricted; "or" by default. */
  readonly dayMatch?: "or" | "and";
  /** What happens to fixed times at clock changes. */
  readonly dst?: { readonly gap?: "after" | "skip"; readonly overlap?: "first" | "second" | "both" };
  /** Named calendars: days to exclude, or the only days to run on. */
  readonly calendars?: {
    readonly exclude?: readonly string[];
    readonly only?: readonly string[];
    readonly roll?: "skip" | "next" | "previous" | "modified_following";
  };
  /** Starts the job when runs of these jobs end; on success by default. */
  readonly after?: readonly {
    /** Key or id. */
    readonly job: string;
    readonly on?: "success" | "failure" | "finish";
    /** A CEL condition on the run that ended, such as "output.rows > 0". */
    readonly when?: string;
  }[];
  /** With several jobs in `after`: whether all or any of them must end; "all" by default. */
  readonly mode?: "all" | "any";
  readonly payload?: Input;
  readonly overlap?: OverlapPolicy;
  readonly misfire?: MisfirePolicy;
  /** The delay after which a fire counts as missed, such as "1m". */
  readonly misfireThreshold?: string;
  /** How far back missed occurrences are caught up, such as "1d". */
  readonly catchupWindow?: string;
  /** The maximum number of occurrences that are caught up. */
  readonly catchupLimit?: number;
  /** How many caught-up runs start per second. */
  readonly catchupRate?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: string;
}

export interface Scheduled {
  /** job_… */
  readonly id: string;
  /** False: a job with this key existed, and has this definition now. */
  readonly isNew: boolean;
  readonly nextRunAt: Date | null;
}

/** The methods of every app, whether its engine is in this process or in a server. */
export interface Producer {
  /** Creates a run; it is durable when the promise resolves. */
  enqueue<Input>(task: TaskReference<Input>, payload: Input, options?: EnqueueOptions): Promise<Enqueued>;
  /** Creates many runs in few round trips, in their order. If one is refused, throws its error; the others are stored. */
  enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]>;
  /** Creates the job with this key, or replaces its definition. */
  schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled>;
  /** Creates a run at a time: `enqueue` under another name. */
  addJob<Input>(task: TaskReference<Input>, time: TimeInput, payload: Input): Promise<Enqueued>;
  /** A worker in this process. */
  worker(settings: WorkerSettings): AppWorker;
  stop(): Promise<void>;
}

export interface WorkerSettings {
  readonly tasks: readonly TaskDefinition<never, unknown>[];
  /** The number of slots of each queue; by default 10 for each queue that the tasks name. */
  readonly queues?: Readonly<Record<string, number>>;
  /** The namespaces whose runs it takes, by their weights, `*` alone for all; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly name?: string;
  /** Labels of the worker; runs may require some of them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its machine may be reclaimed at any time: it gets only runs that allow that. SIGUSR2 announces the reclaim. */
  readonly spot?: boolean;
  /** How long handlers have to save their state after such a notice; 20 s by default. */
  readonly noticeMs?: number;
  /** How long runs may continue when the worker stops; 30 s by default. */
  readonly graceMs?: number;
  /** Receives the events of the worker; left out: failures are printed to standard error, a few of each kind. */
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Whether SIGTERM and SIGINT stop the app and then end the process; true by default. */
  readonly signals?: boolean;
}

export interface AppWorker {
  /** The machine is reclaimed: signals handlers at once, and gives back the runs that do not end soon; no attempt is spent. */
  leave(): Promise<void>;
  start(): Promise<void>;
  /** Takes no more runs, lets active ones end within the grace time, and gives back the rest. */
  stop(): Promise<void>;
}
