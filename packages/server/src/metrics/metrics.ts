import type { DatabaseEvent, OnEngineEvent } from "@carillon/engine";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { ApiMetrics } from "../api/http/handler.js";
import type { DeliveryOutcome } from "../events/delivery-outcome.js";
import { DeclaredMetrics } from "./declared-metrics.js";
import { loadMetrics, type ShowLoads } from "./queue-metrics.js";
import { databaseMetrics, type NodeLoads, watchNode } from "./node-metrics.js";
import { runMetrics } from "./engine-metrics.js";

/** All numbers of a node. The wiring connects the engine's events to it and gives it to the API. */
export interface Metrics extends ApiMetrics {
  readonly showLoads: ShowLoads;
  /** Shows what there is to tell of the streams of events. */
  readonly watchStreams: (of: () => { readonly streams: number; readonly cut: number }) => void;
  readonly watchNode: (loads: NodeLoads) => void;
  /** What became of one try to send a message. */
  readonly webhookDelivery: (outcome: DeliveryOutcome) => void;
  readonly engineEvent: OnEngineEvent;
  readonly databaseEvent: (event: DatabaseEvent) => void;
}

/** Gauges that the library names as if they were counters, which Prometheus' own linter refuses. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const declared = new DeclaredMetrics(registry);
  declared.gauge("carillon_build_info").set({ version, node_version: process.version }, 1);
  const deliveries = declared.counter("carillon_webhook_deliveries_total");
  return {
    showLoads: loadMetrics(declared),
    watchStreams: (of) => streamMetrics(declared, of),
    watchNode: (loads) => watchNode(declared, loads),
    webhookDelivery: (outcome) => deliveries.inc({ outcome }),
    contentType: registry.contentType,
    render: () => registry.metrics(),
    ...httpMetrics(declared),
    engineEvent: runMetrics(declared),
    databaseEvent: databaseMetrics(declared),
  };
}

function httpMetrics(
  declared: DeclaredMetrics,
): Pick<ApiMetrics, "httpRequest" | "httpProblem" | "rateLimited" | "watchIntake"> {
  const durations = declared.histogram("carillon_http_request_duration_seconds");
  const problems = declared.counter("carillon_http_problems_total");
  const rateLimited = declared.counter("carillon_http_rate_limited_total");
  let shown: Parameters<ApiMetrics["watchIntake"]>[0] | null = null;
  declared.watch("carillon_http_requests_active", (gauge) => {
    for (const [budget, { calls }] of Object.entries(shown ?? {})) gauge.set({ budget }, calls);
  });
  declared.watch("carillon_http_request_active_bytes", (gauge) => {
    for (const [budget, { bytes }] of Object.entries(shown ?? {})) gauge.set({ budget }, bytes);
  });
  return {
    httpRequest: ({ method, route, status, durationMs }) =>
      durations.observe({ method, route, status: String(status) }, durationMs / 1_000),
    httpProblem: (code) => problems.inc({ code }),
    rateLimited: (name) => rateLimited.inc({ class: name }),
    watchIntake(load) {
      shown = load;
    },
  };
}

function streamMetrics(declared: DeclaredMetrics, of: () => { readonly streams: number; readonly cut: number }): void {
  declared.watch("carillon_event_streams", (gauge) => gauge.set(of().streams));
  declared.follow("carillon_event_streams_cut_total", () => of().cut);
}
