import { hostname } from "node:os";
import { systemClock, systemSoon, systemTimers } from "@carillon/core";
import type { Engine } from "@carillon/engine";
import { createExecutorHost, emailExecutor, httpExecutor } from "@carillon/executors";
import { LocalTransport, Worker, builtInTasks } from "@carillon/worker";
import type { Service } from "../../lifecycle/service.js";
import type { NodeContext } from "../context.js";
import { logWorkerEvent } from "../event-log.js";

/** The worker inside the node: the built-in tasks and the executors that need nothing of the machine. */
export class WorkerService implements Service {
  readonly name = "worker";
  readonly #context: NodeContext;
  readonly #engine: () => Engine;
  /** Where the node listens; null before it does. */
  readonly #url: () => string | null;
  #worker: Worker | null = null;

  constructor(context: NodeContext, engine: () => Engine, url: () => string | null) {
    this.#context = context;
    this.#engine = engine;
    this.#url = url;
  }

  async start(): Promise<void> {
    const { config, logger } = this.#context;
    if (this.#worker !== null || config.workerSlots === 0) return;
    const engine = this.#engine();
    const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };
    const host = createExecutorHost({
      timers,
      env: process.env,
      outboundAllow: config.outboundAllow ?? [],
      callbackBase: () => config.publicUrl ?? this.#url(),
    });
    const worker = new Worker({
      transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
      tasks: [...builtInTasks(timers), httpExecutor(host), emailExecutor(host)],
      name: config.nodeName ?? hostname(),
      queues: ["*"],
      slots: config.workerSlots,
      timers,
      onEvent: (event) => logWorkerEvent(logger, event),
    });
    await worker.start();
    this.#worker = worker;
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.stop(this.#context.config.shutdownGrace);
  }
}
