import { hostname } from "node:os";
import { systemTimers, webhookQueue } from "@carillon/core";
import type { Engine } from "@carillon/engine";
import { AddressRules, LocalTransport, Worker, checkedAddresses, httpCall } from "@carillon/worker";
import type { DeliveryOutcome } from "../events/webhook-delivery.js";
import { type Post, webhookSender } from "../events/webhook-task.js";
import { workerLog } from "./event-log.js";
import { type NodeContext, nodeTimers, type Service } from "./service.js";

const slots = 20;
/** A new namespace is served after at most this time. */
const scanIntervalMs = 5_000;
const limits = { connectMs: 5_000, firstByteMs: 20_000, totalMs: 25_000, maxBytes: 65_536 };

export interface WebhookServiceOptions {
  readonly engine: () => Engine;
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
    const { rows } = await this.#options.engine().namespaces.list({ pageSize: 1_000 });
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
    const { webhooks, callbackSecrets } = engine;
    const post = guardedPost(new AddressRules(config.outboundAllowlist ?? []));
    const { now, onDelivery } = this.#options;
    return new Worker({
      transport: new LocalTransport(engine.gateway, { namespace, nodeId: () => engine.nodeId }),
      tasks: [webhookSender({ webhooks, callbackSecrets, namespace, post, now, version, onDelivery })],
      name: `${config.nodeName ?? hostname()}/webhooks`,
      queues: [webhookQueue],
      slots,
      timers: nodeTimers,
      onEvent: workerLog(logger, { monotonic: () => nodeTimers.monotonic(), stacks: false }),
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
      timers: nodeTimers,
      addresses: await checkedAddresses(url, rules),
      ...limits,
    });
}
