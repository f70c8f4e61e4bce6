import { EtcdClient } from "../cluster/etcd/etcd-client.js";
import { etcdCoordinator } from "../cluster/etcd/etcd-coordinator.js";
import type { Coordinator } from "../cluster/coordinator.js";
import { postgresCoordinator } from "../cluster/postgres/postgres-coordinator.js";
import { SessionLock } from "../cluster/postgres/session-lock.js";
import type { OnEngineEvent } from "../events.js";
import { loadStatements, nodeLockStatements } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";
import type { EngineLimits, EngineOptions } from "../options.js";

export interface CoordinationOptions {
  readonly engine: EngineOptions;
  readonly limits: EngineLimits;
  readonly store: EngineStore;
  /** Asks for a pass now. */
  readonly wake: () => void;
  readonly onEvent: OnEngineEvent;
}

/** The coordinator of this node, over the way to the database that it has. */
export function makeCoordinator({ engine, limits, store, wake, onEvent }: CoordinationOptions): Coordinator {
  const { clock, newId, node, alone, database } = engine;
  const { leaseMs, skewToleranceMs } = limits;
  const { nodes, shards } = store;
  const skew = () => ({ skewMs: database.clock.skewMs, uncertaintyMs: database.clock.uncertaintyMs });
  const member = { clock, newId, node, leaseMs, skew, skewToleranceMs, onEvent };
  if (engine.etcd !== undefined) {
    const { endpoints, prefix } = engine.etcd;
    const etcd = new EtcdClient({ endpoints, fetch, timers: engine.timers, timeoutMs: leaseMs / 2 });
    return etcdCoordinator({ ...member, etcd, prefix, nodes, shards });
  }
  const lock = database.capabilities.advisoryLocks
    ? new SessionLock(database, nodeLockStatements(loadStatements(database.schema)))
    : null;
  return postgresCoordinator({ ...member, nodes, shards, lock, alone, wake });
}
