import { hostname } from "node:os";
import { makeUuidV7, systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import { type Database, Engine, type EngineEvent, type EtcdOptions } from "@carillon/engine";
import type { Config } from "../config/options.js";
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
