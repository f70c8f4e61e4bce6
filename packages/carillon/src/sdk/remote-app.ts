import { type Client, type ClientOptions, createClient } from "@carillon/client";
import type { Enqueued, Producer, Scheduled } from "./app.js";
import { type EnqueueOptions, jobRequest, runRequest, type ScheduleOptions, type TaskReference } from "./requests.js";

/** A server somewhere else, over HTTP. */
export class RemoteApp implements Producer {
  readonly client: Client;

  constructor(options: ClientOptions) {
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

  async stop(): Promise<void> {}
}
