import { CarillonError, type EnqueueSpec, type Instant, formatId, runEndEvents, systemTimers } from "@carillon/core";
import { shown as shownValue, type TimeInput } from "@carillon/contract/check";
import type { Engine, EnqueuedRun, TransactionQuery } from "@carillon/engine";
import {
  type AppWorker,
  type CreateRuns,
  type EnqueueItem,
  type EnqueueOptions,
  type Enqueued,
  LocalTransport,
  type Producer,
  type ScheduleOptions,
  type Scheduled,
  type TaskReference,
  WorkerGroup,
  type WorkerSettings,
  checkRunCall,
  checkScheduleCall,
  checkTime,
  checkWorkerSettings,
  enqueueItems,
  enqueueTraced,
  jobRequest,
  transactionOptions,
} from "@carillon/worker";
import {
  type AppEvent,
  type AppEventType,
  type AppListener,
  checkEventTypes,
  shownEvent,
  type SourceEvent,
} from "./app-events.js";
import type { RunningEngine } from "./library-engine.js";
import { type LibraryOptions, checkLibraryOptions, defaultNamespace, isEnqueueOnly } from "./library-options.js";

export interface TransactionOptions {
  /** A client of `pg` with an open transaction, or any object that sends a statement with its values in one. */
  readonly tx?: TransactionQuery;
  /** Whether workers are notified at the commit; otherwise their next poll finds the run, within about a second. */
  readonly notify?: boolean;
}

function toEnqueued(one: EnqueuedRun): Enqueued {
  if ("error" in one) throw one.error;
  return { id: formatId("run", one.id), isNew: one.isNew };
}

/** The engine inside the user's own process, over their own PostgreSQL. It starts with the first call. */
export class LibraryApp implements Producer {
  readonly #options: LibraryOptions;
  readonly #namespace: string;
  readonly #listeners = new Map<string, Set<(event: AppEvent) => void>>();
  readonly #workers: AppWorker[] = [];
  #running: Promise<RunningEngine> | null = null;
  #stopping: Promise<void> | null = null;

  constructor(options: LibraryOptions) {
    checkLibraryOptions(options);
    this.#options = options;
    this.#namespace = options.namespace ?? defaultNamespace;
  }

  /** Opens the database, brings the schema up to date and starts the engine; the first call does so too. */
  async start(): Promise<void> {
    await this.#start();
  }

  /** With `tx` the run is part of the caller's own transaction, and is stored if and only if that commits. */
  async enqueue<Input>(
    task: TaskReference<Input>,
    payload: Input,
    options: EnqueueOptions & TransactionOptions = {},
  ): Promise<Enqueued> {
    checkRunCall("app.enqueue", task, transactionOptions, options);
    const { engine, specs } = await this.#start();
    const { tx, notify = false, ...rest } = options;
    const read = specs.read(task, payload, rest);
    const spec = read instanceof Promise ? await read : read;
    const { id, isNew } = await enqueueTraced("active", [spec], ([one = spec]) =>
      tx === undefined
        ? engine.enqueuer.enqueue(this.#namespace, one)
        : engine.enqueuer.enqueueIn(tx, this.#namespace, one, notify),
    );
    return { id: formatId("run", id), isNew };
  }

  async enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]> {
    checkRunCall("app.enqueueMany", task, enqueueItems, items);
    const { engine, specs } = await this.#start();
    const read: EnqueueSpec[] = [];
    for (const { payload, ...options } of items) {
      const spec = specs.read(task, payload, options);
      read.push(spec instanceof Promise ? await spec : spec);
    }
    const enqueued = await enqueueTraced("active", read, (runs) => engine.enqueuer.enqueueMany(this.#namespace, runs));
    return enqueued.map(toEnqueued);
  }

  async schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled> {
    checkScheduleCall("app.schedule", { task, key }, options);
    const { engine, readJob } = await this.#start();
    const request = { ...(await jobRequest(task, options)), key };
    const { job, created } = await engine.jobs.upsert(
      this.#namespace,
      key,
      (current, now) => readJob(request, now, current),
      { actor: null },
    );
    const nextRunAt = job.nextRunAt === null ? null : new Date(job.nextRunAt);
    return { id: formatId("job", job.id), isNew: created, nextRunAt };
  }

  async addJob<Input>(task: TaskReference<Input>, time: TimeInput, payload: Input): Promise<Enqueued> {
    checkTime("app.addJob", task, time);
    return this.enqueue(task, payload, { runAt: time });
  }

  worker(settings: WorkerSettings): AppWorker {
    checkWorkerSettings("app.worker", settings);
    if (isEnqueueOnly(this.#options)) {
      throw new CarillonError("config_invalid", 'This app only enqueues. Give it the role "work" to run tasks.');
    }
    const worker = new WorkerGroup({
      settings,
      connect: async () => {
        const { engine, gateway, checkTask } = await this.#start();
        settings.tasks.forEach(checkTask);
        const place = { namespace: this.#namespace, nodeId: () => engine.nodeId };
        return () => new LocalTransport(gateway, place, this.#createRuns);
      },
      onEvent: this.#emit,
      stopAll: () => this.stop(),
    });
    this.#workers.push(worker);
    return worker;
  }

  /** For handlers: runs in the namespace and the trace of their own run. */
  readonly #createRuns: CreateRuns = async ({ namespace = this.#namespace, ...trace }, requests) => {
    const { engine, readRun } = await this.#start();
    const specs = requests.map((request) => readRun(request, namespace));
    const parent = { traceparent: trace.traceparent, tracestate: trace.tracestate };
    const stored = await enqueueTraced(parent, specs, (runs) => engine.enqueuer.enqueueMany(namespace, runs));
    return stored.map(toEnqueued);
  };

  /** Runs the due runs of these tasks, and the runs that they enqueue, until none is left; returns how many ended. */
  async runOnce(settings: WorkerSettings): Promise<number> {
    checkWorkerSettings("app.runOnce", settings);
    const worker = this.worker({ ...settings, signals: false });
    const { engine, database } = await this.#start();
    const tasks = settings.tasks.map(({ name }) => name);
    let ended = 0;
    const stopCounting = this.on(Object.values(runEndEvents), (event) => {
      if (tasks.includes(event.task)) ended++;
    });
    try {
      await worker.start();
      await waitUntilIdle({ engine, namespace: this.#namespace, tasks, now: () => database.clock.now() });
    } finally {
      await worker.stop();
      this.#workers.splice(this.#workers.indexOf(worker), 1);
      stopCounting();
    }
    return ended;
  }

  /** Calls the listener for each event of this type, or of these types. Returns a function that removes the listener. */
  on<Type extends AppEventType>(types: Type | readonly Type[], listener: AppListener<Type>): () => void {
    const wanted = checkEventTypes(types);
    if (typeof listener !== "function")
      throw new CarillonError(
        "config_invalid",
        `app.on(): the listener must be a function, not ${shownValue(listener)}.`,
      );
    const added = listener as (event: AppEvent) => void;
    for (const type of wanted) {
      const listeners = this.#listeners.get(type) ?? new Set();
      this.#listeners.set(type, listeners.add(added));
    }
    return () => {
      for (const type of wanted) this.#listeners.get(type)?.delete(added);
    };
  }

  /** Lets runs end, gives back the rest, and releases the shards. A pool of the application stays open. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    const running = await this.#running?.catch(() => null);
    await running?.stopEngine();
    await running?.close();
  }

  #start(): Promise<RunningEngine> {
    if (this.#stopping !== null) throw new CarillonError("shutting_down", "The app was stopped.");
    const running = (this.#running ??= this.#load());
    // The next call retries a failed start.
    running.catch(() => {
      if (this.#running === running) this.#running = null;
    });
    return running;
  }

  /** Loaded only here: an app over a server loads neither the engine nor a database driver. */
  async #load(): Promise<RunningEngine> {
    const { startLibraryEngine } = await import("./library-engine.js");
    return startLibraryEngine(this.#options, this.#emit);
  }

  readonly #emit = (event: SourceEvent): void => {
    const listeners = this.#listeners.get(event.type);
    if (listeners === undefined || listeners.size === 0) return;
    const shown = shownEvent(event);
    for (const listener of listeners) listener(shown);
  };
}

export interface IdleOptions {
  readonly engine: Pick<Engine, "runs">;
  readonly namespace: string;
  readonly tasks: readonly string[];
  /** The database's clock. */
  readonly now: () => Instant;
}

const pollMs = 20;

/** Resolves when no run of these tasks is due or running. */
async function waitUntilIdle({ engine, namespace, tasks, now }: IdleOptions): Promise<void> {
  const isLeft = async (task: string): Promise<boolean> => {
    const open = await engine.runs.list(namespace, { task, status: ["queued", "running", "blocked"] }, { pageSize: 1 });
    if (open.rows.length > 0) return true;
    const waiting = await engine.runs.list(namespace, { task, status: ["scheduled", "retrying"] }, { pageSize: 1_000 });
    return waiting.rows.some((run) => run.runAt <= now());
  };
  for (;;) {
    const left = await Promise.all(tasks.map(isLeft));
    if (!left.includes(true)) return;
    await new Promise<void>((resolve) => void systemTimers.setTimeout(resolve, pollMs));
  }
}
