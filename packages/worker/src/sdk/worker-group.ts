import { hostname } from "node:os";
import type { Transport } from "../runtime/transport.js";
import { Worker } from "../runtime/worker.js";
import type { WorkerEvent } from "../runtime/worker-options.js";
import type { AppWorker, WorkerSettings } from "./app.js";
import { failureTalk } from "./failure-talk.js";
import { workerTimers } from "./worker-timers.js";
import { workerTask } from "./worker-task.js";

export interface WorkerGroupOptions {
  readonly settings: WorkerSettings;
  /** Makes the way to the engine for one runtime. */
  readonly connect: () => Promise<() => Transport>;
  readonly onEvent: (event: WorkerEvent) => void;
  /** What a signal to the process stops. */
  readonly stopAll: () => Promise<void>;
}

const defaultSlots = 10;
const defaultGraceMs = 30_000;
const defaultNoticeMs = 20_000;
const signals = ["SIGTERM", "SIGINT"] as const;
/** Sent by whoever hears that the machine goes. */
const noticeSignal = "SIGUSR2";

/** One runtime for each queue, so that each has its own number of slots. */
export class WorkerGroup implements AppWorker {
  readonly #options: WorkerGroupOptions;
  readonly #talk: (event: WorkerEvent) => void;
  #workers: readonly Worker[] = [];
  #state: "new" | "started" | "stopped" = "new";

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#talk =
      options.settings.onEvent ?? failureTalk({ write: toStandardError, monotonic: () => workerTimers.monotonic() });
  }

  async start(): Promise<void> {
    if (this.#state !== "new") return;
    this.#state = "started";
    const { settings, connect } = this.#options;
    const newTransport = await connect();
    if (this.#isStopped()) return;
    const tasks = settings.tasks.map((definition) => workerTask(definition, workerTimers.soon));
    this.#workers = Object.entries(queuesOf(settings)).map(
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
    await Promise.all(this.#workers.map((worker) => worker.start()));
    if (settings.signals === false || this.#isStopped()) return;
    for (const signal of signals) process.once(signal, this.#onSignal);
    if (settings.spot === true) process.once(noticeSignal, this.#onNotice);
  }

  /** Also while it starts. */
  #isStopped(): boolean {
    return this.#state === "stopped";
  }

  async leave(): Promise<void> {
    this.#leaveSignals();
    const { noticeMs = defaultNoticeMs } = this.#options.settings;
    await Promise.all(this.#workers.map((worker) => worker.leave(noticeMs)));
  }

  async stop(): Promise<void> {
    this.#leaveSignals();
    const { graceMs = defaultGraceMs } = this.#options.settings;
    await Promise.all(this.#workers.map((worker) => worker.stop(graceMs)));
  }

  /** An operator may ask a worker to go: what it would do on a signal, without ending the process. */
  readonly #onEvent = (event: WorkerEvent): void => {
    this.#options.onEvent(event);
    this.#talk(event);
    if (event.type === "worker.drain_asked") void (event.isNotice ? this.leave() : this.stop());
  };

  #leaveSignals(): void {
    this.#state = "stopped";
    for (const signal of signals) process.removeListener(signal, this.#onSignal);
    process.removeListener(noticeSignal, this.#onNotice);
  }

  readonly #onNotice = (): void => void this.leave();

  /** Afterwards the signal comes again, and does what it would have done without us. A second one ends at once. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    for (const other of signals) process.removeListener(other, this.#onSignal);
    void this.#options.stopAll().finally(() => process.kill(process.pid, signal));
  };
}

const toStandardError = (line: string): void => void process.stderr.write(`${line}\n`);

function queuesOf({ queues, tasks }: WorkerSettings): Readonly<Record<string, number>> {
  return queues ?? Object.fromEntries(tasks.map(({ defaults }) => [defaults.queue ?? "default", defaultSlots]));
}
