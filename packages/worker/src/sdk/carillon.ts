import {
  type ApiError,
  type Client,
  type ClientOptions,
  createClient,
  problemError,
  type RunCreate,
} from "@carillon/client";
import { CarillonError, systemRandom } from "@carillon/core";
import { wait, workerTimers } from "../runtime/timers.js";
import { activeTraceHeaders } from "../trace/span.js";
import { HttpTransport } from "../transport/http/http-transport.js";
import type { AppWorker, Producer, Scheduled, ScheduleOptions, WorkerSettings } from "./app.js";
import { jobRequest, runRequest } from "./requests.js";
import type { Enqueued, EnqueueItem, EnqueueOptions, TaskReference } from "./task.js";
import { WorkerGroup } from "./worker-group.js";

/**
 * Connects to the server with this URL; without options, to the one that CARILLON_URL names. The package `carillon` has the same
 * function, which can also run the engine in the process.
 */
export function carillon(options: ClientOptions = serverFromEnvironment() ?? refuseMissingUrl()): RemoteApp {
  return new RemoteApp(options);
}

/** CARILLON_URL with CARILLON_TOKEN and CARILLON_NAMESPACE; null if CARILLON_URL is not set. */
export function serverFromEnvironment(): ClientOptions | null {
  const { CARILLON_URL: url, CARILLON_TOKEN: token, CARILLON_NAMESPACE: namespace } = process.env;
  return url ? { url, ...(token && { token }), ...(namespace && { namespace }) } : null;
}

function refuseMissingUrl(): never {
  throw new CarillonError("config_invalid", "Pass the option url, or set CARILLON_URL.");
}

/** The maximum number of runs that the server accepts in one call. */
const maxRunsPerCall = 1_000;

const sleep: NonNullable<ClientOptions["sleep"]> = (ms, signal = new AbortController().signal) =>
  wait(ms, signal, workerTimers);

/** An app whose engine is in a server, reached over HTTP. */
export class RemoteApp implements Producer {
  readonly client: Client;
  readonly #options: ClientOptions;
  readonly #workers: AppWorker[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
    this.client = createClient({ headers: activeTraceHeaders, sleep, ...options });
  }

  async enqueue<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions = {}): Promise<Enqueued> {
    const run = await this.client.runs.create(await runRequest(task, payload, options));
    return { id: run.id, isNew: run.is_new };
  }

  async enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]> {
    const runs: RunCreate[] = [];
    for (const { payload, ...options } of items) runs.push(await runRequest(task, payload, options));
    const enqueued: Enqueued[] = [];
    let firstError: ApiError | null = null;
    for (let start = 0; start < runs.length; start += maxRunsPerCall) {
      const { results } = await this.client.runs.createMany(runs.slice(start, start + maxRunsPerCall));
      for (const { id = "", is_new: isNew = false, problem } of results) {
        if (problem !== undefined) firstError ??= problemError(problem);
        enqueued.push({ id, isNew });
      }
    }
    if (firstError !== null) throw firstError;
    return enqueued;
  }

  async schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled> {
    let isNew = false;
    const onStatus = (status: number): void => {
      isNew = status === 201;
    };
    const job = await this.client.jobs.put(`@${key}`, await jobRequest(task, options), { onStatus });
    return { id: job.id, isNew, nextRunAt: job.next_run_at === null ? null : new Date(job.next_run_at) };
  }

  addJob<Input>(task: TaskReference<Input>, time: Date, payload: Input): Promise<Enqueued> {
    return this.enqueue(task, payload, { runAt: time });
  }

  /** A worker in this process that executes runs of the server. */
  worker(settings: WorkerSettings): AppWorker {
    const { url, token, namespace } = this.#options;
    const caller = { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
    const transportOptions = { urls: [url], timers: workerTimers, random: systemRandom, ...caller };
    const worker = new WorkerGroup({
      settings,
      connect: async () => () => new HttpTransport(transportOptions),
      onEvent: () => undefined,
      stopAll: () => this.stop(),
    });
    this.#workers.push(worker);
    return worker;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}
