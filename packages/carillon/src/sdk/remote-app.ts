import { type Client, type ClientOptions, createClient } from "@carillon/client";
import { systemRandom } from "@carillon/core";
import { HttpTransport } from "@carillon/worker";
import type { AppWorker, Enqueued, Producer, Scheduled, WorkerSettings } from "./app.js";
import { type EnqueueOptions, jobRequest, runRequest, type ScheduleOptions, type TaskReference } from "./requests.js";
import { WorkerGroup } from "./worker-group.js";
import { workerTimers } from "./worker-timers.js";

/** A server somewhere else, over HTTP. */
export class RemoteApp implements Producer {
  readonly client: Client;
  readonly #options: ClientOptions;
  readonly #workers: AppWorker[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
    this.client = createClient(options);
  }

  async enqueue<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions = {}): Promise<Enqueued> {
    const run = await this.client.runs.create(await runRequest(task, payload, options));
    return { id: run.id, isNew: run.is_new };
  }

  async schedule<Input>(task: TaskReference<Input>, key: string, options: ScheduleOptions<Input>): Promise<Scheduled> {
    const job = await this.client.jobs.put(`@${key}`, await jobRequest(task, options));
    const nextRunAt = job.next_run_at === null ? null : new Date(job.next_run_at);
    return { id: job.id, isNew: job.version === 1, nextRunAt };
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
