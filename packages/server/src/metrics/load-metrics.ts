import type { QueueStats } from "@carillon/engine";
import { Gauge, type Registry } from "prom-client";

/** A queue and what waits and works in it. */
export interface QueueLoad extends Pick<QueueStats, "queued" | "running" | "waitMs" | "workers" | "slots"> {
  readonly namespace: string;
  readonly queue: string;
}

/** Shows how loaded queues are; null where another node does. */
export type ShowLoads = (loads: readonly QueueLoad[] | null) => void;

/** Queues by name: the reader of loads bounds how many. Only one node shows them, so that a sum over nodes counts each once. */
export function loadMetrics(registry: Registry): ShowLoads {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ["namespace", "queue"] as const, registers: [registry] });
  const gauges = [
    [
      gauge("carillon_queue_depth_runs", "Runs that wait for a worker, counted up to a bound"),
      (load: QueueLoad) => load.queued,
    ],
    [
      gauge("carillon_queue_running_runs", "Runs that a worker has, counted up to a bound"),
      (load: QueueLoad) => load.running,
    ],
    [
      gauge("carillon_queue_oldest_age_seconds", "For how long the run that waits longest has been due"),
      (load: QueueLoad) => load.waitMs / 1_000,
    ],
    [gauge("carillon_queue_workers", "Workers that serve the queue"), (load: QueueLoad) => load.workers],
    [
      gauge("carillon_queue_worker_slots", "Slots of the workers that serve the queue"),
      (load: QueueLoad) => load.slots,
    ],
    [
      gauge("carillon_queue_desired_slots", "Slots at which nothing would wait: what an autoscaler goes by"),
      (load: QueueLoad) => load.queued + load.running,
    ],
  ] as const;
  const elected = new Gauge({
    name: "carillon_node_elected",
    help: "1 on the node that shows how loaded queues are",
    registers: [registry],
  });
  return (loads) => {
    elected.set(loads === null ? 0 : 1);
    for (const [shown, valueOf] of gauges) {
      shown.reset();
      for (const load of loads ?? []) shown.set({ namespace: load.namespace, queue: load.queue }, valueOf(load));
    }
  };
}
