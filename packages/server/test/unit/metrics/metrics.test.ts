import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { metricCatalogue } from "../../../src/metrics/catalogue.js";
import { createMetrics } from "../../../src/metrics/metrics.js";
import { lintNames, parseExposition } from "./exposition.js";

const line = (text: string, start: string) => text.split("\n").find((one) => one.startsWith(start));

describe("metrics", () => {
  it("the names of metrics follow the rules of Prometheus", async () => {
    const families = parseExposition(await createMetrics({ version: "1.2.3" }).render());
    expect(families.get("nodejs_heap_size_used_bytes")?.type).toBe("gauge");
    expect(lintNames(families.values())).toEqual([]);
  });

  it("a scrape has exactly the declared metrics, with their declared types and labels", async () => {
    const metrics = createMetrics({ version: "1.2.3" });
    metrics.watchStreams(() => ({ streams: 0, dropped: 0 }));
    metrics.watchNode({ engine: () => null, database: () => null });
    const families = parseExposition(await metrics.render());
    const ours = [...families.values()].filter(({ name }) => name.startsWith("carillon_"));
    expect(ours.map(({ name }) => name).sort()).toEqual(Object.keys(metricCatalogue).sort());
    for (const { name, type, help } of ours) {
      expect({ name, type, help }).toMatchObject({
        type: metricCatalogue[name as keyof typeof metricCatalogue].type,
        help: metricCatalogue[name as keyof typeof metricCatalogue].help,
      });
    }
  });

  it("the observability guide names only declared metrics", () => {
    const guide = readFileSync(new URL("../../../../../docs/guides/observability.md", import.meta.url), "utf8");
    const named = new Set(
      [...guide.matchAll(/carillon_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, "")),
    );
    expect(named.size).toBeGreaterThan(20);
    expect([...named].filter((name) => !(name in metricCatalogue))).toEqual([]);
  });

  it("metrics show workers, lease and connections as of the scrape", async () => {
    const metrics = createMetrics({ version: "0" });
    const load = {
      workers: 2,
      slots: 20,
      usedSlots: 7,
      heldRuns: 9,
      leaseMs: 5_000,
      leaseAgeMs: 800,
      writesWaiting: 4,
    };
    const pool = { limit: 6, busy: 3, idle: 1, waiting: 2 };
    metrics.watchNode({ engine: () => load, database: () => ({ isUp: true, pool, hot: 5, reserved: 1 }) });
    metrics.watchAdmission({
      calls: { calls: 8, bytes: 640 },
      waits: { calls: 0, bytes: 0 },
      workers: { calls: 1, bytes: 2 },
    });
    metrics.httpProblem("overloaded");
    metrics.rateLimited("bulk");
    metrics.databaseEvent({ type: "connection.lost", role: "hot", reason: "gone" });
    metrics.databaseEvent({ type: "transaction.retried", sqlState: "40001", attempt: 1 });
    const lines = (await metrics.render()).split("\n");
    for (const expected of [
      "carillon_workers 2",
      "carillon_worker_slots 20",
      "carillon_worker_slots_used 7",
      "carillon_runs_in_flight 9",
      "carillon_shard_lease_seconds 5",
      "carillon_shard_lease_age_seconds 0.8",
      "carillon_database_up 1",
      "carillon_database_writes_pending 4",
      "carillon_database_pool_limit 6",
      'carillon_database_pool_connections{state="busy"} 3',
      'carillon_database_pool_connections{state="idle"} 1',
      "carillon_database_pool_waiting 2",
      'carillon_database_statements_in_flight{role="hot"} 5',
      'carillon_database_connections_lost_total{role="hot"} 1',
      "carillon_database_transactions_retried_total 1",
      'carillon_http_requests_in_flight{budget="calls"} 8',
      'carillon_http_requests_in_flight_bytes{budget="workers"} 2',
      'carillon_http_problems_total{code="overloaded"} 1',
      'carillon_http_rate_limited_total{class="bulk"} 1',
    ]) {
      expect(lines).toContain(expected);
    }
  });

  it("a metric shows the version", async () => {
    const text = await createMetrics({ version: "1.2.3" }).render();
    expect(line(text, "carillon_build_info")).toBe(
      `carillon_build_info{version="1.2.3",node_version="${process.version}"} 1`,
    );
  });

  it("only the leader exports the load of queues", async () => {
    const metrics = createMetrics({ version: "0" });
    metrics.watchStreams(() => ({ streams: 3, dropped: 1 }));
    const load = { namespace: "default", queue: "mail", queued: 7, running: 2, waitMs: 1_500, workers: 1, slots: 4 };
    metrics.exportLoads([load]);
    const text = await metrics.render();
    const of = '{namespace="default",queue="mail"}';
    expect(line(text, `carillon_queue_depth${of}`)).toBe(`carillon_queue_depth${of} 7`);
    expect(line(text, `carillon_queue_oldest_run_age_seconds${of}`)).toBe(
      `carillon_queue_oldest_run_age_seconds${of} 1.5`,
    );
    expect(line(text, `carillon_queue_desired_slots${of}`)).toBe(`carillon_queue_desired_slots${of} 9`);
    expect(line(text, `carillon_queue_desired_workers${of}`)).toBe(`carillon_queue_desired_workers${of} 3`);
    expect(line(text, "carillon_event_streams ")).toBe("carillon_event_streams 3");
    expect(lintNames(parseExposition(text).values())).toEqual([]);
    metrics.exportLoads(null);
    expect(await metrics.render()).not.toContain('queue="mail"');
    // A second scrape does not count it again.
    expect(line(await metrics.render(), "carillon_event_streams_dropped_total")).toBe(
      "carillon_event_streams_dropped_total 1",
    );
  });

  it("metrics count the engine's events", async () => {
    const metrics = createMetrics({ version: "0" });
    const run = { namespaceId: 1, jobId: null, runId: "r", task: "echo", queue: "default" };
    const fired = {
      namespaceId: 1,
      runId: "r",
      jobId: "j",
      task: "echo",
      queue: "default",
      scheduledFor: 0,
      priorityClass: "high",
      trigger: "schedule",
    } as const;
    metrics.engineEvent({ type: "run.fired", ...fired, lateMs: 20 });
    metrics.engineEvent({ type: "run.blocked", ...fired, lateMs: 0 });
    metrics.engineEvent({ type: "run.late", ...fired, lateMs: 90_000 });
    metrics.engineEvent({ type: "occurrence.missed", jobId: "j", count: 3 });
    metrics.engineEvent({ type: "occurrence.skipped", jobId: "j", reason: "overlap", count: 2 });
    metrics.engineEvent({ type: "job.quarantined", namespaceId: 1, jobId: "j", reason: "x" });
    metrics.engineEvent({ type: "scheduler.ticked", durationMs: 30, fired: 1, promoted: 0, passed: 0, loaded: 0 });
    metrics.engineEvent({ type: "run.started", ...run, waitedMs: -5 });
    metrics.engineEvent({ type: "run.failed", ...run, durationMs: 1_500 });
    metrics.engineEvent({ type: "run.retrying", ...run, delayMs: 1_000 });
    metrics.engineEvent({ type: "runs.promoted", count: 7 });
    metrics.engineEvent({ type: "runs.rescued", count: 2 });
    metrics.engineEvent({ type: "sessions.expired", count: 1 });
    metrics.engineEvent({ type: "shards.acquired", count: 10 });
    metrics.engineEvent({ type: "shards.lost", count: 4 });
    metrics.engineEvent({ type: "clock.skewed", skewMs: 3_600_000, toleranceMs: 500 });
    metrics.engineEvent({ type: "clock.measured", skewMs: -250, uncertaintyMs: 1 });
    metrics.engineEvent({ type: "write.fenced", statement: "run.complete", count: 1 });
    metrics.engineEvent({ type: "loop.failed", loop: "rescuer", error: new Error("x") });
    const text = await metrics.render();
    for (const expected of [
      'carillon_fires_total{outcome="fired"} 1',
      'carillon_fires_total{outcome="blocked"} 1',
      'carillon_fires_total{outcome="missed"} 3',
      'carillon_fires_total{outcome="overlap"} 2',
      "carillon_fires_late_total 1",
      "carillon_jobs_quarantined_total 1",
      "carillon_scheduler_tick_seconds_sum 0.03",
      'carillon_schedule_lag_seconds_bucket{le="0.025",class="high"} 2',
      'carillon_schedule_lag_seconds_sum{class="high"} 0.02',
      "carillon_run_start_latency_seconds_sum 0",
      'carillon_runs_finished_total{outcome="failed"} 1',
      'carillon_run_duration_seconds_sum{outcome="failed"} 1.5',
      "carillon_runs_retried_total 1",
      "carillon_runs_promoted_total 7",
      "carillon_runs_rescued_total 2",
      "carillon_worker_sessions_expired_total 1",
      "carillon_shards_owned 6",
      "carillon_clock_skew_seconds -0.25",
      'carillon_fenced_writes_total{statement="run.complete"} 1',
      'carillon_loop_failures_total{loop="rescuer"} 1',
    ]) {
      expect(text.split("\n")).toContain(expected);
    }
  });

  it("metrics measure HTTP calls in seconds", async () => {
    const metrics = createMetrics({ version: "0" });
    metrics.httpRequest({ method: "GET", route: "/v1/jobs", status: 200, durationMs: 250 });
    expect(line(await metrics.render(), "carillon_http_request_duration_seconds_sum")).toBe(
      'carillon_http_request_duration_seconds_sum{method="GET",route="/v1/jobs",status="200"} 0.25',
    );
  });
});
