import { hostname } from "node:os";
import type { Engine } from "@carillon/engine";
import { builtInTasks, type Executor, LocalTransport, Worker } from "@carillon/worker";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";
import { workerLog } from "./event-log.js";
import { nodeTimers } from "./node-executors.js";

/** The worker inside the node: the built-in tasks and the executors that need nothing of the machine. */
export class WorkerService implements Service {
  readonly name = "worker";
  readonly #context: NodeContext;
  readonly #engine: () => Engine;
  readonly #executors: readonly Executor[];
  #worker: Worker | null = null;

  constructor(context: NodeContext, engine: () => Engine, executors: readonly Executor[]) {
    this.#context = context;
    this.#engine = engine;
    this.#executors = executors;
  }

  async start(): Promise<void> {
    const { config, logger } = this.#context;
    if (this.#worker !== null || config.workerSlots === 0) return;
    const engine = this.#engine();
    const timers = nodeTimers;
    const worker = new Worker({
      transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
      tasks: [...builtInTasks(timers), ...this.#executors],
      name: config.nodeName ?? hostname(),
      queues: ["*"],
      slots: config.workerSlots,
      timers,
      onEvent: workerLog(logger, { monotonic: () => timers.monotonic(), stacks: false }),
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
