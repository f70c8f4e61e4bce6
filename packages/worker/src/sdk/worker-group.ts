import { hostname } from "node:os";
import { workerTimers } from "../runtime/timers.js";
import type { Transport } from "../runtime/transport.js";
import { Worker, type WorkerEvent } from "../runtime/worker.js";
import type { AppWorker, WorkerSettings } from "./app.js";
import { ServerRefused } from "../transport/http/server-calls.js";
import { stderrReporter } from "./stderr-reporter.js";
import { taskRefusal } from "./task-refusal.js";
import { workerTask } from "./worker-task.js";

export interface WorkerGroupOptions {
  readonly settings: WorkerSettings;
  /** Connects to the engine. The result creates a transport for each worker of the group. */
  readonly connect: () => Promise<() => Transport>;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Called on SIGTERM and SIGINT. */
  readonly stopAll: () => Promise<void>;
}

const defaultSlots = 10;
const defaultGraceMs = 30_000;
const defaultNoticeMs = 20_000;
const signals = ["SIGTERM", "SIGINT"] as const;
/** Announces that the machine is reclaimed. */
const noticeSignal = "SIGUSR2";

/** One worker for each queue, so that each queue has its own number of slots. */
export class WorkerGroup implements AppWorker {
  readonly #options: WorkerGroupOptions;
  readonly #report: (event: WorkerEvent) => void;
  #workers: readonly Worker[] = [];
  #state: "new" | "started" | "stopped" = "new";

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#report =
      options.settings.onEvent ?? stderrReporter({ write: writeToStderr, monotonic: () => workerTimers.monotonic() });
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "started";
    const { settings, connect } = this.#options;
    const newTransport = await connect();
    if (this.#isStopped()) return;
    const tasks = settings.tasks.map((definition) => workerTask(definition, workerTimers.soon));
    this.#workers = Object.entries(slotsByQueue(settings)).map(
      ([queue, slots]) =>
        new Worker({
          transport: newTransport(),
          tasks,
          name: settings.name ?? hostname(),
          queues: [queue],
          slots,
          ...(settings.labels !== undefined && { labels: settings.labels }),
          ...(settings.spot === true && { isSpot: true }),
          ...(settings.namespaces !== undefined && { namespaces: settings.namespaces }),
          timers: workerTimers,
          onEvent: this.#onEvent,
        }),
    );
    await Promise.all(this.#workers.map((worker) => worker.start())).catch((error: unknown) => {
      throw (error instanceof ServerRefused && taskRefusal(error.items)) || error;
    });
    if (settings.signals === false || this.#isStopped()) return;
    for (const signal of signals) process.once(signal, this.#onSignal);
    if (settings.spot === true) process.once(noticeSignal, this.#onNotice);
  }

  /** May change while `start` awaits. */
  #isStopped(): boolean {
    return this.#state === "stopped";
  }

  async leave(): Promise<void> {
    this.#removeSignalHandlers();
    const { noticeMs = defaultNoticeMs } = this.#options.settings;
    await Promise.all(this.#workers.map((worker) => worker.leave(noticeMs)));
  }

  async stop(): Promise<void> {
    this.#removeSignalHandlers();
    const { graceMs = defaultGraceMs } = this.#options.settings;
    await Promise.all(this.#workers.map((worker) => worker.stop(graceMs)));
  }

  /** A drain request of an operator has the effect of a signal, but does not end the process. */
  readonly #onEvent = (event: WorkerEvent): void => {
    this.#options.onEvent(event);
    this.#report(event);
    if (event.type === "worker.drain_requested") void (event.isNotice ? this.leave() : this.stop());
  };

  #removeSignalHandlers(): void {
    this.#state = "stopped";
    for (const signal of signals) process.removeListener(signal, this.#onSignal);
    process.removeListener(noticeSignal, this.#onNotice);
  }

  readonly #onNotice = (): void => void this.leave();

  /** Stops the app, then sends the signal again for its default effect. A second signal ends the process at once. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    for (const other of signals) process.removeListener(other, this.#onSignal);
    void this.#options.stopAll().finally(() => process.kill(process.pid, signal));
  };
}

const writeToStderr = (line: string): void => void process.stderr.write(`${line}\n`);

function slotsByQueue({ queues, tasks }: WorkerSettings): Readonly<Record<string, number>> {
  return queues ?? Object.fromEntries(tasks.map(({ defaults }) => [defaults.queue ?? "default", defaultSlots]));
}
