import { durationBuckets, latencyBuckets, takeoverBuckets } from "./buckets.js";

export interface MetricDeclaration {
  readonly type: "counter" | "gauge" | "histogram";
  /** Closed lists, or names that somebody bounds: a label per run, task or caller would grow with use. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

const counter = <const Labels extends readonly string[] = []>(help: string, labels?: Labels) =>
  ({ type: "counter", help, labels: labels ?? [] }) as { type: "counter"; help: string; labels: Labels };

const gauge = <const Labels extends readonly string[] = []>(help: string, labels?: Labels) =>
  ({ type: "gauge", help, labels: labels ?? [] }) as { type: "gauge"; help: string; labels: Labels };

const histogram = <const Labels extends readonly string[] = []>(
  help: string,
  buckets: readonly number[],
  labels?: Labels,
) =>
  ({ type: "histogram", help, buckets, labels: labels ?? [] }) as {
    type: "histogram";
    help: string;
    buckets: readonly number[];
    labels: Labels;
  };

const ofQueue = ["namespace", "queue"] as const;

/**
 * Every metric of ours, by what it is about. Where they are kept and where docs/reference/metrics.md comes from. Names end in
 * their unit; counters in _total.
 */
export const metricAreas = {
  "The node": {
    carillon_build_info: gauge("Always 1; the labels say what runs here", ["version", "node_version"]),
    carillon_node_elected: gauge("1 on the node that shows how loaded queues are"),
    carillon_clock_skew_seconds: gauge("This host's clock minus the database's, at the last measurement"),
    carillon_loop_failures_total: counter("Passes of a background loop that failed", ["loop"]),
  },
  Schedules: {
    carillon_schedule_lag_seconds: histogram(
      "How long after its time an occurrence became a run, by priority class",
      latencyBuckets,
      ["class"],
    ),
    carillon_fires_total: counter("Occurrences by what became of them: a run, or an entry of the ledger", ["outcome"]),
    carillon_fires_late_total: counter("Runs made later than their job's misfire threshold"),
    carillon_jobs_parked_total: counter("Jobs paused because they could not be fired"),
    carillon_backfill_instants_total: counter("Instants that backfills dealt with, by what became of them", [
      "outcome",
    ]),
    carillon_tick_seconds: histogram("How long one pass of the scheduler took", latencyBuckets),
  },
  Runs: {
    carillon_start_latency_seconds: histogram("How long a run that was due waited for a worker", latencyBuckets),
    carillon_run_duration_seconds: histogram("How long the last attempt of a run took, by outcome", durationBuckets, [
      "outcome",
    ]),
    carillon_runs_finished_total: counter("Runs that ended, by outcome", ["outcome"]),
    carillon_sla_breaches_total: counter("Runs that started, or ended, later than their SLA", ["term"]),
    carillon_runs_retried_total: counter("Attempts that failed and will be tried again"),
    carillon_runs_snoozed_total: counter("Runs whose handlers asked to be called later"),
    carillon_runs_waiting_total: counter("Runs that began to wait for a callback, without a worker"),
    carillon_runs_moved_total: counter("One-off jobs far from their time that came near it"),
    carillon_runs_rescued_total: counter("Runs taken back from workers that were lost"),
    carillon_writes_refused_total: counter("Writes that came too late, were fenced off and changed nothing", [
      "statement",
    ]),
  },
  "Queues, shown by one elected node": {
    carillon_queue_depth_runs: gauge("Runs that wait for a worker, counted up to a bound", ofQueue),
    carillon_queue_running_runs: gauge("Runs that a worker has, counted up to a bound", ofQueue),
    carillon_queue_oldest_age_seconds: gauge("For how long the run that waits longest has been due", ofQueue),
    carillon_queue_workers: gauge("Workers that serve the queue", ofQueue),
    carillon_queue_worker_slots: gauge("Slots of the workers that serve the queue", ofQueue),
    carillon_queue_desired_slots: gauge("Slots at which nothing would wait", ofQueue),
    carillon_queue_desired_workers: gauge("Workers at which nothing would wait: what an autoscaler goes by", ofQueue),
  },
  Workers: {
    carillon_workers: gauge("Workers that this node serves"),
    carillon_worker_slots: gauge("Slots of the workers that this node serves"),
    carillon_worker_slots_used: gauge("Slots for which one of those workers has a run, or is about to be given one"),
    carillon_runs_held: gauge("Runs that those workers hold"),
    carillon_sessions_expired_total: counter("Worker sessions that stopped their heartbeat"),
  },
  "The cluster": {
    carillon_shards_owned: gauge("Shards whose fires this node looks after"),
    carillon_lease_seconds: gauge("How long a silent node keeps its shards"),
    carillon_lease_age_seconds: gauge("Since this node last made sure of its lease"),
    carillon_takeover_seconds: histogram(
      "From the last sign of life of a node to the takeover of its shards",
      takeoverBuckets,
    ),
    carillon_nodes_declared_dead_total: counter("Nodes that this one declared dead, by how it was noticed", ["how"]),
  },
  "The database": {
    carillon_database_up: gauge("1 while the database answers, as far as this node knows"),
    carillon_database_pool_limit: gauge("Connections that the pool may have"),
    carillon_database_pool_connections: gauge("Connections of the pool, by whether somebody has them", ["state"]),
    carillon_database_pool_waiting: gauge("Calls that wait for a connection of the pool"),
    carillon_database_statements_waiting: gauge("Statements without an answer yet on connections of their own", [
      "role",
    ]),
    carillon_database_writes_waiting: gauge("New jobs and runs that wait to be written"),
    carillon_database_connections_lost_total: counter("Connections that broke, by what they were for", ["role"]),
    carillon_database_transactions_retried_total: counter("Transactions that ran again after a conflict"),
  },
  "The HTTP API": {
    carillon_http_request_duration_seconds: histogram(
      "Time from a request's arrival to the end of its answer",
      latencyBuckets,
      ["method", "route", "status"],
    ),
    carillon_http_problems_total: counter("Calls that ended with a problem, by its code", ["code"]),
    carillon_http_rate_limited_total: counter("Calls refused because their caller's quota was used up, by the quota", [
      "class",
    ]),
    carillon_http_requests_active: gauge(
      "Calls that were let in and are not answered, by the budget they count against",
      ["budget"],
    ),
    carillon_http_request_active_bytes: gauge("Bodies of those calls, together", ["budget"]),
    carillon_event_streams: gauge("Readers that follow the events of this node"),
    carillon_event_streams_cut_total: counter("Readers that were cut off because they did not read"),
    carillon_webhook_deliveries_total: counter(
      "Tries to send a message to a webhook endpoint or a callback address, by outcome",
      ["outcome"],
    ),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, MetricDeclaration>>>>;

type Areas = typeof metricAreas;
type InAnyArea<Area> = Area extends unknown ? keyof Area : never;
type DeclaredIn<Area, Name> = Area extends unknown ? (Name extends keyof Area ? Area[Name] : never) : never;

export type MetricName = InAnyArea<Areas[keyof Areas]>;
export type Declared<Name extends MetricName> = DeclaredIn<Areas[keyof Areas], Name>;

/** The names of metrics of one type. */
export type NameOf<Type extends MetricDeclaration["type"]> = {
  [Name in MetricName]: Declared<Name> extends { readonly type: Type } ? Name : never;
}[MetricName];

export type LabelOf<Name extends MetricName> =
  Declared<Name> extends { readonly labels: readonly (infer Label extends string)[] } ? Label : never;

export const metricCatalogue: Readonly<Record<MetricName, MetricDeclaration>> = Object.assign(
  {},
  ...Object.values(metricAreas),
) as Record<MetricName, MetricDeclaration>;
