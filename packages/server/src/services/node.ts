import { systemClock } from "@carillon/core";
import { type Database, live } from "@carillon/engine";
import type { Logger } from "pino";
import type { Config } from "../config/options.js";
import { createMetrics } from "../metrics/metrics.js";
import { ApiService, assertPortFree } from "./api-service.js";
import { type DatabaseServices, databaseServices, SchemaService } from "./database-service.js";
import { EngineService, EventsService, QueueLoadService } from "./engine-service.js";
import { logEngineEvent, runEndLog } from "./event-log.js";
import { type NodeContext, type Service, ServiceGroup } from "./service.js";
import { nodeExecutors, payloadFaults, WebhookService, WorkerService } from "./worker-service.js";

export interface NodeOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  /** `dev` tries the next port when the configured one is in use. */
  readonly dev: boolean;
  /** Drops the schema first, with everything stored in it. */
  readonly reset: boolean;
}

/** Facts about a running node, for its banner. */
export interface NodeFacts {
  readonly url: string;
  /** Null without an embedded database. */
  readonly dataDir: string | null;
  readonly postgres: { readonly version: string; readonly port: number | null; readonly adopted: boolean };
}

/** A server process: the one place where its services are wired. It is started and stopped once. */
export class Node implements Service {
  readonly name = "node";
  readonly #stopping = new AbortController();
  readonly #context: NodeContext;
  readonly #dev: boolean;
  readonly #below: DatabaseServices;
  readonly #api: ApiService;
  readonly #group: ServiceGroup;

  constructor({ config, logger, version, dev, reset }: NodeOptions) {
    const context: NodeContext = { config, logger, version, stopping: this.#stopping.signal };
    const metrics = createMetrics({ version });
    const below = databaseServices(context, metrics.databaseEvent);
    const database = () => below.database.required;
    const events = new EventsService(database);
    metrics.watchStreams(() => events.hub);
    const logRunEnd = dev ? runEndLog(logger, () => systemClock.monotonic()) : null;
    const isOnlyNode = below.embedded !== null;
    const engine = new EngineService(context, {
      database,
      isOnlyNode,
      onEvent: (event) => {
        metrics.engineEvent(event);
        events.hub.publish(event);
        logEngineEvent(logger, event, { isOnlyNode });
        logRunEnd?.(event);
      },
    });
    metrics.watchNode({ engine: () => engine.held?.held?.load ?? null, database: () => loadOf(below.database.held) });
    const present = live(() => engine.engine);
    const executors = nodeExecutors(config, process.env, () => (api.url === "" ? null : api.url));
    const worker = new WorkerService(context, present, executors);
    const webhooks = new WebhookService(context, {
      engine: present,
      now: () => database().clock.now(),
      onDelivery: metrics.webhookDelivery,
    });
    const api = new ApiService(context, {
      engine: present,
      workers: live(() => engine.engine.workerApi),
      isEngineReady: () => (engine.held?.held ?? null) !== null,
      database,
      metrics: () => metrics,
      events: events.hub,
      checkPayload: payloadFaults(executors),
      takesNextPort: dev,
    });
    this.#context = context;
    this.#dev = dev;
    this.#below = below;
    this.#api = api;
    const services = [
      ...below.services,
      new SchemaService(context, database, reset),
      engine,
      worker,
      webhooks,
      new QueueLoadService(context, present, metrics.exportLoads),
      events,
      api,
    ];
    this.#group = new ServiceGroup(this.name, services, {
      started: (service) => logger.debug({ service }, "service started"),
      stopped: (service) => logger.debug({ service }, "service stopped"),
    });
  }

  async start(): Promise<void> {
    const { host, port } = this.#context.config;
    if (!this.#dev && port !== 0) await assertPortFree(host, port);
    await this.#group.start();
  }

  /** Stops listening, lets runs finish within the grace period or releases them, then closes the services below. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#group.stop();
  }

  /** For a process that exits at once: only signals PostgreSQL to stop. */
  abandon(): void {
    this.#below.embedded?.abandon();
  }

  get facts(): NodeFacts {
    const server = this.#below.embedded?.server;
    return {
      url: this.#api.url,
      dataDir: server === undefined ? null : this.#context.config.dataDir,
      postgres: {
        version: this.#below.database.required.server.version,
        port: server?.port ?? null,
        adopted: server?.adopted ?? false,
      },
    };
  }
}

function loadOf(database: Database | null) {
  return database === null ? null : { ...database.load, isUp: database.state === "up" };
}
