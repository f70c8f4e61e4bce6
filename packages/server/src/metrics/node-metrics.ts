import type { DatabaseEvent, DatabaseLoad, EngineLoad } from "@carillon/engine";
import type { DeclaredMetrics } from "./declared-metrics.js";

/** What is to be seen of a node at any time; null before it has started and after it has stopped. */
export interface NodeLoads {
  readonly engine: () => EngineLoad | null;
  readonly database: () => (DatabaseLoad & { readonly isUp: boolean }) | null;
}

/** Workers, lease and connections: read when somebody looks, kept nowhere. */
export function watchNode(declared: DeclaredMetrics, { engine, database }: NodeLoads): void {
  declared.watch("carillon_workers", (gauge) => gauge.set(engine()?.workers ?? 0));
  declared.watch("carillon_worker_slots", (gauge) => gauge.set(engine()?.slots ?? 0));
  declared.watch("carillon_worker_slots_used", (gauge) => gauge.set(engine()?.usedSlots ?? 0));
  declared.watch("carillon_runs_held", (gauge) => gauge.set(engine()?.heldRuns ?? 0));
  declared.watch("carillon_lease_seconds", (gauge) => gauge.set((engine()?.leaseMs ?? 0) / 1_000));
  declared.watch("carillon_lease_age_seconds", (gauge) => gauge.set((engine()?.leaseAgeMs ?? 0) / 1_000));
  declared.watch("carillon_database_writes_waiting", (gauge) => gauge.set(engine()?.writesWaiting ?? 0));
  declared.watch("carillon_database_up", (gauge) => gauge.set(database()?.isUp === true ? 1 : 0));
  declared.watch("carillon_database_pool_limit", (gauge) => gauge.set(database()?.pool.limit ?? 0));
  declared.watch("carillon_database_pool_waiting", (gauge) => gauge.set(database()?.pool.waiting ?? 0));
  declared.watch("carillon_database_pool_connections", (gauge) => {
    const { busy = 0, idle = 0 } = database()?.pool ?? {};
    gauge.set({ state: "busy" }, busy);
    gauge.set({ state: "idle" }, idle);
  });
  declared.watch("carillon_database_statements_waiting", (gauge) => {
    const { hot = 0, reserved = 0 } = database() ?? {};
    gauge.set({ role: "hot" }, hot);
    gauge.set({ role: "reserved" }, reserved);
  });
}

export function databaseMetrics(declared: DeclaredMetrics): (event: DatabaseEvent) => void {
  const lost = declared.counter("carillon_database_connections_lost_total");
  const retried = declared.counter("carillon_database_transactions_retried_total");
  return (event) => {
    if (event.type === "connection.lost") lost.inc({ role: event.role });
    if (event.type === "transaction.retried") retried.inc();
  };
}
