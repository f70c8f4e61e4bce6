import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export interface MetricDeclaration {
  readonly type: "counter" | "gauge" | "histogram";
  /** Labels with a bounded number of values: one per run, task or caller would grow with use. */
  readonly labels: readonly string[];
  readonly help: string;
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
}

/** Seconds. Fine around the promised latencies (tens of milliseconds), coarse above. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Runs take from a millisecond to hours. */
const durationBuckets = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/** Around the default shard_lease. */
const takeoverBuckets = [0.5, 1, 1.5, 2, 3, 5, 7, 10, 20];

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
 * Every metric of a node, by area. The metrics are created from it, and docs/reference/metrics.md is generated from it. Names end
 * in their unit; counters in _total.
 */
export const metricAreas = {
  "The node": {
    carillon_build_info: gauge("Always 1; the labels name the version", ["version", "node_version"]),
    carillon_node_is_leader: gauge("1 on the elected node, which exports the metrics of queues"),
    carillon_clock_skew_seconds: gauge("This host's clock minus the database's, at the last measurement"),
    carillon_loop_failures_total: counter("Failed passes of background loops", ["loop"]),
  },
  Schedules: {
    carillon_schedule_lag_seconds: histogram(
      "Time from an occurrence's scheduled time to the creation of its run, by priority class",
      latencyBuckets,
      ["class"],
    ),
    carillon_fires_total: counter(
      "Occurrences by outcome: a run was created, or the occurrence ledger has the reason",
      ["outcome"],
    ),
    carillon_fires_late_total: counter("Runs created later than their job's misfire threshold"),
    carillon_jobs_quarantined_total: counter("Jobs paused because they could not be fired"),
    carillon_backfill_occurrences_total: counter("Occurrences that backfills processed, by outcome", ["outcome"]),
    carillon_scheduler_tick_seconds: histogram("Duration of one pass of the scheduler", latencyBuckets),
  },
  Runs: {
    carillon_run_start_latency_seconds: histogram("Time that a due run waited for a worker", latencyBuckets),
    carillon_run_duration_seconds: histogram("Duration of the last attempt of a run, by outcome", durationBuckets, [
      "outcome",
    ]),
    carillon_runs_finished_total: counter("Runs that ended, by outcome", ["outcome"]),
    carillon_sla_breaches_total: counter("Runs that started or finished later than their SLA", ["term"]),
    carillon_runs_retried_total: counter("Failed attempts that will be retried"),
    carillon_runs_snoozed_total: counter("Runs that their handlers postponed"),
    carillon_runs_callback_waits_total: counter("Runs that started to wait for a callback, without a worker"),
    carillon_runs_promoted_total: counter("Far-future runs moved to the queue's table because they are due soon"),
    carillon_runs_rescued_total: counter("Runs taken back from lost workers"),
    carillon_fenced_writes_total: counter("Writes of stale owners that a fence rejected; they changed nothing", [
      "statement",
    ]),
  },
  "Queues, exported by the elected node": {
    carillon_queue_depth: gauge("Runs that wait for a worker, counted up to a limit", ofQueue),
    carillon_queue_running_runs: gauge("Runs that a worker has claimed, counted up to a limit", ofQueue),
    carillon_queue_oldest_run_age_seconds: gauge("Time since the longest-waiting run became due", ofQueue),
    carillon_queue_workers: gauge("Workers that serve the queue", ofQueue),
    carillon_queue_worker_slots: gauge("Slots of the workers that serve the queue", ofQueue),
    carillon_queue_desired_slots: gauge("Slots with which no run would wait", ofQueue),
    carillon_queue_desired_workers: gauge(
      "Workers with which no run would wait; the target for an autoscaler",
      ofQueue,
    ),
  },
  Workers: {
    carillon_workers: gauge("Workers connected to this node"),
    carillon_worker_slots: gauge("Slots of the workers connected to this node"),
    carillon_worker_slots_used: gauge("Slots of those workers that have a run or are reserved for one"),
    carillon_runs_in_flight: gauge("Runs claimed by the workers connected to this node"),
    carillon_worker_sessions_expired_total: counter("Worker sessions that ended because their heartbeats stopped"),
  },
  "The cluster": {
    carillon_shards_owned: gauge("Shards that this node owns"),
    carillon_shard_lease_seconds: gauge("Time after its last heartbeat for which a node keeps its shards"),
    carillon_shard_lease_age_seconds: gauge("Time since this node last renewed its lease"),
    carillon_shard_takeover_seconds: histogram(
      "Time from the last heartbeat of a dead node to the takeover of its shards",
      takeoverBuckets,
    ),
    carillon_nodes_declared_dead_total: counter("Nodes that this node declared dead, by the kind of detection", [
      "detection",
    ]),
  },
  "The database": {
    carillon_database_up: gauge("1 while the database answers this node"),
    carillon_database_pool_limit: gauge("Maximum number of connections in the pool"),
    carillon_database_pool_connections: gauge("Connections in the pool, by state: busy or idle", ["state"]),
    carillon_database_pool_waiting: gauge("Calls that wait for a connection of the pool"),
    carillon_database_statements_in_flight: gauge("Unanswered statements on connections outside the pool", ["role"]),
    carillon_database_writes_pending: gauge("New jobs and runs that wait to be written"),
    carillon_database_connections_lost_total: counter("Connections that broke, by their role", ["role"]),
    carillon_database_transactions_retried_total: counter("Transactions that were retried after a conflict"),
  },
  "The HTTP API": {
    carillon_http_request_duration_seconds: histogram(
      "Time from the arrival of a request to the end of its response",
      latencyBuckets,
      ["method", "route", "status"],
    ),
    carillon_http_problems_total: counter("Calls that ended with a problem document, by error code", ["code"]),
    carillon_http_rate_limited_total: counter("Calls refused because their caller's quota was used up, by quota", [
      "class",
    ]),
    carillon_http_requests_in_flight: gauge("Admitted calls without a response yet, by budget", ["budget"]),
    carillon_http_requests_in_flight_bytes: gauge("Size of the bodies of those calls, by budget", ["budget"]),
    carillon_event_streams: gauge("Event streams open at this node"),
    carillon_event_streams_dropped_total: counter("Event streams closed because their client did not read"),
    carillon_webhook_deliveries_total: counter(
      "Attempts to deliver to a webhook endpoint or callback address, by outcome",
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

/** Creates the metrics of the catalogue, which alone has their names, labels and help texts. */
export class DeclaredMetrics {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter<Name extends NameOf<"counter">>(name: Name): Counter<LabelOf<Name>> {
    return new Counter<LabelOf<Name>>(this.#configuration(name));
  }

  gauge<Name extends NameOf<"gauge">>(name: Name): Gauge<LabelOf<Name>> {
    return new Gauge<LabelOf<Name>>(this.#configuration(name));
  }

  histogram<Name extends NameOf<"histogram">>(name: Name): Histogram<LabelOf<Name>> {
    const { buckets = [] } = metricCatalogue[name];
    return new Histogram<LabelOf<Name>>({ ...this.#configuration(name), buckets: [...buckets] });
  }

  /** A gauge that `set` updates at each scrape. */
  watch<Name extends NameOf<"gauge">>(name: Name, set: (series: Gauge<LabelOf<Name>>) => void): void {
    const series = new Gauge<LabelOf<Name>>({
      ...this.#configuration(name),
      registers: [],
      collect() {
        set(this);
      },
    });
    this.#registry.registerMetric(series);
  }

  /** A counter whose `total` is kept elsewhere and read at each scrape. */
  follow(name: NameOf<"counter">, total: () => number): void {
    let last = 0;
    const series = new Counter({
      ...this.#configuration(name),
      registers: [],
      collect() {
        const now = total();
        this.inc(now - last);
        last = now;
      },
    });
    this.#registry.registerMetric(series);
  }

  #configuration<Name extends MetricName>(name: Name) {
    const { help, labels } = metricCatalogue[name];
    return { name, help, labelNames: labels as readonly LabelOf<Name>[], registers: [this.#registry] };
  }
}
