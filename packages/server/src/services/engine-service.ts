import { hostname } from "node:os";
import { makeUuidV7, systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import { type Database, Engine, type EngineEvent, type EtcdOptions } from "@carillon/engine";
import type { Config } from "../config/options.js";
import type { NodeContext, Service } from "./service.js";

export interface EngineServiceOptions {
  readonly database: () => Database;
  /** The database is embedded, which has one owner: no other node can be alive. */
  readonly isOnlyNode: boolean;
  readonly onEvent: (event: EngineEvent) => void;
}

export class EngineService implements Service {
  readonly name = "engine";
  readonly #context: NodeContext;
  readonly #options: EngineServiceOptions;
  #engine: Engine | null = null;

  constructor(context: NodeContext, options: EngineServiceOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Null while it is stopped. */
  get started(): Engine | null {
    return this.#engine;
  }

  get engine(): Engine {
    if (this.#engine === null) throw new Error("The engine was used before it was started.");
    return this.#engine;
  }

  async start(): Promise<void> {
    if (this.#engine !== null) return;
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
    this.#engine = engine;
  }

  async stop(): Promise<void> {
    const engine = this.#engine;
    this.#engine = null;
    await engine?.stop();
  }
}

/** Without etcd, PostgreSQL coordinates. */
function etcdOf({ coordinator, etcdEndpoints, etcdPrefix }: Config): { etcd?: EtcdOptions } {
  if (coordinator !== "etcd" || etcdEndpoints === null) return {};
  return { etcd: { endpoints: etcdEndpoints, prefix: etcdPrefix } };
}
