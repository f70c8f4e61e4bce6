import type { WorkerEvent } from "../runtime/worker-options.js";
import type { EnqueueOptions, ScheduleOptions, TaskReference } from "./options.js";
import type { TaskDefinition } from "./task.js";

/** What became of a request for a run. */
export interface Enqueued {
  /** run_… */
  readonly id: string;
  /** False: this run counts for the same dedupe key. */
  readonly isNew: boolean;
}

export interface Scheduled {
  /** job_… */
  readonly id: string;
  /** False: the job of this key was there, and has this definition now. */
  readonly isNew: boolean;
  readonly nextRunAt: Date | null;
}

/** One run of enqueueMany. */
export interface EnqueueItem<Input> extends EnqueueOptions {
  readonly payload: Input;
}

/** What every app can, wherever the engine is. */
export interface Producer {
  /** Asks for a run; durable when it resolves. */
  enqueue<Input>(task: TaskReference<Input>, payload: Input, options?: EnqueueOptions): Promise<Enqueued>;
  /** Many runs in few round trips, in their order. If one is refused, the error says why; the others are stored. */
  enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]>;
  /** Creates the job of this key, or gives it this definition. */
  schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled>;
  /** A run at a time: enqueue under another name. */
  addJob<Input>(task: TaskReference<Input>, time: Date, payload: Input): Promise<Enqueued>;
  /** Runs tasks in this process. */
  worker(settings: WorkerSettings): AppWorker;
  stop(): Promise<void>;
}

export interface WorkerSettings {
  readonly tasks: readonly TaskDefinition<never, unknown>[];
  /** How many runs of each queue at a time; by default 10 of each queue that the tasks name. */
  readonly queues?: Readonly<Record<string, number>>;
  /** Those whose runs it takes, by their weights, `*` alone for every one; left out: its own. */
  readonly namespaces?: readonly string[];
  readonly name?: string;
  /** What the worker says of itself; runs may require some of it. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Its machine may go at any time: it gets only runs that allow it. SIGUSR2 is the notice that it goes. */
  readonly spot?: boolean;
  /** After such a notice, how long handlers have to save where they are; 20 s by default. */
  readonly noticeMs?: number;
  /** How long runs may go on when the worker stops; 30 s by default. */
  readonly graceMs?: number;
  /** Gets what the worker has to say; without it, failures are printed to standard error, a few of each kind. */
  readonly onEvent?: (event: WorkerEvent) => void;
  /** Whether SIGTERM and SIGINT stop the app and then end the process; true by default. */
  readonly signals?: boolean;
}

export interface AppWorker {
  /** The machine goes: handlers are signalled at once, and what has not ended soon is given back with nothing spent. */
  leave(): Promise<void>;
  start(): Promise<void>;
  /** Takes nothing more, lets runs end within the grace time, gives back the rest. */
  stop(): Promise<void>;
}
