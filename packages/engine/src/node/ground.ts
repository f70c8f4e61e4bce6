import type { Instant } from "@carillon/core";
import type { Coordinator, Membership } from "../cluster/coordinator.js";
import type { Gateway } from "../dispatch/gateway.js";
import { Offers } from "../enqueue/slot-offers.js";
import type { EngineEvent } from "../events.js";
import type { RunWaiters } from "../runs/run-waiters.js";
import type { Scheduler } from "../scheduler/scheduler.js";
import { announceSettled } from "../jobs/transaction/announce-settled.js";
import type { OverlapAdmitter } from "../jobs/transaction/overlap-admitter.js";
import type { Settled } from "../jobs/transaction/settler.js";
import { createEngineStore, type EngineStore } from "./engine-store.js";
import { makeCoordinator } from "./coordination.js";
import type { Backfilling } from "./backfilling.js";
import type { Following } from "./following.js";
import { HandOverLine } from "../dispatch/direct/direct-channel.js";
import { Hints } from "../wakeups/wakeups.js";
import type { Limiting } from "./limiting.js";
import { type LoopName, NodeLoops } from "../loops/loops.js";
import { defaultLimits, type EngineLimits, type EngineOptions } from "../options.js";

/** Into so many slices jobs and runs are cut. */
export const shardCount = 1_024;

/** Parts that others reach, each made after what it stands on. */
export interface Reach {
  readonly gateway: () => Gateway;
  readonly scheduler: () => Scheduler;
  readonly admitter: () => OverlapAdmitter;
  readonly limiting: () => Limiting;
  readonly following: () => Following;
  readonly backfilling: () => Backfilling;
  readonly waiters: () => RunWaiters;
}

/** What every part of a node stands on, and how they tell each other of what happened. Holds no rule of its own. */
export class Ground {
  readonly options: EngineOptions;
  readonly limits: EngineLimits;
  readonly store: EngineStore;
  readonly loops: NodeLoops;
  readonly coordinator: Coordinator;
  readonly hints: Hints;
  /** What workers offered to take of the runs that are stored here. */
  readonly offers: Offers;
  readonly handOvers: HandOverLine;
  readonly #reach: Reach;

  constructor(options: EngineOptions, reach: Reach) {
    this.options = options;
    this.limits = { ...defaultLimits, ...options.limits };
    this.#reach = reach;
    this.store = createEngineStore(options.database);
    this.loops = new NodeLoops({ timers: options.timers, onError: this.failed });
    const wake = (name: LoopName) => (): void => this.loops.wake(name);
    this.coordinator = makeCoordinator({
      engine: options,
      limits: this.limits,
      store: this.store,
      wake: wake("coordinator"),
      onEvent: this.emit,
    });
    const { database, clock } = options;
    this.offers = new Offers(() => clock.monotonic());
    this.handOvers = new HandOverLine({
      database,
      gateway: reach.gateway,
      offers: this.offers,
      onError: (error) => this.failed("gateway", error),
    });
    this.hints = new Hints({
      database,
      gateway: reach.gateway,
      address: () => this.handOvers.address,
      areLimited: (lanes) => reach.limiting().areLimited(lanes),
      hintLimits: (lanes) => {
        const areLimited = reach.limiting().hint(lanes);
        if (areLimited) this.loops.wake("limits");
        return areLimited;
      },
      passOnStops: () => this.#passOnStops(),
      scheduler: reach.scheduler,
      wakeScheduler: wake("scheduler"),
      wakeCoordinator: wake("coordinator"),
      wakeCalendars: wake("calendars"),
      wakeBackfills: wake("backfills"),
      wakeOperations: wake("operations"),
      wakeQueues: wake("queues"),
      membership: this.membership,
      timers: options.timers,
      now: this.now,
    });
  }

  /** The database's clock. */
  readonly now = (): Instant => this.options.database.clock.now();

  readonly membership = (): Membership => this.coordinator.membership;

  readonly ownShards = (): readonly number[] => this.membership().shards;

  readonly emit = (event: EngineEvent): void => {
    if (event.type === "run.finished") this.#finished(event.runId, event.jobId);
    this.options.onEvent?.(event);
  };

  /** A run ended here: who waits for it, or for its place, looks now. */
  #finished(runId: string, jobId: string | null): void {
    this.#reach.waiters().finished(runId);
    if (this.#reach.following().hint()) this.loops.wake("after");
    if (jobId !== null && this.#reach.backfilling().hint(jobId)) this.loops.wake("backfills");
  }

  readonly failed = (loop: LoopName, error: unknown): void => this.emit({ type: "loop.failed", loop, error });

  /** Runs of these jobs ended for which others of the same job may wait. */
  readonly freed = (jobIds: readonly string[]): void => {
    if (jobIds.length === 0) return;
    this.#reach.admitter().hint(jobIds);
    this.loops.wake("admitter");
  };

  /** A change settled what was due: occurrences that the scheduler will not tell of. */
  tellSettled(shards: readonly number[], settled: Settled | null): void {
    if (settled !== null) announceSettled(settled, this.emit);
    this.tell(shards, settled);
  }

  tell(shards: readonly number[], settled: Settled | null): void {
    this.hints.changed(shards);
    if (settled === null) return;
    this.hints.queued(settled.queued);
    if (settled.stopped.length > 0) this.hints.stopped();
  }

  /** Says something to the limits, and has them looked at. */
  tellLimits(tell: (admitter: Limiting["admitter"]) => void): void {
    tell(this.#reach.limiting().admitter);
    this.loops.wake("limits");
  }

  #passOnStops(): void {
    this.#reach
      .gateway()
      .passOnStops()
      .catch((error: unknown) => this.failed("workers", error));
  }
}
