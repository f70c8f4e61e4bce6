import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { CarillonError } from "@carillon/core";
import type { Database, WorkerDoor } from "@carillon/engine";
import { activeTraceParent, AddressRules, beginSpan, closedAddress, enqueueTraced } from "@carillon/worker";
import { type Api, createApi } from "../api/app.js";
import type { ApiEngine, ApiMetrics, ApiOptions, EventsPort } from "../api/http/handler.js";
import type { QuotaLimits } from "../api/http/quota.js";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";
import { nodeTimers } from "./node-executors.js";
import { describePortOwner } from "./port-in-use.js";
import { readiness } from "./readiness.js";

/** How many ports above the wanted one are tried where another will do. */
const NEXT_PORTS = 20;

export interface ApiServiceOptions {
  readonly engine: () => ApiEngine;
  readonly workers: () => WorkerDoor;
  readonly database: () => Database;
  readonly metrics: () => ApiMetrics;
  readonly events: EventsPort & { stop(): void };
  readonly checkPayload: NonNullable<ApiOptions["checkPayload"]>;
  /** A developer wants it to run; an operator wants the port that was configured or nothing. */
  readonly takesNextPort: boolean;
}

/** The HTTP side, listening. */
export class ApiService implements Service {
  readonly name = "api";
  readonly #context: NodeContext;
  readonly #options: ApiServiceOptions;
  #app: Api | null = null;
  #url = "";

  constructor(context: NodeContext, options: ApiServiceOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Where it listens; empty until it does. */
  get url(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    if (this.#app !== null) return;
    const { config } = this.#context;
    const last = config.port + (this.#options.takesNextPort && config.port !== 0 ? NEXT_PORTS : 0);
    for (let port = config.port; ; port++) {
      const app = this.#makeApp();
      try {
        this.#url = await app.listen({ host: config.host, port });
        this.#app = app;
        return;
      } catch (error) {
        await app.close();
        if (!isPortTaken(error)) throw error;
        await this.#reportTaken(port, last, error);
      }
    }
  }

  async stop(): Promise<void> {
    const app = this.#app;
    this.#app = null;
    if (app === null) return;
    // Polls that wait would keep it: their workers go on with another node.
    this.#options.workers().stop();
    this.#options.events.stop();
    await app.close();
  }

  #makeApp(): Api {
    const { config, logger, version } = this.#context;
    const { engine, workers, database, metrics, events, checkPayload } = this.#options;
    const rules = new AddressRules(config.outboundAllow ?? []);
    return createApi({
      engine: engine(),
      workers: workers(),
      health: readiness(database),
      metrics: metrics(),
      events,
      checkPayload,
      refuseTarget: (url) => closedAddress(url, rules),
      version,
      now: () => database().clock.now(),
      newRequestId: randomUUID,
      tracing: { beginSpan, activeTraceParent, enqueueTraced },
      intake: { calls: config.maxRequests, bytes: config.maxRequestBytes },
      quotas: { limits: quotaLimits(config), monotonic: () => nodeTimers.monotonic() },
      logger: logger.child({ component: this.name }),
      dev: { loopbackOnly: true },
    });
  }

  async #reportTaken(port: number, last: number, error: unknown): Promise<void> {
    const taken = `port ${port} is taken${await describePortOwner(port)}`;
    if (port < last) return this.#context.logger.warn({ component: this.name }, `${taken}; trying ${port + 1}`);
    throw portTaken(taken, error);
  }
}

function quotaLimits({ quotaRead, quotaWrite, quotaBulk, quotaStream }: NodeContext["config"]): QuotaLimits {
  return { read: quotaRead, write: quotaWrite, bulk: quotaBulk, stream: quotaStream };
}

const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EADDRINUSE";

function portTaken(taken: string, cause: unknown): CarillonError {
  return new CarillonError("port_in_use", `${taken}: stop it, or choose another with --port or CARILLON_PORT`, {
    cause,
  });
}

/** Looks whether a port is free, so that a node that cannot listen takes no part in the cluster before it finds out. */
export async function assertPortFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen({ host, port }), "listening");
  } catch (error) {
    if (isPortTaken(error)) throw portTaken(`port ${port} is taken${await describePortOwner(port)}`, error);
    throw error;
  }
  await new Promise((resolve) => probe.close(resolve));
}
