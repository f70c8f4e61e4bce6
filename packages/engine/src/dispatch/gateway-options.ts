import type { Clock, DurationMs, Instant, Timers } from "@carillon/core";
import type { OnEngineEvent, FailedRun } from "../events.js";
import type { LimitOwnerCache } from "../catalog/limit-owner-cache.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun } from "../catalog/rank-run.js";
import type {
  BreakerStore,
  CallbackStore,
  ClaimedRun,
  ClaimStore,
  HandedRunStore,
  LaneStore,
  NamespaceStore,
  Offer,
  Queued,
  Random,
  RunRecords,
  SessionStore,
  UpstreamReads,
} from "@carillon/store";
import type { TaskCache } from "../catalog/tasks.js";
import type { ResultsOptions } from "./results/results.js";

export interface HandOvers {
  readonly store: Pick<HandedRunStore, "read" | "find">;
  /** Passes an offer on to who stores runs. */
  readonly send: (to: string, offer: Offer) => void;
  /** Of these runs, queues again those whose session is gone. */
  readonly rescue: (runIds: readonly string[]) => Promise<void>;
}

export interface GatewayOptions {
  readonly claims: ClaimStore;
  readonly sessions: SessionStore;
  readonly lanes: LaneStore;
  readonly namespaces: NamespaceStore;
  readonly records: RunRecords;
  readonly callbacks: CallbackStore;
  readonly upstream: UpstreamReads;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly random: Random;
  /** Where a run stands in its queue. */
  readonly rank: RankRun;
  /** A paused queue hands out nothing. */
  readonly queues: Pick<QueueCache, "isPaused" | "edition" | "inUse">;
  /** Of a queue or a namespace with limits only what was admitted is handed out. */
  readonly limitOwners: Pick<LimitOwnerCache, "isLimited" | "revision">;
  /** Keeps what workers say about runs of their tasks. */
  readonly tasks: Pick<TaskCache, "register">;
  /** A worker said something new: other nodes are to know. */
  readonly onTasksChanged?: () => void;
  /** A worker is served here. */
  readonly onServing?: () => void;
  /** For runs that are stored as those of a worker; left out: nobody is offered any worker. */
  readonly handOvers?: HandOvers;
  readonly breakers: BreakerStore;
  /** Breakers opened or closed: other nodes are to know. */
  readonly onBreakersChanged?: () => void;
  /** The share of a namespace in workers that serve several. */
  readonly weightOf: (namespaceId: number) => number;
  /** Runs that held limits are over, for now or for good. */
  readonly onReleased?: (runIds: readonly string[]) => void;
  /** Runs that hold limits were claimed. */
  readonly onLimitedClaimed?: (runIds: readonly string[]) => void;
  readonly onDuration: ResultsOptions["onDuration"];
  readonly newId: () => string;
  /** A run whose hint was lost is found after at most this time. */
  readonly fullLookMs: DurationMs;
  /** How long a claim that failed may still be done by the database. */
  readonly doubtMs: DurationMs;
  readonly batch: number;
  readonly onRetry: (runs: readonly { id: string; shard: number; runAt: Instant }[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly onFreed: (jobIds: readonly string[]) => void;
  /** Runs that were to stop came back from their worker: nobody is to try them again. */
  readonly onStopped: (runIds: readonly string[]) => Promise<void>;
  readonly onFailed: (run: FailedRun) => void;
  /** Whether somebody is to be told that the run succeeded. */
  readonly isToldOf: (run: ClaimedRun) => boolean;
  readonly onEvent: OnEngineEvent;
  readonly onError: (error: unknown) => void;
}
