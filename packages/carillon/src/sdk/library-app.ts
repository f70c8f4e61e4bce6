import { CarillonError, type EnqueueSpec, formatId } from "@carillon/core";
import type { TransactionQuery } from "@carillon/engine";
import {
  type AppWorker,
  type Enqueued,
  type EnqueueItem,
  type EnqueueOptions,
  enqueueTraced,
  jobRequest,
  LocalTransport,
  type Producer,
  type Scheduled,
  type ScheduleOptions,
  type TaskReference,
  WorkerGroup,
  type WorkerSettings,
} from "@carillon/worker";
import { type AppEvent, type AppListener, shownEvent } from "./app-event.js";
import { waitUntilIdle } from "./drain-once.js";
import type { RunningEngine } from "./library-engine.js";
import { defaultNamespace, isEnqueueOnly, type LibraryOptions } from "./library-options.js";

export interface TransactionOptions {
  /** A client of `pg` with an open transaction, or anything that sends a statement with its values over one. */
  readonly tx?: TransactionQuery;
  /** Whether workers are told at the commit; else they find the run by looking, within about a second. */
  readonly notify?: boolean;
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
    this.#options = options;
    this.#namespace = options.namespace ?? defaultNamespace;
  }

  /** Opens the database, brings the schema up to date and starts the engine; calls do it by themselves. */
  async start(): Promise<void> {
    await this.#start();
  }

  /** With `tx` the run is part of the caller's own transaction: it is there if that commits, and else it never was. */
  async enqueue<Input>(
    task: TaskReference<Input>,
    payload: Input,
    options: EnqueueOptions & TransactionOptions = {},
  ): Promise<Enqueued> {
    const { engine, specs } = await this.#start();
    const { tx, notify = false, ...rest } = options;
    const read = specs.read(task, payload, rest);
    const spec = read instanceof Promise ? await read : read;
    const { id, isNew } = await enqueueTraced("active", [spec], ([one = spec]) =>
      tx === undefined
        ? engine.api.enqueue(this.#namespace, one)
        : engine.api.enqueueIn(tx, this.#namespace, one, notify),
    );
    return { id: formatId("run", id), isNew };
  }

  async enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]> {
    const { engine, specs } = await this.#start();
    const read: EnqueueSpec[] = [];
    for (const { payload, ...options } of items) {
      const spec = specs.read(task, payload, options);
      read.push(spec instanceof Promise ? await spec : spec);
    }
    const enqueued = await enqueueTraced("active", read, (runs) => engine.api.enqueueMany(this.#namespace, runs));
    return enqueued.map((one) => {
      if ("error" in one) throw one.error;
      return { id: formatId("run", one.id), isNew: one.isNew };
    });
  }

  async schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled> {
    const { engine, readJob } = await this.#start();
    const request = { ...(await jobRequest(task, options)), key };
    const { job, created } = await engine.api.upsertJob(
      this.#namespace,
      key,
      (current, now) => readJob(request, now, current),
      { actor: null },
    );
    const nextRunAt = job.nextRunAt === null ? null : new Date(job.nextRunAt);
    return { id: formatId("job", job.id), isNew: created, nextRunAt };
  }

  addJob<Input>(task: TaskReference<Input>, time: Date, payload: Input): Promise<Enqueued> {
    return this.enqueue(task, payload, { runAt: time });
  }

  worker(settings: WorkerSettings): AppWorker {
    if (isEnqueueOnly(this.#options)) {
      throw new CarillonError("config_invalid", 'this app only enqueues; give it the role "work" to run tasks');
    }
    const worker = new WorkerGroup({
      settings,
      connect: async () => {
        const { engine, checkTask } = await this.#start();
        settings.tasks.forEach(checkTask);
        const place = { namespace: this.#namespace, nodeId: () => engine.nodeId };
        return () => new LocalTransport(engine.gateway, place);
      },
      onEvent: this.#emit,
      stopAll: () => this.stop(),
    });
    this.#workers.push(worker);
    return worker;
  }

  /** Runs what is due, and what it asks for, until nothing is left; answers how many runs ended. */
  async runOnce(settings: WorkerSettings): Promise<number> {
    const worker = this.worker({ ...settings, signals: false });
    const { engine, database } = await this.#start();
    const tasks = settings.tasks.map(({ name }) => name);
    let ended = 0;
    const stopCounting = this.on("run.finished", (event) => {
      if (tasks.includes(event.task)) ended++;
    });
    try {
      await worker.start();
      await waitUntilIdle({ api: engine.api, namespace: this.#namespace, tasks, now: () => database.clock.now() });
    } finally {
      await worker.stop();
      this.#workers.splice(this.#workers.indexOf(worker), 1);
      stopCounting();
    }
    return ended;
  }

  /** Answers a function that takes the listener away. */
  on<Type extends AppEvent["type"]>(type: Type, listener: AppListener<Type>): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener as (event: AppEvent) => void);
    return () => void listeners.delete(listener as (event: AppEvent) => void);
  }

  /** Lets runs end, gives back the rest, hands the schedules over. A pool of the application stays open. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
    const running = await this.#running?.catch(() => null);
    await running?.engine.stop();
    await running?.close();
  }

  #start(): Promise<RunningEngine> {
    if (this.#stopping !== null) throw new CarillonError("shutting_down", "the app was stopped");
    const running = (this.#running ??= this.#load());
    // A start that failed is tried again by the next call.
    running.catch(() => {
      if (this.#running === running) this.#running = null;
    });
    return running;
  }

  /** Read only here: an app over a server loads neither the engine nor a database driver. */
  async #load(): Promise<RunningEngine> {
    const { startLibraryEngine } = await import("./library-engine.js");
    return startLibraryEngine(this.#options, this.#emit);
  }

  readonly #emit = (event: AppEvent): void => {
    const listeners = this.#listeners.get(event.type);
    if (listeners === undefined || listeners.size === 0) return;
    const shown = shownEvent(event);
    for (const listener of listeners) listener(shown);
  };
}
