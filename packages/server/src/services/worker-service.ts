import { hostname } from "node:os";
import type { Engine } from "@carillon/engine";
import { createExecutorHost, emailExecutor, httpExecutor } from "@carillon/executors";
import { type Executor, LocalTransport, type PayloadFault, Worker, builtInTasks } from "@carillon/worker";
import type { Config } from "../config/options.js";
import { workerLog } from "./event-log.js";
import { HoldingService, type NodeContext, nodeTimers } from "./service.js";

/** The worker inside the node: the built-in tasks, and the executors that need no other program. */
export class WorkerService extends HoldingService<Worker> {
  readonly name = "worker";
  readonly #context: NodeContext;
  readonly #engine: () => Engine;
  readonly #executors: readonly Executor[];

  constructor(context: NodeContext, engine: () => Engine, executors: readonly Executor[]) {
    super();
    this.#context = context;
    this.#engine = engine;
    this.#executors = executors;
  }

  protected async acquire(): Promise<Worker | null> {
    const { config, logger } = this.#context;
    if (config.workerSlots === 0) return null;
    const engine = this.#engine();
    const worker = new Worker({
      transport: new LocalTransport(engine.gateway, { namespace: "default", nodeId: () => engine.nodeId }),
      tasks: [...builtInTasks(nodeTimers), ...this.#executors],
      name: config.nodeName ?? hostname(),
      queues: ["*"],
      slots: config.workerSlots,
      timers: nodeTimers,
      onEvent: workerLog(logger, { monotonic: () => nodeTimers.monotonic(), stacks: false }),
    });
    await worker.start();
    return worker;
  }

  protected async release(worker: Worker): Promise<void> {
    await worker.stop(this.#context.config.shutdownGracePeriod);
  }
}

/**
 * The executors of the worker inside a node: http, and email if a mail server is configured. `url` is the node's own address; null
 * until it listens.
 */
export function nodeExecutors(
  { outboundAllowlist, publicUrl, workerSlots }: Config,
  env: NodeJS.ProcessEnv,
  url: () => string | null,
): readonly Executor[] {
  if (workerSlots === 0) return [];
  const callbackBase = (): string | null => publicUrl ?? url();
  const host = createExecutorHost({
    timers: nodeTimers,
    env,
    outboundAllowlist: outboundAllowlist ?? [],
    callbackBase,
  });
  const hasMail = (env["CARILLON_SMTP_URL"] ?? "") !== "";
  return [httpExecutor(host), ...(hasMail ? [emailExecutor(host)] : [])];
}

/** Validates the payloads of these executors; finds nothing wrong with those of other tasks. */
export function payloadFaults(
  executors: readonly Executor[],
): (task: string, payload: unknown) => readonly PayloadFault[] {
  return (task, payload) => executors.find(({ name }) => name === task)?.check(payload) ?? [];
}
