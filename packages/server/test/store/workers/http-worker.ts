import { systemClock, systemRandom, systemSoon, systemTimers } from "@carillon/core";
import {
  HttpTransport,
  mainLoopHeartbeat,
  type Task,
  type TaskContext,
  Worker,
  type WorkerEvent,
} from "@carillon/worker";

const workerTimers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

/** A running handler, whose result the test decides. */
export interface Call {
  readonly payload: unknown;
  readonly context: TaskContext;
  readonly succeed: (output: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** A real worker over HTTP whose handlers the test controls; tests can wait for every step. */
export class HttpWorker {
  readonly worker: Worker;
  readonly calls: Call[] = [];
  readonly events: WorkerEvent[] = [];
  #watchers: (() => void)[] = [];

  constructor(
    urls: readonly string[],
    {
      slots = 2,
      ahead = 0,
      queues = ["default"],
      tasks = [],
      namespaces,
    }: {
      readonly slots?: number;
      readonly ahead?: number;
      readonly queues?: readonly string[];
      readonly tasks?: readonly Task[];
      readonly namespaces?: readonly string[];
    } = {},
  ) {
    const held: Task = {
      name: "held",
      run: (payload, context) =>
        new Promise((succeed, fail) => {
          this.calls.push({ payload, context, succeed, fail });
          this.#notify();
        }),
    };
    const echo: Task = { name: "echo", run: (payload) => payload };
    this.worker = new Worker({
      transport: new HttpTransport({
        urls,
        timers: workerTimers,
        random: systemRandom,
        heartbeat: mainLoopHeartbeat(systemTimers),
      }),
      tasks: [held, echo, ...tasks],
      ...(namespaces !== undefined && { namespaces }),
      name: "test",
      queues,
      slots,
      ahead,
      timers: workerTimers,
      onEvent: (event) => {
        this.events.push(event);
        this.#notify();
      },
    });
  }

  /** The call with this number, counted from 0, as soon as it arrives. */
  async call(index: number): Promise<Call> {
    await this.until(() => this.calls.length > index);
    const call = this.calls[index];
    if (call === undefined) throw new Error(`no call ${index}`);
    return call;
  }

  async event(type: WorkerEvent["type"]): Promise<WorkerEvent> {
    const find = (): WorkerEvent | undefined => this.events.find((event) => event.type === type);
    await this.until(() => find() !== undefined);
    return find() as WorkerEvent;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #notify(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}
