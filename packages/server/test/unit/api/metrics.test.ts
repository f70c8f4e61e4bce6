import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.js";

/** The rules that `promtool check metrics` holds names to. */
function lint(text: string): string[] {
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => ({ name, type }));
  const helps = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map((match) => match[1]));
  return types.flatMap(({ name, type }) => [
    ...(helps.has(name) ? [] : [`${name} has no help`]),
    ...((type === "counter") === name.endsWith("_total") ? [] : [`${name} is a ${type}`]),
    ...(/_(ms|millis|milliseconds|minutes|kb|mb)(_|$)/.test(name) ? [`${name} is not in a base unit`] : []),
    ...(/_(histogram|gauge|counter|summary)(_|$)/.test(name) ? [`${name} names its type`] : []),
    ...(/[A-Z]/.test(name) ? [`${name} has capitals`] : []),
  ]);
}

const line = (text: string, start: string) => text.split("\n").find((one) => one.startsWith(start));

describe("metrics", () => {
  it("follow Prometheus' rules for names", async () => {
    const text = await createMetrics({ version: "1.2.3" }).render();
    expect(text).toContain("# TYPE nodejs_heap_size_used_bytes gauge");
    expect(lint(text)).toEqual([]);
  });

  it("say what runs here", async () => {
    const text = await createMetrics({ version: "1.2.3" }).render();
    expect(line(text, "carillon_build_info")).toBe(
      `carillon_build_info{version="1.2.3",node_version="${process.version}"} 1`,
    );
  });

  it("show the load of queues on one node only", async () => {
    const metrics = createMetrics({ version: "0" });
    metrics.watchStreams(() => ({ streams: 3, cut: 1 }));
    const load = { namespace: "default", queue: "mail", queued: 7, running: 2, waitMs: 1_500, workers: 1, slots: 4 };
    metrics.showLoads([load]);
    const text = await metrics.render();
    const of = '{namespace="default",queue="mail"}';
    expect(line(text, `carillon_queue_depth_runs${of}`)).toBe(`carillon_queue_depth_runs${of} 7`);
    expect(line(text, `carillon_queue_oldest_age_seconds${of}`)).toBe(`carillon_queue_oldest_age_seconds${of} 1.5`);
    expect(line(text, `carillon_queue_desired_slots${of}`)).toBe(`carillon_queue_desired_slots${of} 9`);
    expect(line(text, "carillon_event_streams ")).toBe("carillon_event_streams 3");
    expect(lint(text)).toEqual([]);
    metrics.showLoads(null);
    expect(await metrics.render()).not.toContain('queue="mail"');
    // Asked twice, it still counts once.
    expect(line(await metrics.render(), "carillon_event_streams_cut_total")).toBe("carillon_event_streams_cut_total 1");
  });

  it("follow the engine's events", async () => {
    const metrics = createMetrics({ version: "0" });
    const run = { namespaceId: 1, jobId: null, runId: "r", task: "echo", queue: "default" };
    const fired = {
      namespaceId: 1,
      runId: "r",
      jobId: "j",
      task: "echo",
      queue: "default",
      nominal: 0,
      class: "high",
      trigger: "schedule",
    } as const;
    metrics.engineEvent({ type: "run.fired", ...fired, lateMs: 20 });
    metrics.engineEvent({ type: "run.blocked", ...fired, lateMs: 0 });
    metrics.engineEvent({ type: "run.late", ...fired, lateMs: 90_000 });
    metrics.engineEvent({ type: "occurrence.missed", jobId: "j", count: 3 });
    metrics.engineEvent({ type: "occurrence.skipped", jobId: "j", reason: "overlap", count: 2 });
    metrics.engineEvent({ type: "job.parked", jobId: "j", error: new Error("x") });
    metrics.engineEvent({ type: "scheduler.ticked", durationMs: 30, fired: 1, promoted: 0, passed: 0, loaded: 0 });
    metrics.engineEvent({ type: "run.claimed", ...run, waitedMs: -5 });
    metrics.engineEvent({ type: "run.finished", ...run, status: "failed", durationMs: 1_500 });
    metrics.engineEvent({ type: "run.retried", ...run, delayMs: 1_000 });
    metrics.engineEvent({ type: "runs.moved", count: 7 });
    metrics.engineEvent({ type: "run.rescued", count: 2 });
    metrics.engineEvent({ type: "session.expired", count: 1 });
    metrics.engineEvent({ type: "shards.gained", count: 10 });
    metrics.engineEvent({ type: "shards.lost", count: 4 });
    metrics.engineEvent({ type: "node.skewed", skewMs: 3_600_000, toleranceMs: 500 });
    metrics.engineEvent({ type: "clock.measured", skewMs: -250, uncertaintyMs: 1 });
    metrics.engineEvent({ type: "write.refused", statement: "run.complete", count: 1 });
    metrics.engineEvent({ type: "loop.failed", loop: "rescuer", error: new Error("x") });
    const text = await metrics.render();
    for (const expected of [
      'carillon_fires_total{outcome="fired"} 1',
      'carillon_fires_total{outcome="blocked"} 1',
      'carillon_fires_total{outcome="missed"} 3',
      'carillon_fires_total{outcome="overlap"} 2',
      "carillon_fires_late_total 1",
      "carillon_jobs_parked_total 1",
      "carillon_tick_seconds_sum 0.03",
      'carillon_schedule_lag_seconds_bucket{le="0.025",class="high"} 2',
      'carillon_schedule_lag_seconds_sum{class="high"} 0.02',
      "carillon_start_latency_seconds_sum 0",
      'carillon_runs_finished_total{outcome="failed"} 1',
      'carillon_run_duration_seconds_sum{outcome="failed"} 1.5',
      "carillon_runs_retried_total 1",
      "carillon_runs_moved_total 7",
      "carillon_runs_rescued_total 2",
      "carillon_sessions_expired_total 1",
      "carillon_shards_owned 6",
      "carillon_clock_skew_seconds -0.25",
      'carillon_writes_refused_total{statement="run.complete"} 1',
      'carillon_loop_failures_total{loop="rescuer"} 1',
    ]) {
      expect(text.split("\n")).toContain(expected);
    }
  });

  it("measure HTTP calls in seconds", async () => {
    const metrics = createMetrics({ version: "0" });
    metrics.httpRequest({ method: "GET", route: "/v1/jobs", status: 200, durationMs: 250 });
    expect(line(await metrics.render(), "carillon_http_request_duration_seconds_sum")).toBe(
      'carillon_http_request_duration_seconds_sum{method="GET",route="/v1/jobs",status="200"} 0.25',
    );
  });
});
