import { CarillonError, type IdPrefix, isRunEnd, shownId } from "@carillon/core";
import type { DatabaseEvent, EngineEvent } from "@carillon/engine";
import { LogThrottle, type WorkerEvent } from "@carillon/worker";
import type { Logger } from "pino";

/** Events that an operator must see are warnings; those of normal operation are debug. */
export function logDatabaseEvent(logger: Logger, { type, ...event }: DatabaseEvent): void {
  const log = logger.child({ component: "database" });
  switch (type) {
    case "database.down":
      return log.error(plain(event), "the database is down; calls get 503 until it is back");
    case "database.up":
      return log.info(plain(event), "the database is back");
    case "database.history_left":
      return log.warn(
        plain(event),
        "the database was failed over or restored: this node begins again with empty memory",
      );
    case "database.server_replaced":
      return log.error(
        plain(event),
        "a server of the database URL was replaced by a failover and runs on: it is refused",
      );
    case "clock.stepped":
      return log.warn(plain(event), "the clock of the database was changed, or this machine was suspended");
    case "listen.unavailable":
    case "statement_names.off":
      return log.warn(plain(event), type);
    default:
      return log.debug(plain(event), type);
  }
}

/** Events of every run: they must cost nothing unless debug is enabled. */
const perRunEvents: ReadonlySet<EngineEvent["type"]> = new Set([
  "run.fired",
  "run.started",
  "run.progress",
  "run.succeeded",
  "run.failed",
  "run.cancelled",
]);

/** Events of a cluster: debug on a node with an embedded database, which has no others. */
const clusterEvents: ReadonlySet<EngineEvent["type"]> = new Set([
  "shards.acquired",
  "shards.taken_over",
  "node.joined",
  "node.left",
]);

export interface EngineLogOptions {
  /** No other node can be alive. */
  readonly isOnlyNode?: boolean;
}

export function logEngineEvent(
  logger: Logger,
  engineEvent: EngineEvent,
  { isOnlyNode = false }: EngineLogOptions = {},
): void {
  if (perRunEvents.has(engineEvent.type) && !logger.isLevelEnabled("debug")) return;
  const { type, ...event } = engineEvent;
  const log = logger.child({ component: "engine" });
  if (isOnlyNode && clusterEvents.has(type)) return log.debug(plain(event), type);
  switch (type) {
    case "loop.failed":
      return log[levelOfFailure(event)](plain(event), "a background loop failed and will be retried");
    case "sessions.expired":
    case "runs.rescued":
    case "write.fenced":
    case "shards.lost":
    case "node.lost":
    case "clock.skewed":
    case "database.timeline_changed":
    case "database.timeline_unknown":
    case "job.quarantined":
    case "run.sla_breached":
      return log.warn(plain(event), type);
    case "shards.acquired":
    case "shards.taken_over":
    case "node.joined":
    case "node.left":
    case "clock.in_sync":
    case "backfill.ended":
      return log.info(plain(event), type);
    default:
      return log.debug(plain(event), type);
  }
}

/** For `dev`: each run that has ended, throttled by task and status. */
export function runEndLog(logger: Logger, monotonic: () => number): (event: EngineEvent) => void {
  const log = logger.child({ component: "run" });
  const throttle = new LogThrottle(monotonic);
  return (event) => {
    if (!isRunEnd(event)) return;
    const { type, task, durationMs, runId } = event;
    const status = type.slice("run.".length);
    const passed = throttle.admit(`${task} ${status}`);
    if (passed === null) return;
    const about = { run_id: shownId("run", runId), ...(passed.suppressed > 0 && { not_logged: passed.suppressed }) };
    log[status === "failed" ? "warn" : "info"](about, `${task} ${status} in ${Math.round(durationMs)} ms`);
  };
}

export interface WorkerLogOptions {
  readonly monotonic: () => number;
  /** Whether the log has stacks: useful for the user's own tasks. */
  readonly stacks: boolean;
}

/** Failed attempts are throttled by task and error: a task that always fails must not fill the disk. */
export function workerLog(logger: Logger, { monotonic, stacks }: WorkerLogOptions): (event: WorkerEvent) => void {
  const log = logger.child({ component: "worker" });
  const throttle = new LogThrottle(monotonic);
  return (event) => {
    if (event.type !== "run.attempt_failed") return logWorkerEvent(log, event);
    const { runId, task, attempt, maxAttempts, error } = event;
    const passed = throttle.admit(`${task} ${error.type}`);
    if (passed === null) return;
    const about = {
      run_id: shownId("run", runId),
      ...(passed.suppressed > 0 && { not_logged: passed.suppressed }),
      ...(stacks && error.stack !== undefined && { err: { type: error.type, stack: error.stack } }),
    };
    log.warn(about, `attempt ${attempt} of ${maxAttempts} of ${task} failed: ${error.type}: ${error.message}`);
  };
}

function logWorkerEvent(log: Logger, { type, ...event }: WorkerEvent): void {
  if (type === "worker.started") return log.debug(plain(event), type);
  if (type === "worker.drained") return log.info(plain(event), type);
  return log[levelOfFailure(event)](plain(event), type);
}

/** The loss of the database is logged once; the failures that follow from it are debug. */
function levelOfFailure(event: object): "debug" | "warn" {
  const error = "error" in event ? event.error : null;
  return error instanceof CarillonError && error.code === "database_unavailable" ? "debug" : "warn";
}

const idNames: Readonly<Record<string, readonly [name: string, prefix: IdPrefix]>> = {
  runId: ["run_id", "run"],
  jobId: ["job_id", "job"],
  nodeId: ["node_id", "node"],
  workerId: ["worker_id", "wrk"],
  backfillId: ["backfill_id", "bkf"],
  fromNodeId: ["from_node_id", "node"],
};

/** An Error would be logged as {}, and internal ids are replaced by public ones. */
function plain(event: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { reason, error, ...others } = event;
  const rest = Object.fromEntries(
    Object.entries(others).map(([field, value]) => {
      const [name, prefix] = idNames[field] ?? [];
      return name === undefined || prefix === undefined || typeof value !== "string"
        ? [field, value]
        : [name, shownId(prefix, value)];
    }),
  );
  const thrown = reason ?? error;
  if (thrown === undefined) return rest;
  return thrown instanceof Error ? { ...rest, reason: thrown.message } : { ...rest, reason: thrown };
}
