import { hostname } from "node:os";
import { systemTimers, webhookQueue } from "@carillon/core";
import { type Engine, live } from "@carillon/engine";
import { createExecutorHost, emailExecutor, httpExecutor } from "@carillon/executors";
import {
  AddressRules,
  builtInTasks,
  checkedAddresses,
  type Executor,
  httpCall,
  LocalTransport,
  type PayloadFault,
  Worker,
  workerTimers,
} from "@carillon/worker";
import type { Config } from "../config/options.js";
import { type DeliveryOutcome, type Post, webhookSender } from "../events/webhook-delivery.js";
import { workerLog } from "./event-log.js";
import { HoldingService, type NodeContext, type Service } from "./service.js";

/** The worker inside the node: the built-in tasks, and the executors that need no other program. */
export class WorkerService extends HoldingService<Worker> {
  readonly name = "worker";
  readonly #context: NodeContext;
  readonly #engine: Engine;
  readonly #executors: readonly Executor[];

  constructor(context: NodeContext, engine: Engine, executors: readonly Executor[]) {
    super();
    this.#context = context;
    this.#engine = engine;
    this.#executors = executors;
  }

  protected async acquire(): Promise<Worker | null> {
    const { config, logger } = this.#context;
    if (config.workerSlots === 0) return null;
    const engine = this.#engine;
    const worker = new Worker({
      transport: new LocalTransport(
        live(() => engine.gateway),
        { namespace: "default", nodeId: () => engine.nodeId },
      ),
      tasks: [...builtInTasks(workerTimers), ...this.#executors],
      name: config.nodeName ?? hostname(),
      queues: ["*"],
      slots: config.workerSlots,
      timers: workerTimers,
      onEvent: workerLog(logger, { monotonic: () => workerTimers.monotonic(), stacks: false }),
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
    timers: workerTimers,
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

const slots = 20;
/** A new namespace is served after at most this time. */
const scanIntervalMs = 5_000;
const limits = { connectMs: 5_000, firstByteMs: 20_000, totalMs: 25_000, maxBytes: 65_536 };

export interface WebhookServiceOptions {
  readonly engine: Engine;
  readonly now: () => number;
  readonly onDelivery: (outcome: DeliveryOutcome) => void;
}

/** Sends messages to webhook endpoints and callback addresses, with one worker per namespace. */
export class WebhookService implements Service {
  readonly name = "webhooks";
  readonly #context: NodeContext;
  readonly #options: WebhookServiceOptions;
  readonly #workers = new Map<string, Worker>();
  #scanning: Promise<void> = Promise.resolve();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: NodeContext, options: WebhookServiceOptions) {
    this.#context = context;
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#scan();
    this.#pace();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.clearTimeout(this.#timer);
    await this.#scanning;
    const workers = [...this.#workers.values()];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.stop(this.#context.config.shutdownGracePeriod)));
  }

  #pace(): void {
    if (this.#isStopped) return;
    this.#timer = systemTimers.setTimeout(() => {
      this.#scanning = this.#scan()
        .catch((error: unknown) =>
          this.#context.logger.debug({ err: error, component: this.name }, "the namespaces could not be read"),
        )
        .finally(() => this.#pace());
    }, scanIntervalMs);
  }

  async #scan(): Promise<void> {
    const { rows } = await this.#options.engine.namespaces.list({ pageSize: 1_000 });
    for (const { name } of rows) {
      if (this.#workers.has(name) || this.#isStopped) continue;
      const worker = this.#workerFor(name);
      this.#workers.set(name, worker);
      await worker.start();
    }
  }

  #workerFor(namespace: string): Worker {
    const { config, logger, version } = this.#context;
    const { engine } = this.#options;
    const webhooks = live(() => engine.webhooks);
    const callbackSecrets = live(() => engine.callbackSecrets);
    const post = guardedPost(new AddressRules(config.outboundAllowlist ?? []));
    const { now, onDelivery } = this.#options;
    return new Worker({
      transport: new LocalTransport(
        live(() => engine.gateway),
        { namespace, nodeId: () => engine.nodeId },
      ),
      tasks: [webhookSender({ webhooks, callbackSecrets, namespace, post, now, version, onDelivery })],
      name: `${config.nodeName ?? hostname()}/webhooks`,
      queues: [webhookQueue],
      slots,
      timers: workerTimers,
      onEvent: workerLog(logger, { monotonic: () => workerTimers.monotonic(), stacks: false }),
    });
  }
}

/** Resolves an address once, refuses private ones that the allowlist does not have, and follows no redirect. */
function guardedPost(rules: AddressRules): Post {
  return async ({ url, headers, body, signal }) =>
    httpCall({
      url,
      method: "POST",
      headers,
      body,
      signal,
      timers: workerTimers,
      addresses: await checkedAddresses(url, rules),
      ...limits,
    });
}
