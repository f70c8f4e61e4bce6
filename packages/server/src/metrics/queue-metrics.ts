import type { QueueStats } from "@carillon/engine";
import { desiredWorkers } from "../api/queues.js";
import type { NameOf } from "./catalogue.js";
import type { DeclaredMetrics } from "./declared-metrics.js";

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
