import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { makeUuidV7, systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import { type Database, Engine, type EngineEvent, type EtcdOptions } from "@carillon/engine";
import type { Config } from "../config/options.js";
import { EventHub } from "../events/event-hub.js";
import { EventRelay } from "../events/event-relay.js";
import { HoldingService, type NodeContext } from "./service.js";

export interface EngineServiceOptions {
  readonly database: () => Database;
  /** The database is embedded, which has one owner: no other node can be alive. */
  readonly isOnlyNode: boolean;
  readonly onEvent: (event: EngineEvent) => void;
}

export class EngineService extends HoldingService<Engine> {
  readonly name = "engine";
  readonly #context: NodeContext;
  readonly #options: EngineServiceOptions;

  constructor(context: NodeContext, options: EngineServiceOptions) {
    super();
    this.#context = context;
    this.#options = options;
  }

  protected async acquire(): Promise<Engine> {
    const { config, version } = this.#context;
    const database = this.#options.database();
    const engine = new Engine({
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

  protected release(engine: Engine): Promise<void> {
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
