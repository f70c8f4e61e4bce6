import type { QueueStats } from "@carillon/engine";
import type { NameOf } from "./catalogue.js";
import type { DeclaredMetrics } from "./declared-metrics.js";
import { desiredWorkers } from "./desired-workers.js";

/** A queue and what waits and works in it. */
export interface QueueLoad extends Pick<QueueStats, "queued" | "running" | "waitMs" | "workers" | "slots"> {
  readonly namespace: string;
  readonly queue: string;
}

/** Shows how loaded queues are; null where another node does. */
export type ShowLoads = (loads: readonly QueueLoad[] | null) => void;

const valuesOf = {
  carillon_queue_depth_runs: ({ queued }) => queued,
  carillon_queue_running_runs: ({ running }) => running,
  carillon_queue_oldest_age_seconds: ({ waitMs }) => waitMs / 1_000,
  carillon_queue_workers: ({ workers }) => workers,
  carillon_queue_worker_slots: ({ slots }) => slots,
  carillon_queue_desired_slots: ({ queued, running }) => queued + running,
  carillon_queue_desired_workers: desiredWorkers,
} as const satisfies { readonly [Name in NameOf<"gauge">]?: (load: QueueLoad) => number };

/** Queues by name: the reader of loads bounds how many. Only one node shows them, so that a sum over nodes counts each once. */
export function loadMetrics(declared: DeclaredMetrics): ShowLoads {
  const names = Object.keys(valuesOf) as (keyof typeof valuesOf)[];
  const gauges = names.map((name) => [declared.gauge(name), valuesOf[name]] as const);
  const elected = declared.gauge("carillon_node_elected");
  return (loads) => {
    elected.set(loads === null ? 0 : 1);
    for (const [shown, valueOf] of gauges) {
      shown.reset();
      for (const load of loads ?? []) shown.set({ namespace: load.namespace, queue: load.queue }, valueOf(load));
    }
  };
}
