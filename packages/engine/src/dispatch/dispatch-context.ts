import type { Clock, Timers } from "@carillon/core";
import type { Store } from "@carillon/store";
import type { LimitOwners } from "../catalog/limit-owner-cache.js";
import type { NamespaceBook } from "../catalog/namespace-cache.js";
import type { QueueBook } from "../catalog/queue-cache.js";
import type { RankRun } from "../catalog/rank-run.js";
import type { TaskBook } from "../catalog/task-cache.js";
import type { TaskDurations } from "../catalog/task-durations.js";
import type { EngineContext } from "../context.js";
import type { Loops } from "../loops/loops.js";
import type { EngineLimits } from "../options.js";
import type { Wakeups } from "../wakeups/wakeups.js";

/** The parts of the engine's context that dispatch uses. */
export interface DispatchContext extends Pick<EngineContext, "emit" | "loopFailed" | "newId" | "now" | "random"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  readonly store: Pick<
    Store,
    | "breakers"
    | "callbacks"
    | "claims"
    | "directRuns"
    | "lanes"
    | "namespaces"
    | "records"
    | "runs"
    | "sessions"
    | "upstream"
  >;
  readonly limits: Pick<EngineLimits, "claimBatch" | "fullScanIntervalMs" | "maxLosses" | "workerTimeoutMs">;
  readonly wakeups: Pick<
    Wakeups,
    "announce" | "on" | "publish" | "requestAs" | "runsDue" | "runsQueued" | "serveWorkers"
  >;
  readonly loops: Pick<Loops, "register">;
}

/** The parts of the catalog that dispatch reads. */
export interface DispatchCatalog {
  readonly rank: RankRun;
  /** Runs of a paused queue are not claimed. */
  readonly queues: Pick<QueueBook, "edition" | "inUse" | "isPaused" | "orderOf">;
  /** Runs of a queue or namespace with limits are claimed only once they are admitted. */
  readonly limitOwners: Pick<LimitOwners, "isLimited" | "revision">;
  /** Keeps the defaults that workers register with their tasks. */
  readonly tasks: Pick<TaskBook, "register">;
  /** The weight of each namespace, for workers that serve several. */
  readonly namespaces: Pick<NamespaceBook, "weightOf">;
  readonly durations: Pick<TaskDurations, "note">;
}
