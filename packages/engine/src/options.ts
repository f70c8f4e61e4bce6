import type { Clock, DurationMs, Timers } from "@carillon/core";
import { type Database, type Random, horizonMs } from "@carillon/store";
import type { OnEngineEvent } from "./events.js";

export interface EngineOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  /** Set if no other node can be alive; see RowRegistryOptions. */
  readonly alone: boolean;
  /** Keeps cluster membership and shard ownership in etcd. PostgreSQL keeps them by default. */
  readonly etcd?: EtcdOptions;
  /** This node only stores jobs and runs; other nodes fire and dispatch them. */
  readonly enqueueOnly?: boolean;
  readonly onEvent?: OnEngineEvent;
  readonly limits?: Partial<EngineLimits>;
}

export interface EtcdOptions {
  /** For example http://127.0.0.1:2379. A client tries them in turn. */
  readonly endpoints: readonly string[];
  /** The prefix of every key. Clusters that share an etcd need different prefixes. */
  readonly prefix: string;
}

/** The bounds of the engine; their defaults are below. */
export interface EngineLimits {
  /** How long a silent node keeps its shards. */
  readonly leaseMs: DurationMs;
  /** A node whose wall clock differs more from the database's releases its shards to other nodes. */
  readonly skewToleranceMs: DurationMs;
  /** How long a silent worker keeps its runs. */
  readonly workerTimeoutMs: DurationMs;
  /** A full scan finds a run whose wakeup was lost after at most this time. */
  readonly fullScanIntervalMs: DurationMs;
  /** How often a run may lose its worker before it fails. */
  readonly maxLosses: number;
  /** The most runs that one statement ends or claims. */
  readonly claimBatch: number;
  readonly insertBatch: number;
  readonly insertQueue: number;
  /** A write that has waited this long in the queue is refused. */
  readonly insertQueueTimeoutMs: DurationMs;
  readonly rescueBatch: number;
  /** Dedupe keys that one pass of the sweep reads. */
  readonly sweepBatch: number;
  /** How long a change of a job waits for a transaction that holds the job's row. */
  readonly changeLockTimeoutMs: DurationMs;
  /** The number of callers that may wait for the end of a run at the same time. */
  readonly runWaiters: number;
  /** A webhook whose deliveries have failed for this long is disabled. */
  readonly webhookFailingMs: DurationMs;
  /** Days before today whose ended runs are kept, with their redrives and error groups. */
  readonly historyDays: number;
  /** Days before today whose logs are kept. */
  readonly logDays: number;
  /** The size of the cache of compiled schedules, about 2 KB each. Jobs with the same rule share an entry. */
  readonly compiledSchedules: number;
  /** Limits of the far-future promoter that differ from its defaults. */
  readonly farFuture: Partial<FarFutureLimits>;
}

export const defaultLimits: EngineLimits = Object.freeze({
  leaseMs: 5_000,
  skewToleranceMs: 500,
  workerTimeoutMs: 15_000,
  fullScanIntervalMs: 1_000,
  maxLosses: 3,
  claimBatch: 500,
  insertBatch: 1_000,
  insertQueue: 50_000,
  insertQueueTimeoutMs: 10_000,
  rescueBatch: 1_000,
  sweepBatch: 2_000,
  changeLockTimeoutMs: 2_000,
  runWaiters: 10_000,
  webhookFailingMs: 5 * 86_400_000,
  historyDays: 90,
  logDays: 30,
  compiledSchedules: 20_000,
  farFuture: {},
});

export interface FarFutureLimits {
  /** A one-off job that is due later than this from now is stored in far_future_run. */
  readonly horizonMs: DurationMs;
  /** How long before their time runs are promoted. A run that is stored now is due long after that, so the promoter needs no notice of it. */
  readonly leadMs: DurationMs;
  readonly scanIntervalMs: DurationMs;
  /** A full scan starts at the beginning, not where the last scan ended. Its interval is at least 20 times its own duration. */
  readonly fullScanIntervalMs: DurationMs;
  /** Shards per statement of a scan: each may have dead index entries to walk, and a statement has a time limit. */
  readonly shardsPerScan: number;
  /** Rows per promotion. */
  readonly batch: number;
  /** Shards per promotion: each costs a lock and a descent of the index. */
  readonly shardsPerPromotion: number;
}

/** A run that is due later than this from now is stored in far_future_run. */
export function farFutureHorizonMs({ farFuture }: Pick<EngineLimits, "farFuture">): DurationMs {
  return farFuture.horizonMs ?? defaultFarFutureLimits.horizonMs;
}

export const defaultFarFutureLimits: FarFutureLimits = Object.freeze({
  horizonMs,
  leadMs: 330_000,
  scanIntervalMs: 15_000,
  fullScanIntervalMs: 60_000,
  shardsPerScan: 128,
  batch: 2_000,
  shardsPerPromotion: 64,
});
