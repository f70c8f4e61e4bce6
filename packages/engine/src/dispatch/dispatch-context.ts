import type { Clock, Timers } from "@carillon/core";
import type { Store } from "@carillon/store";
import type { LimitOwnerCache } from "../catalog/catalog.js";
import type { NamespaceCache } from "../catalog/namespaces.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun, TaskDurations } from "../catalog/rank-run.js";
import type { TaskCache } from "../catalog/tasks.js";
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
  readonly queues: Pick<QueueCache, "edition" | "inUse" | "isPaused" | "orderOf">;
  /** Runs of a queue or namespace with limits are claimed only once they are admitted. */
  readonly limitOwners: Pick<LimitOwnerCache, "isLimited" | "revision">;
  /** Keeps the defaults that workers register with their tasks. */
  readonly tasks: Pick<TaskCache, "register">;
  /** The weight of each namespace, for workers that serve several. */
  readonly namespaces: Pick<NamespaceCache, "nameOf" | "weightOf">;
  readonly durations: Pick<TaskDurations, "note">;
}
