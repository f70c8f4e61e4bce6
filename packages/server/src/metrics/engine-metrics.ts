import type { EngineEvent, OnEngineEvent } from "@carillon/engine";
import type { DeclaredMetrics } from "./declared-metrics.js";

/** Counts the engine's events. */
export function engineMetrics(declared: DeclaredMetrics): OnEngineEvent {
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
