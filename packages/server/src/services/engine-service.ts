import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { makeUuidV7, systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import { type Database, type Engine, type EngineEvent, EngineHost, type EtcdOptions } from "@carillon/engine";
import type { Config } from "../config/options.js";
import { EventHub } from "../events/event-hub.js";
import { EventRelay } from "../events/event-relay.js";
import type { ExportLoads, QueueLoad } from "../metrics/metrics.js";
import { HoldingService, type NodeContext, type Service } from "./service.js";

export interface EngineServiceOptions {
  readonly database: () => Database;
  /** The database is embedded, which has one owner: no other node can be alive. */
  readonly isOnlyNode: boolean;
  readonly onEvent: (event: EngineEvent) => void;
}

/** The engine of the node. After a failover of the database it is replaced; its users read it at each use. */
export class EngineService extends HoldingService<EngineHost> {
  readonly name = "engine";
  readonly #context: NodeContext;
  readonly #options: EngineServiceOptions;

  constructor(context: NodeContext, options: EngineServiceOptions) {
    super();
    this.#context = context;
    this.#options = options;
  }

  /** Throws database_unavailable while it is being replaced. */
  get engine(): Engine {
    return this.required.engine;
  }

  protected async acquire(): Promise<EngineHost> {
    const { config, version } = this.#context;
    const database = this.#options.database();
    const engine = new EngineHost({
      database,
      clock: systemClock,
      timers: systemTimers,
      random: systemRandom,
      newId: makeUuidV7({ now: () => database.clock.now(), randomBytes: systemRandomBytes }),
      node: { name: config.nodeName ?? hostname(), address: null, version },
      alone: this.#options.isOnlyNode,
      ...etcdOf(config),
      onEvent: this.#options.onEvent,
      limits: {
        leaseMs: config.shardLease,
        workerTimeoutMs: config.workerTimeout,
        historyDays: config.runRetentionDays,
        logDays: config.runLogRetentionDays,
      },
    });
    await engine.start();
    return engine;
  }

  protected release(engine: EngineHost): Promise<void> {
    return engine.stop();
  }
}

/** Without etcd, PostgreSQL coordinates. */
function etcdOf({ coordinator, etcdEndpoints, etcdPrefix }: Config): { etcd?: EtcdOptions } {
  if (coordinator !== "etcd" || etcdEndpoints === null) return {};
  return { etcd: { endpoints: etcdEndpoints, prefix: etcdPrefix } };
}

const ports = { clock: systemClock, timers: systemTimers };

/** The event streams of this node, with the events of all nodes. */
export class EventsService extends HoldingService<EventRelay> {
  readonly name = "events";
  readonly hub: EventHub;
  readonly #node = randomBytes(6).toString("hex");
  readonly #database: () => Database;

  constructor(database: () => Database) {
    super();
    this.#database = database;
    this.hub = new EventHub({ node: this.#node, now: () => this.#database().clock.now(), ...ports });
  }

  protected async acquire(): Promise<EventRelay> {
    const relay = new EventRelay({ hub: this.hub, database: this.#database(), node: this.#node, ...ports });
    relay.start();
    return relay;
  }

  override stop(): Promise<void> {
    this.hub.stop();
    return super.stop();
  }

  protected release(relay: EventRelay): Promise<void> {
    return relay.stop();
  }
}

const intervalMs = 10_000;

/** Refreshes the metrics of queues on the elected node. */
export class QueueLoadService implements Service {
  readonly name = "load";
  readonly #context: NodeContext;
  readonly #engine: Engine;
  readonly #exportLoads: ExportLoads;
  #refreshing: Promise<void> = Promise.resolve();
  #timer: unknown = null;
  #isStopped = false;

  constructor(context: NodeContext, engine: Engine, exportLoads: ExportLoads) {
    this.#context = context;
    this.#engine = engine;
    this.#exportLoads = exportLoads;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    this.#refresh();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.clearTimeout(this.#timer);
    await this.#refreshing;
  }

  #refresh(): void {
    this.#refreshing = this.#read()
      .catch((error: unknown) =>
        this.#context.logger.debug({ err: error, component: this.name }, "the load of the queues could not be read"),
      )
      .finally(() => {
        if (!this.#isStopped) this.#timer = systemTimers.setTimeout(() => this.#refresh(), intervalMs);
      });
  }

  async #read(): Promise<void> {
    const engine = this.#engine;
    this.#exportLoads(engine.isElected ? await readLoads(engine) : null);
  }
}

/** Bounds the number of time series. */
const maxQueues = 200;

/** The load of each queue, of all namespaces. */
async function readLoads(engine: Pick<Engine, "namespaces" | "queues">) {
  const loads: QueueLoad[] = [];
  const { rows: namespaces } = await engine.namespaces.list({ pageSize: maxQueues });
  for (const { name: namespace } of namespaces) {
    if (loads.length >= maxQueues) return loads;
    const { rows: queues } = await engine.queues.list(namespace, { pageSize: maxQueues - loads.length });
    const names = queues.map(({ name }) => name);
    const stats = await engine.queues.statsOfMany(namespace, names);
    for (const queue of names) {
      const own = stats.get(queue);
      if (own !== undefined) loads.push({ namespace, queue, ...own });
    }
  }
  return loads;
}
