import type { DatabaseEvent, DatabaseLoad, EngineLoad, OnEngineEvent, QueueStats } from "@carillon/engine";
import { Registry, collectDefaultMetrics } from "prom-client";
import type { ApiMetrics } from "../api/http/handler.js";
import { desiredWorkers } from "../api/queues.js";
import type { DeliveryOutcome } from "../events/webhook-delivery.js";
import type { NameOf } from "./catalogue.js";
import { DeclaredMetrics } from "./declared-metrics.js";
import { engineMetrics } from "./engine-metrics.js";

/** All metrics of a node. `Node` connects the engine's events to them and passes them to the API. */
export interface Metrics extends ApiMetrics {
  readonly exportLoads: ExportLoads;
  readonly watchStreams: (of: () => { readonly streams: number; readonly dropped: number }) => void;
  readonly watchNode: (loads: NodeLoads) => void;
  /** The outcome of one attempt to deliver a message. */
  readonly webhookDelivery: (outcome: DeliveryOutcome) => void;
  readonly engineEvent: OnEngineEvent;
  readonly databaseEvent: (event: DatabaseEvent) => void;
}

/** Gauges of the library with names of counters, which Prometheus' own linter rejects. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const declared = new DeclaredMetrics(registry);
  declared.gauge("carillon_build_info").set({ version, node_version: process.version }, 1);
  const deliveries = declared.counter("carillon_webhook_deliveries_total");
  return {
    exportLoads: queueMetrics(declared),
    watchStreams: (of) => streamMetrics(declared, of),
    watchNode: (loads) => watchNode(declared, loads),
    webhookDelivery: (outcome) => deliveries.inc({ outcome }),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    ...httpMetrics(declared),
    engineEvent: engineMetrics(declared),
    databaseEvent: databaseMetrics(declared),
  };
}

function httpMetrics(
  declared: DeclaredMetrics,
): Pick<ApiMetrics, "httpRequest" | "httpProblem" | "rateLimited" | "watchAdmission"> {
  const durations = declared.histogram("carillon_http_request_duration_seconds");
  const problems = declared.counter("carillon_http_problems_total");
  const rateLimited = declared.counter("carillon_http_rate_limited_total");
  let load: Parameters<ApiMetrics["watchAdmission"]>[0] | null = null;
  declared.watch("carillon_http_requests_in_flight", (gauge) => {
    for (const [budget, { calls }] of Object.entries(load ?? {})) gauge.set({ budget }, calls);
  });
  declared.watch("carillon_http_requests_in_flight_bytes", (gauge) => {
    for (const [budget, { bytes }] of Object.entries(load ?? {})) gauge.set({ budget }, bytes);
  });
  return {
    httpRequest: ({ method, route, status, durationMs }) =>
      durations.observe({ method, route, status: String(status) }, durationMs / 1_000),
    httpProblem: (code) => problems.inc({ code }),
    rateLimited: (name) => rateLimited.inc({ class: name }),
    watchAdmission(current) {
      load = current;
    },
  };
}

function streamMetrics(
  declared: DeclaredMetrics,
  of: () => { readonly streams: number; readonly dropped: number },
): void {
  declared.watch("carillon_event_streams", (gauge) => gauge.set(of().streams));
  declared.follow("carillon_event_streams_dropped_total", () => of().dropped);
}

/** The load of a node; null before its start and after its stop. */
export interface NodeLoads {
  readonly engine: () => EngineLoad | null;
  readonly database: () => (DatabaseLoad & { readonly isUp: boolean }) | null;
}

/** Workers, lease and connections: read at each scrape, stored nowhere. */
function watchNode(declared: DeclaredMetrics, { engine, database }: NodeLoads): void {
  declared.watch("carillon_workers", (gauge) => gauge.set(engine()?.workers ?? 0));
  declared.watch("carillon_worker_slots", (gauge) => gauge.set(engine()?.slots ?? 0));
  declared.watch("carillon_worker_slots_used", (gauge) => gauge.set(engine()?.usedSlots ?? 0));
  declared.watch("carillon_runs_in_flight", (gauge) => gauge.set(engine()?.heldRuns ?? 0));
  declared.watch("carillon_shard_lease_seconds", (gauge) => gauge.set((engine()?.leaseMs ?? 0) / 1_000));
  declared.watch("carillon_shard_lease_age_seconds", (gauge) => gauge.set((engine()?.leaseAgeMs ?? 0) / 1_000));
  declared.watch("carillon_database_writes_pending", (gauge) => gauge.set(engine()?.writesWaiting ?? 0));
  declared.watch("carillon_database_up", (gauge) => gauge.set(database()?.isUp === true ? 1 : 0));
  declared.watch("carillon_database_pool_limit", (gauge) => gauge.set(database()?.pool.limit ?? 0));
  declared.watch("carillon_database_pool_waiting", (gauge) => gauge.set(database()?.pool.waiting ?? 0));
  declared.watch("carillon_database_pool_connections", (gauge) => {
    const { busy = 0, idle = 0 } = database()?.pool ?? {};
    gauge.set({ state: "busy" }, busy);
    gauge.set({ state: "idle" }, idle);
  });
  declared.watch("carillon_database_statements_in_flight", (gauge) => {
    const { hot = 0, reserved = 0 } = database() ?? {};
    gauge.set({ role: "hot" }, hot);
    gauge.set({ role: "reserved" }, reserved);
  });
}

function databaseMetrics(declared: DeclaredMetrics): (event: DatabaseEvent) => void {
  const lost = declared.counter("carillon_database_connections_lost_total");
  const retried = declared.counter("carillon_database_transactions_retried_total");
  return (event) => {
    if (event.type === "connection.lost") lost.inc({ role: event.role });
    if (event.type === "transaction.retried") retried.inc();
  };
}

/** The load of one queue. */
export interface QueueLoad extends Pick<QueueStats, "queued" | "running" | "waitMs" | "workers" | "slots"> {
  readonly namespace: string;
  readonly queue: string;
}

/** Exports the load of queues; null: another node exports it. */
export type ExportLoads = (loads: readonly QueueLoad[] | null) => void;

const valuesOf = {
  carillon_queue_depth: ({ queued }) => queued,
  carillon_queue_running_runs: ({ running }) => running,
  carillon_queue_oldest_run_age_seconds: ({ waitMs }) => waitMs / 1_000,
  carillon_queue_workers: ({ workers }) => workers,
  carillon_queue_worker_slots: ({ slots }) => slots,
  carillon_queue_desired_slots: ({ queued, running }) => queued + running,
  carillon_queue_desired_workers: desiredWorkers,
} as const satisfies { readonly [Name in NameOf<"gauge">]?: (load: QueueLoad) => number };

/** Gauges by queue, whose number the reader of loads bounds. One node exports them, so that a sum over nodes counts each queue once. */
export function queueMetrics(declared: DeclaredMetrics): ExportLoads {
  const names = Object.keys(valuesOf) as (keyof typeof valuesOf)[];
  const gauges = names.map((name) => [declared.gauge(name), valuesOf[name]] as const);
  const leader = declared.gauge("carillon_node_is_leader");
  return (loads) => {
    leader.set(loads === null ? 0 : 1);
    for (const [series, valueOf] of gauges) {
      series.reset();
      for (const load of loads ?? []) series.set({ namespace: load.namespace, queue: load.queue }, valueOf(load));
    }
  };
}
