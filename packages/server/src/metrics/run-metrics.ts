import type { EngineEvent, OnEngineEvent } from "@carillon/engine";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { durationBuckets, latencyBuckets } from "./buckets.js";

/** Turns what the engine says into numbers. Labels are closed lists only: a label per task or queue would grow with use. */
export function runMetrics(registry: Registry): OnEngineEvent {
  const registers = [registry];
  const count = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter<Label>({ name, help, labelNames, registers });
  const fires = count("carillon_fires_total", "Occurrences by what became of them: a run, or an entry of the ledger", [
    "outcome",
  ]);
  const late = count("carillon_fires_late_total", "Runs made later than their job's misfire threshold");
  const parked = count("carillon_jobs_parked_total", "Jobs paused because they could not be fired");
  const finished = count("carillon_runs_finished_total", "Runs that ended, by outcome", ["outcome"]);
  const retried = count("carillon_runs_retried_total", "Attempts that failed and will be tried again");
  const waiting = count("carillon_runs_waiting_total", "Runs that began to wait for a callback, without a worker");
  const snoozed = count("carillon_runs_snoozed_total", "Runs whose handlers asked to be called later");
  const moved = count("carillon_runs_moved_total", "One-off jobs far from their time that came near it");
  const rescued = count("carillon_runs_rescued_total", "Runs taken back from workers that were lost");
  const expired = count("carillon_sessions_expired_total", "Worker sessions that stopped their heartbeat");
  const refused = count("carillon_writes_refused_total", "Writes that came too late and changed nothing", [
    "statement",
  ]);
  const failures = count("carillon_loop_failures_total", "Passes of a background loop that failed", ["loop"]);
  const lag = new Histogram({
    name: "carillon_schedule_lag_seconds",
    help: "How long after its time an occurrence became a run, by priority class",
    labelNames: ["class"] as const,
    buckets: latencyBuckets,
    registers,
  });
  const ticks = new Histogram({
    name: "carillon_tick_seconds",
    help: "How long one pass of the scheduler took",
    buckets: latencyBuckets,
    registers,
  });
  const latency = new Histogram({
    name: "carillon_start_latency_seconds",
    help: "How long a run that was due waited for a worker",
    buckets: latencyBuckets,
    registers,
  });
  const duration = new Histogram({
    name: "carillon_run_duration_seconds",
    help: "How long the last attempt of a run took, by outcome",
    labelNames: ["outcome"] as const,
    buckets: durationBuckets,
    registers,
  });
  const shards = new Gauge({
    name: "carillon_shards_owned",
    help: "Shards whose fires this node looks after",
    registers,
  });
  const takeovers = new Histogram({
    name: "carillon_takeover_seconds",
    help: "From the last sign of life of a node to the takeover of its shards",
    buckets: [0.5, 1, 1.5, 2, 3, 5, 7, 10, 20],
    registers,
  });
  const deaths = count(
    "carillon_nodes_declared_dead_total",
    "Nodes that this one declared dead, by how it was noticed",
    ["how"],
  );
  const backfilled = count(
    "carillon_backfill_instants_total",
    "Instants that backfills dealt with, by what became of them",
    ["outcome"],
  );
  const skew = new Gauge({
    name: "carillon_clock_skew_seconds",
    help: "This host's clock minus the database's, at the last measurement",
    registers,
  });

  const by: { readonly [Type in EngineEvent["type"]]: (event: Extract<EngineEvent, { type: Type }>) => void } = {
    "run.fired": (event) => {
      fires.inc({ outcome: "fired" });
      lag.observe({ class: event.class }, seconds(event.lateMs));
    },
    "run.blocked": (event) => {
      fires.inc({ outcome: "blocked" });
      lag.observe({ class: event.class }, seconds(event.lateMs));
    },
    "run.late": () => late.inc(),
    "occurrence.missed": (event) => fires.inc({ outcome: "missed" }, event.count),
    "occurrence.skipped": (event) => fires.inc({ outcome: event.reason }, event.count),
    "job.parked": () => parked.inc(),
    "backfill.stepped": ({ made, passed, skipped }) => {
      backfilled.inc({ outcome: "made" }, made);
      backfilled.inc({ outcome: "already_ran" }, passed);
      backfilled.inc({ outcome: "overlap" }, skipped);
    },
    "backfill.ended": () => undefined,
    "scheduler.ticked": ({ durationMs }) => ticks.observe(seconds(durationMs)),
    "run.claimed": ({ waitedMs }) => latency.observe(seconds(waitedMs)),
    "run.finished": ({ status, durationMs }) => {
      finished.inc({ outcome: status });
      duration.observe({ outcome: status }, seconds(durationMs));
    },
    "run.retried": () => retried.inc(),
    "run.snoozed": () => snoozed.inc(),
    "run.progressed": () => undefined,
    "job.changed": () => undefined,
    "queue.changed": () => undefined,
    "run.waiting": () => waiting.inc(),
    "runs.moved": (event) => moved.inc(event.count),
    "run.rescued": (event) => rescued.inc(event.count),
    "session.expired": (event) => expired.inc(event.count),
    "shards.gained": (event) => shards.inc(event.count),
    "shards.lost": (event) => shards.dec(event.count),
    "shards.taken_over": ({ durationMs }) => {
      if (durationMs !== null) takeovers.observe(seconds(durationMs));
    },
    "node.joined": () => undefined,
    "node.left": () => undefined,
    "node.dead": ({ by: how }) => deaths.inc({ how }),
    "clock.measured": ({ skewMs }) => skew.set(skewMs / 1_000),
    "node.skewed": ({ skewMs }) => skew.set(skewMs / 1_000),
    "node.in_time": ({ skewMs }) => skew.set(skewMs / 1_000),
    "leases.voided": () => undefined,
    "lineage.unknown": () => undefined,
    "write.refused": ({ statement, count: writes }) => refused.inc({ statement }, writes),
    "loop.failed": ({ loop }) => failures.inc({ loop }),
  };
  return (event) => dispatch(by, event);
}

/** Clocks of two machines can disagree by a little; a wait is never negative. */
function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}

function dispatch<Event extends { readonly type: string }>(
  by: { readonly [Type in Event["type"]]: (event: Extract<Event, { type: Type }>) => void },
  event: Event,
): void {
  const handle = by[event.type as Event["type"]] as (event: Event) => void;
  handle(event);
}
