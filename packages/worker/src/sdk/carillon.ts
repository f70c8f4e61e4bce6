import {
  type ApiError,
  type Client,
  type ClientOptions,
  clientOptions,
  createClient,
  problemError,
  type RunCreate,
  ServerUnreachable,
} from "@carillon/client";
import { checkOptions, type TimeInput } from "@carillon/contract/check";
import { CarillonError, systemRandom } from "@carillon/core";
import { wait, workerTimers } from "../runtime/timers.js";
import { activeTraceHeaders } from "../trace/span.js";
import { answersAs, localServers } from "./local-server.js";
import { HttpTransport } from "../transport/http/http-transport.js";
import type { AppWorker, Producer, Scheduled, ScheduleOptions, WorkerSettings } from "./app.js";
import { enqueueItems, enqueueOptions } from "./call-options.js";
import { checkRunCall, checkScheduleCall, checkTime, checkWorkerSettings } from "./check-calls.js";
import { jobRequest, runRequest } from "./requests.js";
import type { Enqueued, EnqueueItem, EnqueueOptions, TaskReference } from "./task.js";
import { WorkerGroup } from "./worker-group.js";

/**
 * Connects to the server with this URL; without options, to the one that CARILLON_URL names. The package `carillon` has the same
 * function, which can also run the engine in the process.
 */
export function carillon(
  options: ClientOptions = serverFromEnvironment() ?? serverOfFolder() ?? refuseMissingUrl(),
): RemoteApp {
  return new RemoteApp(options);
}

/** CARILLON_URL with CARILLON_TOKEN and CARILLON_NAMESPACE; null if CARILLON_URL is not set. */
export function serverFromEnvironment(): ClientOptions | null {
  const { CARILLON_URL: url } = process.env;
  return url ? { url, ...callerFromEnvironment() } : null;
}

function callerFromEnvironment(): Omit<ClientOptions, "url"> {
  const { CARILLON_TOKEN: token, CARILLON_NAMESPACE: namespace } = process.env;
  return { ...(token && { token }), ...(namespace && { namespace }) };
}

/** No caller can give it: options are checked by their names. */
const checkServer = Symbol("check of the server");

interface ServerOfFolder extends ClientOptions {
  /** Throws if another process, or none, answers at the address. */
  readonly [checkServer]: () => Promise<void>;
}

/**
 * The server that runs in the working directory or a folder above it, such as that of `carillon dev`; null if there is none. The first
 * request checks that the process at its address is that server.
 */
export function serverOfFolder(): ServerOfFolder | null {
  const [server] = localServers({ cwd: process.cwd(), env: process.env })?.alive ?? [];
  if (server === undefined) return null;
  let isChecked = false;
  const check = async (): Promise<void> => {
    isChecked ||= await answersAs(server);
    if (isChecked) return;
    const message = `The server of ${server.folder}, process ${server.pid}, does not answer at ${server.url}.`;
    throw new ServerUnreachable("network", message, null);
  };
  return {
    url: server.url,
    ...callerFromEnvironment(),
    [checkServer]: check,
    fetch: async (input, init) => {
      await check();
      return fetch(input, init);
    },
  };
}

function refuseMissingUrl(): never {
  throw new CarillonError(
    "config_invalid",
    "Pass the option url, or set CARILLON_URL, or start carillon dev in this folder.",
  );
}

/** The maximum number of runs that the server accepts in one call. */
const maxRunsPerCall = 1_000;

const sleep: NonNullable<ClientOptions["sleep"]> = (ms, signal = new AbortController().signal) =>
  wait(ms, signal, workerTimers);

/** An app whose engine is in a server, reached over HTTP. */
export class RemoteApp implements Producer {
  readonly client: Client;
  readonly #options: ClientOptions & Partial<ServerOfFolder>;
  readonly #workers: AppWorker[] = [];

  constructor(options: ClientOptions & Partial<ServerOfFolder>) {
    checkOptions(clientOptions, options, { name: "carillon", code: "config_invalid" });
    this.#options = options;
    this.client = createClient({ headers: activeTraceHeaders, sleep, ...options });
  }

  async enqueue<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions = {}): Promise<Enqueued> {
    checkRunCall("app.enqueue", task, enqueueOptions, options);
    const run = await this.client.runs.create(await runRequest(task, payload, options));
    return { id: run.id, isNew: run.is_new };
  }

  async enqueueMany<Input>(task: TaskReference<Input>, items: readonly EnqueueItem<Input>[]): Promise<Enqueued[]> {
    checkRunCall("app.enqueueMany", task, enqueueItems, items);
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
    checkScheduleCall("app.schedule", { task, key }, options);
    let isNew = false;
    const onStatus = (status: number): void => {
      isNew = status === 201;
    };
    const job = await this.client.jobs.put(`@${key}`, await jobRequest(task, options), { onStatus });
    return { id: job.id, isNew, nextRunAt: job.next_run_at === null ? null : new Date(job.next_run_at) };
  }

  async addJob<Input>(task: TaskReference<Input>, time: TimeInput, payload: Input): Promise<Enqueued> {
    checkTime("app.addJob", task, time);
    return this.enqueue(task, payload, { runAt: time });
  }

  /** A worker in this process that executes runs of the server. */
  worker(settings: WorkerSettings): AppWorker {
    checkWorkerSettings("app.worker", settings);
    const { url, token, namespace } = this.#options;
    const caller = { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
    const transportOptions = { urls: [url], timers: workerTimers, random: systemRandom, ...caller };
    const worker = new WorkerGroup({
      settings,
      connect: async () => {
        // The transport's requests are its own.
        await this.#options[checkServer]?.();
        return () => new HttpTransport(transportOptions);
      },
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
