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
  readonly workerTimeoutMs: DurationMs;
  /** A run whose hint was lost is found after at most this time. */
  readonly fullScanIntervalMs: DurationMs;
  /** How often a run may lose its worker before it is given up. */
  readonly maxLosses: number;
  /** Runs that one statement ends or claims at most. */
  readonly claimBatch: number;
  readonly insertBatch: number;
  readonly insertQueue: number;
  /** What is to be written is refused when it has waited this long. */
  readonly insertQueueTimeoutMs: DurationMs;
  readonly rescueBatch: number;
  /** Dedupe keys that one pass of the sweep looks at. */
  readonly sweepBatch: number;
  /** How long a change of a job waits for whoever holds the job. */
  readonly changeLockTimeoutMs: DurationMs;
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

export const defaultFarFutureLimits: FarFutureLimits = Object.freeze({
  horizonMs,
  leadMs: 330_000,
  scanIntervalMs: 15_000,
  fullScanIntervalMs: 60_000,
  shardsPerScan: 128,
  batch: 2_000,
  shardsPerPromotion: 64,
});
