import type { OnEngineEvent } from "@carillon/engine";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ApiMetrics } from "../api/ports.js";
import type { DeliveryOutcome } from "../webhooks/delivery-outcome.js";
import { latencyBuckets } from "./buckets.js";
import { loadMetrics, type ShowLoads } from "./load-metrics.js";
import { runMetrics } from "./run-metrics.js";

/** All numbers of a node. The wiring connects the engine's events to it and gives it to the API. */
export interface Metrics extends ApiMetrics {
  readonly showLoads: ShowLoads;
  /** Shows what there is to tell of the streams of events. */
  readonly watchStreams: (of: () => { readonly streams: number; readonly cut: number }) => void;
  /** What became of one try to send a message. */
  readonly webhookDelivery: (outcome: DeliveryOutcome) => void;
  readonly engineEvent: OnEngineEvent;
}

/** Gauges that the library names as if they were counters, which Prometheus' own linter refuses. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: "carillon_build_info",
    help: "Always 1; the labels say what runs here",
    labelNames: ["version", "node_version"],
    registers: [registry],
  }).set({ version, node_version: process.version }, 1);
  const http = new Histogram({
    name: "carillon_http_request_duration_seconds",
    help: "Time from a request's arrival to the end of its answer",
    labelNames: ["method", "route", "status"] as const,
    buckets: latencyBuckets,
    registers: [registry],
  });
  const deliveries = new Counter({
    name: "carillon_webhook_deliveries_total",
    help: "Tries to send a message to a webhook endpoint or a callback address, by outcome",
    labelNames: ["outcome"] as const,
    registers: [registry],
  });
  return {
    showLoads: loadMetrics(registry),
    watchStreams: (of) => streamMetrics(registry, of),
    webhookDelivery: (outcome) => deliveries.inc({ outcome }),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    httpRequest: ({ method, route, status, durationMs }) =>
      http.observe({ method, route, status: String(status) }, durationMs / 1_000),
    engineEvent: runMetrics(registry),
  };
}

function streamMetrics(registry: Registry, of: () => { readonly streams: number; readonly cut: number }): void {
  const streams = new Gauge({
    name: "carillon_event_streams",
    help: "Readers that follow the events of this node",
    registers: [],
    collect() {
      this.set(of().streams);
    },
  });
  let told = 0;
  const cutOff = new Counter({
    name: "carillon_event_streams_cut_total",
    help: "Readers that were cut off because they did not read",
    registers: [],
    collect() {
      const { cut } = of();
      this.inc(cut - told);
      told = cut;
    },
  });
  registry.registerMetric(streams);
  registry.registerMetric(cutOff);
}
