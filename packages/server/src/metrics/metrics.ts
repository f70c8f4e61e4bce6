import type { DatabaseEvent, DatabaseLoad, EngineEvent, EngineLoad, OnEngineEvent, QueueStats } from "@carillon/engine";
import { Registry, collectDefaultMetrics } from "prom-client";
import type { ApiMetrics } from "../api/http/handler.js";
import { desiredWorkers } from "../api/queues.js";
import type { DeliveryOutcome } from "../events/webhook-delivery.js";
import { DeclaredMetrics, type NameOf } from "./catalogue.js";

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
function queueMetrics(declared: DeclaredMetrics): ExportLoads {
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

/** Counts the engine's events. */
function engineMetrics(declared: DeclaredMetrics): OnEngineEvent {
  const fires = declared.counter("carillon_fires_total");
  const late = declared.counter("carillon_fires_late_total");
  const quarantined = declared.counter("carillon_jobs_quarantined_total");
  const finished = declared.counter("carillon_runs_finished_total");
  const breaches = declared.counter("carillon_sla_breaches_total");
  const retried = declared.counter("carillon_runs_retried_total");
  const callbackWaits = declared.counter("carillon_runs_callback_waits_total");
  const snoozed = declared.counter("carillon_runs_snoozed_total");
  const promoted = declared.counter("carillon_runs_promoted_total");
  const rescued = declared.counter("carillon_runs_rescued_total");
  const expired = declared.counter("carillon_worker_sessions_expired_total");
  const fenced = declared.counter("carillon_fenced_writes_total");
  const failures = declared.counter("carillon_loop_failures_total");
  const lag = declared.histogram("carillon_schedule_lag_seconds");
  const ticks = declared.histogram("carillon_scheduler_tick_seconds");
  const latency = declared.histogram("carillon_run_start_latency_seconds");
  const duration = declared.histogram("carillon_run_duration_seconds");
  const shards = declared.gauge("carillon_shards_owned");
  const takeovers = declared.histogram("carillon_shard_takeover_seconds");
  const deaths = declared.counter("carillon_nodes_declared_dead_total");
  const backfilled = declared.counter("carillon_backfill_occurrences_total");
  const skew = declared.gauge("carillon_clock_skew_seconds");

  const countEnd = (outcome: "succeeded" | "failed" | "cancelled", { durationMs }: { durationMs: number }): void => {
    finished.inc({ outcome });
    duration.observe({ outcome }, seconds(durationMs));
  };

  const by: { readonly [Type in EngineEvent["type"]]?: (event: Extract<EngineEvent, { type: Type }>) => void } = {
    "run.fired": (event) => {
      fires.inc({ outcome: "fired" });
      lag.observe({ class: event.priorityClass }, seconds(event.lateMs));
    },
    "run.blocked": (event) => {
      fires.inc({ outcome: "blocked" });
      lag.observe({ class: event.priorityClass }, seconds(event.lateMs));
    },
    "run.late": () => late.inc(),
    "run.sla_breached": ({ sla }) => breaches.inc({ term: sla }),
    "occurrence.missed": (event) => fires.inc({ outcome: "missed" }, event.count),
    "occurrence.skipped": (event) => fires.inc({ outcome: event.reason }, event.count),
    "job.quarantined": () => quarantined.inc(),
    "backfill.advanced": ({ made, passed, skipped }) => {
      backfilled.inc({ outcome: "made" }, made);
      backfilled.inc({ outcome: "already_ran" }, passed);
      backfilled.inc({ outcome: "overlap" }, skipped);
    },
    "scheduler.ticked": ({ durationMs }) => ticks.observe(seconds(durationMs)),
    "run.started": ({ waitedMs }) => latency.observe(seconds(waitedMs)),
    "run.succeeded": (event) => countEnd("succeeded", event),
    "run.failed": (event) => countEnd("failed", event),
    "run.cancelled": (event) => countEnd("cancelled", event),
    "run.retrying": () => retried.inc(),
    "run.snoozed": () => snoozed.inc(),
    "run.waiting": () => callbackWaits.inc(),
    "runs.promoted": (event) => promoted.inc(event.count),
    "runs.rescued": (event) => rescued.inc(event.count),
    "sessions.expired": (event) => expired.inc(event.count),
    "shards.acquired": (event) => shards.inc(event.count),
    "shards.lost": (event) => shards.dec(event.count),
    "shards.taken_over": ({ takeoverMs }) => {
      if (takeoverMs !== null) takeovers.observe(seconds(takeoverMs));
    },
    "node.lost": ({ detection }) => deaths.inc({ detection }),
    "clock.measured": ({ skewMs }) => skew.set(skewMs / 1_000),
    "clock.skewed": ({ skewMs }) => skew.set(skewMs / 1_000),
    "clock.in_sync": ({ skewMs }) => skew.set(skewMs / 1_000),
    "write.fenced": ({ statement, count: writes }) => fenced.inc({ statement }, writes),
    "loop.failed": ({ loop }) => failures.inc({ loop }),
  };
  return (event) => (by[event.type] as ((event: EngineEvent) => void) | undefined)?.(event);
}

/** The clocks of two machines can differ slightly; a duration is never negative. */
function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
