import {
  type ApiError,
  type Client,
  type ClientOptions,
  createClient,
  problemError,
  type RunCreate,
} from "@carillon/client";
import { systemRandom } from "@carillon/core";
import { wait } from "../runtime/wait.js";
import { activeTraceHeaders } from "../trace/span.js";
import { HttpTransport } from "../transport/http/http-transport.js";
import type { AppWorker, Enqueued, EnqueueItem, Producer, Scheduled, WorkerSettings } from "./app.js";
import type { EnqueueOptions, ScheduleOptions, TaskReference } from "./options.js";
import { jobRequest, runRequest } from "./requests.js";
import { WorkerGroup } from "./worker-group.js";
import { workerTimers } from "./worker-timers.js";

/** What the server takes at a time. */
const mostInCall = 1_000;

const sleep: NonNullable<ClientOptions["sleep"]> = (ms, signal = new AbortController().signal) =>
  wait(ms, signal, workerTimers);

/** A server somewhere else, over HTTP. */
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
    let refused: ApiError | null = null;
    for (let first = 0; first < runs.length; first += mostInCall) {
      const { results } = await this.client.runs.createMany(runs.slice(first, first + mostInCall));
      for (const { id = "", is_new: isNew = false, problem } of results) {
        if (problem !== undefined) refused ??= problemError(problem);
        enqueued.push({ id, isNew });
      }
    }
    if (refused !== null) throw refused;
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

  /** Runs tasks in this process for the server. */
  worker(settings: WorkerSettings): AppWorker {
    const { url, token, namespace } = this.#options;
    const caller = { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
    const way = { urls: [url], timers: workerTimers, random: systemRandom, ...caller };
    const worker = new WorkerGroup({
      settings,
      connect: async () => () => new HttpTransport(way),
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
