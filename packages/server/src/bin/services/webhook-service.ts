import { hostname } from "node:os";
import { systemClock, systemSoon, systemTimers, webhookQueue } from "@carillon/core";
import type { Engine } from "@carillon/engine";
import { AddressRules, checkedAddresses, httpCall, LocalTransport, Worker } from "@carillon/worker";
import type { Service } from "../../lifecycle/service.js";
import type { DeliveryOutcome } from "../../webhooks/delivery-outcome.js";
import { type Post, webhookSender } from "../webhooks/webhook-task.js";
import type { NodeContext } from "../context.js";
import { workerLog } from "../event-log.js";

const slots = 20;
/** A namespace that was made meanwhile is served after at most this time. */
const lookEveryMs = 5_000;
const limits = { connectMs: 5_000, firstByteMs: 20_000, totalMs: 25_000, maxBytes: 65_536 };
const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

export interface WebhookServiceOptions {
  readonly engine: () => Engine;
  readonly now: () => number;
  readonly onDelivery: (outcome: DeliveryOutcome) => void;
}

/** Sends messages to webhook endpoints and callback addresses: a worker of its own, in every namespace. */
export class WebhookService implements Service {
  readonly name = "webhooks";
  readonly #context: NodeContext;
  readonly #options: WebhookServiceOptions;
  readonly #workers = new Map<string, Worker>();
  #looking: Promise<void> = Promise.resolve();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: NodeContext, options: WebhookServiceOptions) {
    this.#context = context;
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#pace();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.clearTimeout(this.#timer);
    await this.#looking;
    const workers = [...this.#workers.values()];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.stop(this.#context.config.shutdownGrace)));
  }

  #pace(): void {
    if (this.#isStopped) return;
    this.#timer = systemTimers.setTimeout(() => {
      this.#looking = this.#look()
        .catch((error: unknown) => this.#context.logger.debug({ err: error, component: this.name }, "look failed"))
        .finally(() => this.#pace());
    }, lookEveryMs);
  }

  async #look(): Promise<void> {
    const { rows } = await this.#options.engine().api.listNamespaces({ pageSize: 1_000 });
    for (const { name } of rows) {
      if (this.#workers.has(name) || this.#isStopped) continue;
      const worker = this.#workerFor(name);
      this.#workers.set(name, worker);
      await worker.start();
    }
  }

  #workerFor(namespace: string): Worker {
    const { config, logger, version } = this.#context;
    const engine = this.#options.engine();
    const post = guardedPost(new AddressRules(config.outboundAllow ?? []));
    const { now, onDelivery } = this.#options;
    return new Worker({
      transport: new LocalTransport(engine.gateway, { namespace, nodeId: () => engine.nodeId }),
      tasks: [webhookSender({ webhooks: engine.api, namespace, post, now, version, onDelivery })],
      name: `${config.nodeName ?? hostname()}/webhooks`,
      queues: [webhookQueue],
      slots,
      timers,
      onEvent: workerLog(logger, { monotonic: () => timers.monotonic(), stacks: false }),
    });
  }
}

/** Looks an address up once, refuses what is not public unless it was opened, follows no redirect. */
function guardedPost(rules: AddressRules): Post {
  return async ({ url, headers, body, signal }) =>
    httpCall({
      url,
      method: "POST",
      headers,
      body,
      signal,
      timers,
      addresses: await checkedAddresses(url, rules),
      ...limits,
    });
}
