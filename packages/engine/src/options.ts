import type { Clock, DurationMs, Timers } from "@carillon/core";
import type { Gateway } from "./dispatch/gateway.js";
import type { RemoteWorkers } from "./dispatch/remote/remote-workers.js";
import type { WorkerLoad } from "./dispatch/served-sessions.js";
import type { WorkerDoor } from "./dispatch/remote/namespace-guard.js";
import type { OnEngineEvent } from "./events.js";
import type { LaterLimits } from "./scheduler/far-future-promoter.js";
import type { EngineApi } from "./jobs/engine-api.js";
import type { Breakers } from "./breakers/breakers.js";
import type { Backfills } from "./backfills/backfills.js";
import type { Limits } from "./limits/limits.js";
import type { Queues } from "./catalog/queues.js";
import type { Callbacks } from "./dispatch/results/callbacks.js";
import type { Catalogue } from "./catalog/tasks.js";
import type { Calendars } from "./schedules/calendars.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import type { Forecasts } from "./forecast/forecasts.js";
import type { Explanations } from "./explain/explanations.js";
import type { Failures } from "./dead-letters/failures.js";
import type { JobChanges } from "./jobs/job-changes.js";
import type { Operations } from "./operations/operations.js";
import type { RunChanges } from "./runs/run-changes.js";
import type { Receipts } from "./enqueue/idempotency/receipts.js";
import type { Namespaces } from "./catalog/namespaces.js";
import type { RunLogs } from "./runs/run-logs.js";
import type { Webhooks } from "./webhooks/webhooks.js";
import type { Workers } from "./dispatch/sessions/workers.js";
import type { Database, Random } from "@carillon/store";

export interface EngineOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  /** No other node can be alive; see RowRegistryOptions. */
  readonly alone: boolean;
  /** Decides who is a member and who owns which shard; PostgreSQL itself does when this is left out. */
  readonly etcd?: EtcdOptions;
  /** It stores jobs and runs and leaves firing them and handing them out to others. */
  readonly enqueueOnly?: boolean;
  readonly onEvent?: OnEngineEvent;
  readonly limits?: Partial<EngineLimits>;
}

export interface EtcdOptions {
  /** Such as http://127.0.0.1:2379; tried in turn. */
  readonly endpoints: readonly string[];
  /** The beginning of every key; clusters that share an etcd differ in it. */
  readonly prefix: string;
}

/** Every bound of the engine, with its default below. */
export interface EngineLimits {
  /** How long a silent node keeps its shards. */
  readonly leaseMs: DurationMs;
  /** A node whose wall clock is further from the database's leaves the shards to the others. */
  readonly skewToleranceMs: DurationMs;
  /** How long a silent worker keeps its runs. */
  readonly workerSilenceMs: DurationMs;
  /** A run whose hint was lost is found after at most this time. */
  readonly fullLookMs: DurationMs;
  /** How often a run may lose its worker before it is given up. */
  readonly mostLosses: number;
  /** Runs that one statement ends or claims at most. */
  readonly claimBatch: number;
  readonly insertBatch: number;
  readonly insertQueue: number;
  /** What is to be written is refused when it has waited this long. */
  readonly insertPatienceMs: DurationMs;
  readonly rescueBatch: number;
  /** Dedupe keys that one pass of the sweep looks at. */
  readonly sweepBatch: number;
  /** How long a change of a job waits for whoever holds the job. */
  readonly changePatienceMs: DurationMs;
  /** Callers that may wait for the end of a run. */
  readonly runWaiters: number;
  /** A webhook endpoint that takes nothing for so long is disabled. */
  readonly webhookFailingMs: DurationMs;
  /** Days before today whose runs are kept, with what was done about them and the kinds of their errors. */
  readonly historyDays: number;
  /** Days before today whose logs are kept. */
  readonly logDays: number;
  /** Schedules kept compiled, about 2 KB each; jobs with the same rule share one. */
  readonly compiledSchedules: number;
  /** Bounds of the mover of run_later that differ from its defaults. */
  readonly later: Partial<LaterLimits>;
}

export const defaultLimits: EngineLimits = Object.freeze({
  leaseMs: 5_000,
  skewToleranceMs: 500,
  workerSilenceMs: 15_000,
  fullLookMs: 1_000,
  mostLosses: 3,
  claimBatch: 500,
  insertBatch: 1_000,
  insertQueue: 50_000,
  insertPatienceMs: 10_000,
  rescueBatch: 1_000,
  sweepBatch: 2_000,
  changePatienceMs: 2_000,
  runWaiters: 10_000,
  webhookFailingMs: 5 * 86_400_000,
  historyDays: 90,
  logDays: 30,
  compiledSchedules: 20_000,
  later: {},
});

/** All that callers ask of the engine. */
export type EngineApis = EngineApi &
  RunLogs &
  Receipts &
  RunChanges &
  Operations &
  Enqueueing &
  JobChanges &
  Calendars &
  Backfills &
  Queues &
  Namespaces &
  Breakers &
  Limits &
  Failures &
  Webhooks &
  Catalogue &
  Callbacks &
  Workers &
  Explanations &
  Forecasts;

/** How much a node has to do, now. */
export interface EngineLoad extends WorkerLoad {
  readonly leaseMs: DurationMs;
  /** Since the node last made sure of its lease; null: it has none. */
  readonly leaseAgeMs: DurationMs | null;
  /** New jobs and runs that wait to be written. */
  readonly writesWaiting: number;
}

/** One node's engine: what it answers to callers, what it hands to workers, and the loops that keep it going. */
export interface Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  /** Workers of other processes, whosever they are. */
  readonly remoteWorkers: RemoteWorkers;
  /** The same for callers of a namespace: what the API serves. */
  readonly workerDoor: WorkerDoor;
  /** This incarnation of the node; changes if others declared it dead and it came back. */
  readonly nodeId: string;
  /** One node of the cluster at a time, for what is enough to be done once: whoever owns the first shard. Only a hint. */
  readonly isElected: boolean;
  readonly load: EngineLoad;
  start(): Promise<void>;
  /** Ends the loops and hands the shards over. Workers are stopped before. */
  stop(): Promise<void>;
}
