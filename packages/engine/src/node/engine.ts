import { defaultFiringPolicy, type DurationMs, type Instant } from "@carillon/core";
import type { Coordinator, ShardChange } from "../coordinator/port.js";
import type { Gateway } from "../dispatch/gateway.js";
import type { RemoteWorkers } from "../dispatch/remote/remote-workers.js";
import type { WorkerDoor } from "../dispatch/remote/worker-door.js";
import type { EngineEvent } from "../events.js";
import { forecastsApi } from "../forecast/forecasts-api.js";
import { JobCreator } from "../jobs/create-job.js";
import { RunReader } from "../jobs/run-reader.js";
import { RunWaiters } from "../jobs/run-waiters.js";
import { Loop } from "../loop/loop.js";
import { Rescuer } from "../rescue/rescuer.js";
import { DedupeSweeper } from "../retention/dedupe-sweeper.js";
import { defaultLaterLimits, LaterMover } from "../scheduler/later-mover.js";
import { ScheduleCache } from "../scheduler/schedule-cache.js";
import { Scheduler } from "../scheduler/scheduler.js";
import { announceEnded } from "../runs/announce-ended.js";
import { announceSettled } from "../settlement/announce-settled.js";
import { OverlapAdmitter } from "../settlement/overlap-admitter.js";
import type { Settled } from "../settlement/settler.js";
import type { Enqueueing } from "../model/enqueueing.js";
import { freedBy } from "../store/entities/ended-runs.js";
import type { Receipts } from "../model/receipts.js";
import { KeyBook } from "../idempotency/key-book.js";
import { loadStatements } from "../store/sql/load-statements.js";
import { createStore, type Store } from "../store/store.js";
import { type Following, makeFollowing } from "./following.js";
import { makeCoordinator } from "./coordination.js";
import { type Backfilling, makeBackfilling } from "./backfilling.js";
import { type Calendaring, makeCalendaring } from "./calendaring.js";
import { type Dispatching, makeDispatching } from "./dispatching.js";
import { catalogueApi } from "./catalogue-api.js";
import { declarePaths } from "./declare-paths.js";
import { engineApi, withinNamespace } from "./engine-api.js";
import { makeEnqueueing } from "./enqueueing.js";
import { makeExplaining } from "./explaining.js";
import { type Failing, makeFailing } from "./failing.js";
import { Hints } from "./hints.js";
import { type Limiting, makeLimiting } from "./limiting.js";
import { type InsertBounds, type Inserts, makeInserts } from "./inserts.js";
import { type JobChanging, makeJobChanging } from "./job-changing.js";
import { type InsertKept, insertKept } from "../idempotency/kept-inserts.js";
import { makeNotifying, type Notifying } from "./notifying.js";
import { makeOperating, type Operating } from "./operating.js";
import { makeQueueing, type Queueing } from "./queueing.js";
import { makeRetention, type Retention } from "./retention.js";
import {
  defaultLimits,
  type Engine,
  type EngineApis,
  type EngineLoad,
  type EngineLimits,
  type EngineOptions,
} from "./options.js";
import { tellChanges } from "./tell-changes.js";
import { workersApi } from "./workers-api.js";

const shardCount = 1_024;
const clockPeriodMs = 10_000;

export function createEngine(options: EngineOptions): Engine {
  return new NodeEngine(options);
}

/** Puts the parts together and paces them. Holds no rule of its own. */
class NodeEngine implements Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  readonly remoteWorkers: RemoteWorkers;
  readonly workerDoor: WorkerDoor;
  readonly #options: EngineOptions;
  readonly #limits: EngineLimits;
  readonly #store: Store;
  readonly #coordinator: Coordinator;
  readonly #scheduler: Scheduler;
  readonly #laterMover: LaterMover;
  readonly #rescuer: Rescuer;
  readonly #retention: Retention;
  readonly #sweeper: DedupeSweeper;
  readonly #hints: Hints;
  readonly #calendaring: Calendaring;
  readonly #changing: JobChanging;
  readonly #backfilling: Backfilling;
  readonly #queueing: Queueing;
  readonly #failing: Failing;
  readonly #limiting: Limiting;
  readonly #waiters: RunWaiters;
  readonly #following: Following;
  readonly #notifying: Notifying;
  readonly #operating: Operating;
  readonly #inserts: Inserts;
  #leaseAt: DurationMs | null = null;
  readonly #schedulerLoop: Loop;
  readonly #laterLoop: Loop;
  readonly #admitter: OverlapAdmitter;
  readonly #admitterLoop: Loop;
  readonly #coordinatorLoop: Loop;
  readonly #calendarLoop: Loop;
  readonly #backfillLoop: Loop;
  readonly #queueLoop: Loop;
  readonly #limitLoop: Loop;
  readonly #afterLoop: Loop;
  readonly #clockLoop: Loop;
  readonly #waiterLoop: Loop;
  readonly #operationLoop: Loop;
  readonly #loops: readonly Loop[];

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#store = createStore(options.database);
    this.#coordinator = makeCoordinator({
      engine: options,
      limits: this.#limits,
      store: this.#store,
      wake: () => this.#coordinatorLoop.wake(),
      onEvent: this.#emit,
    });
    this.#hints = new Hints({
      database: options.database,
      gateway: () => this.gateway,
      hintLimits: (lanes) => this.#hintLimits(lanes),
      passOnStops: () => this.#passOnStops(),
      scheduler: () => this.#scheduler,
      wakeScheduler: () => this.#schedulerLoop.wake(),
      wakeCoordinator: () => this.#coordinatorLoop.wake(),
      wakeCalendars: () => this.#calendarLoop.wake(),
      wakeBackfills: () => this.#backfillLoop.wake(),
      wakeOperations: () => this.#operationLoop.wake(),
      wakeQueues: () => this.#queueLoop.wake(),
      membership: () => this.#coordinator.membership,
      now: () => this.#now(),
    });
    this.#calendaring = this.#makeCalendaring();
    this.#scheduler = this.#makeScheduler();
    this.#laterMover = this.#makeLaterMover();
    this.#admitter = this.#makeAdmitter();
    this.#failing = this.#makeFailing();
    this.#limiting = this.#makeLimiting();
    this.#following = this.#makeFollowing();
    this.#notifying = this.#makeNotifying();
    this.#rescuer = this.#makeRescuer();
    this.#retention = makeRetention({
      store: this.#store,
      now: () => this.#now(),
      membership: () => this.#coordinator.membership,
      historyDays: this.#limits.historyDays,
      logDays: this.#limits.logDays,
      batch: this.#limits.sweepBatch,
    });
    this.#sweeper = new DedupeSweeper({
      dedupes: this.#store.dedupes,
      membership: () => this.#coordinator.membership,
      batch: this.#limits.sweepBatch,
    });
    this.#waiters = new RunWaiters({
      runs: new RunReader(this.#store.reads),
      timers: options.timers,
      wake: () => this.#waiterLoop.wake(),
      most: this.#limits.runWaiters,
    });
    const dispatching = this.#makeDispatching();
    ({ gateway: this.gateway, remoteWorkers: this.remoteWorkers, workerDoor: this.workerDoor } = dispatching);
    this.#inserts = makeInserts(this.#store, this.#insertBounds);
    const kept = this.#insertKept();
    const creator = this.#makeCreator(kept);
    this.#changing = this.#makeChanging(creator);
    this.#backfilling = this.#makeBackfilling();
    this.#queueing = this.#makeQueueing();
    this.#operating = this.#makeOperating();
    const api: EngineApis = {
      ...engineApi(this.#store, creator, { ...options, waiters: this.#waiters }),
      ...this.#makeEnqueueing(kept),
      ...this.#makeReceipts(),
      ...workersApi(this.#store, this.gateway),
      ...catalogueApi(this.#store),
      ...this.#changing.api,
      ...this.#calendaring.api,
      ...this.#backfilling.api,
      ...this.#queueing.api,
      ...this.#limiting.api,
      ...this.#operating.api,
      ...this.#failing.api(this.#changing.transaction),
      ...this.#notifying.api,
      ...makeExplaining({
        db: options.database,
        store: this.#store,
        changes: this.#changing.api,
        limitsOf: (namespace, runId) => this.#limiting.api.limitsOf(namespace, runId),
        breakerOf: (namespace, name) => this.api.getBreaker(namespace, name),
        now: () => this.#now(),
      }),
      answerCallback: (tokenHash, answer) => this.gateway.waiting.answer(tokenHash, answer),
      ...forecastsApi({
        reads: this.#store.forecastReads,
        rules: this.#calendaring.rules,
        shards: shardCount,
        now: () => this.#now(),
        within: withinNamespace(this.#store.namespaces),
      }),
    };
    const within = withinNamespace(this.#store.namespaces);
    this.api = declarePaths(tellChanges(api, within, this.#emit), within, this.#store.searchPaths);
    this.#schedulerLoop = this.#loop("scheduler", () => this.#schedule());
    this.#laterLoop = this.#loop("later", () => this.#moveLater());
    this.#admitterLoop = this.#loop("admitter", () => this.#admit());
    this.#coordinatorLoop = this.#loop("coordinator", () => this.#coordinate());
    this.#calendarLoop = this.#loop("calendars", () => this.#calendaring.tick());
    this.#backfillLoop = this.#loop("backfills", () => this.#backfilling.tick());
    this.#queueLoop = this.#loop("queues", () => this.#queueing.tick());
    this.#limitLoop = this.#loop("limits", () => this.#limiting.tick());
    this.#operationLoop = this.#loop("operations", () => this.#operating.tick());
    this.#waiterLoop = this.#loop("waiters", () => this.#waiters.tick());
    this.#afterLoop = this.#loop("after", () => this.#following.tick());
    this.#clockLoop = this.#loop("clock", () => this.#measureClock());
    this.#loops = [
      this.#schedulerLoop,
      this.#laterLoop,
      this.#admitterLoop,
      this.#coordinatorLoop,
      this.#calendarLoop,
      this.#backfillLoop,
      this.#queueLoop,
      this.#limitLoop,
      this.#afterLoop,
      this.#loop("rescuer", () => this.#rescue()),
      this.#loop("callbacks", () => this.gateway.waiting.tick()),
      this.#loop("expirer", () => this.#failing.expire()),
      this.#loop("errors", () => this.#failing.count()),
      this.#loop("webhooks", () => this.#notifying.look()),
      this.#loop("notifier", () => this.#notifying.notify()),
      this.#loop("history", () => this.#retention.tickDays()),
      this.#loop("records", () => this.#retention.tickRecords()),
      this.#loop("dedupe", () => this.#sweeper.tick()),
      this.#clockLoop,
      this.#waiterLoop,
      this.#operationLoop,
      this.#loop("workers", () => dispatching.sayWhoLives()),
      this.#loop("gateway", () => this.gateway.look().then(() => this.#limits.fullLookMs)),
    ];
  }

  get isElected(): boolean {
    return this.#coordinator.membership.epochs.has(0);
  }

  get load(): EngineLoad {
    const leaseAgeMs = this.#leaseAt === null ? null : this.#options.clock.monotonic() - this.#leaseAt;
    const { leaseMs } = this.#limits;
    return { ...this.gateway.load, leaseMs, leaseAgeMs, writesWaiting: this.#inserts.waiting };
  }

  get nodeId(): string {
    return this.#coordinator.membership.nodeId;
  }

  async start(): Promise<void> {
    if (this.#options.enqueueOnly === true) {
      for (const loop of [this.#clockLoop, this.#queueLoop, this.#waiterLoop]) loop.start();
      return;
    }
    await this.#retention.tickDays();
    // Before the first claim and the first fire: what is paused, and in which order the rest goes.
    await this.#queueing.tick();
    await this.#notifying.look();
    await this.#keepLease(() => this.#coordinator.join());
    this.#hints.sharesMoved();
    await this.#rescuer.tick();
    this.#hints.start();
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    this.remoteWorkers.stop();
    this.#waiters.stop();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    if (this.#options.enqueueOnly === true) return;
    this.gateway.stop();
    await this.#hints.stop();
    try {
      await this.#coordinator.leave();
      this.#hints.sharesMoved();
    } catch (error) {
      // Without a database there is nobody to hand over to: the lease runs out by itself.
      this.#emit({ type: "loop.failed", loop: "coordinator", error });
    }
  }

  #now(): Instant {
    return this.#options.database.clock.now();
  }

  readonly #emit = (event: EngineEvent): void => {
    if (event.type === "run.finished") this.#waiters.finished(event.runId);
    if (event.type === "run.finished" && this.#following.hint()) this.#afterLoop.wake();
    this.#options.onEvent?.(event);
  };

  #loop(name: string, tick: () => Promise<DurationMs>): Loop {
    const onError = (error: unknown): void => this.#emit({ type: "loop.failed", loop: name, error });
    return new Loop({ tick, timers: this.#options.timers, onError });
  }

  async #schedule(): Promise<DurationMs> {
    await this.#scheduler.tick();
    return this.#scheduler.idleMs;
  }

  async #moveLater(): Promise<DurationMs> {
    await this.#laterMover.tick();
    return this.#laterMover.idleMs;
  }

  async #admit(): Promise<DurationMs> {
    await this.#admitter.tick();
    return this.#admitter.idleMs;
  }

  #passOnStops(): void {
    this.gateway.passOnStops().catch((error: unknown) => this.#emit({ type: "loop.failed", loop: "workers", error }));
  }

  /** A change settled what was due: occurrences that the scheduler will not tell of. */
  #tellSettled(shards: readonly number[], settled: Settled | null): void {
    if (settled !== null) announceSettled(settled, this.#emit);
    this.#tell(shards, settled);
  }

  #tell(shards: readonly number[], settled: Settled | null): void {
    this.#hints.changed(shards);
    if (settled === null) return;
    this.#hints.queued(settled.queued);
    if (settled.stopped.length > 0) this.#hints.stopped();
  }

  #freed(jobIds: readonly string[]): void {
    if (jobIds.length === 0) return;
    this.#admitter.hint(jobIds);
    this.#admitterLoop.wake();
  }

  #tellLimits(tell: () => void): void {
    tell();
    this.#limitLoop.wake();
  }

  #hintLimits(lanes: readonly number[]): void {
    if (this.#limiting.hint(lanes)) this.#limitLoop.wake();
  }

  async #coordinate(): Promise<DurationMs> {
    await this.#keepLease(() => this.#coordinator.tick());
    return this.#coordinator.idleMs;
  }

  /** The lease counts from before it was asked for. */
  async #keepLease(ask: () => Promise<ShardChange>): Promise<void> {
    const askedAt = this.#options.clock.monotonic();
    this.#applyChange(await ask());
    this.#leaseAt = askedAt;
  }

  async #measureClock(): Promise<DurationMs> {
    const { clock } = this.#options.database;
    await clock.tick();
    this.#emit({ type: "clock.measured", skewMs: clock.skewMs, uncertaintyMs: clock.uncertaintyMs });
    return clockPeriodMs;
  }

  async #rescue(): Promise<DurationMs> {
    const rescued = await this.#rescuer.tick();
    return rescued > 0 ? 0 : this.#limits.workerSilenceMs / 5;
  }

  #applyChange({ gained, lost }: ShardChange): void {
    if (lost.length > 0) {
      this.#scheduler.forgetShards(lost);
      this.#laterMover.forgetShards(lost);
      this.#hints.sharesMoved();
      this.#emit({ type: "shards.lost", count: lost.length });
    }
    if (gained.length === 0) return;
    this.#scheduler.hintShards(gained.map((shard) => shard.id));
    this.#schedulerLoop.wake();
    this.#laterMover.hintShards(gained.map((shard) => shard.id));
    this.#laterLoop.wake();
    this.#backfillLoop.wake();
    this.#operationLoop.wake();
    this.#emit({ type: "shards.gained", count: gained.length });
  }

  #makeScheduler(): Scheduler {
    return new Scheduler({
      store: this.#store.due,
      calendars: this.#calendaring.calendars,
      now: () => this.#now(),
      membership: () => this.#coordinator.membership,
      rank: this.#store.rank,
      resumeExpired: (fence, jobs) => this.#changing.pauseExpiry.resume(fence, jobs),
      onQueued: (queued) => this.#hints.queued(queued),
      onStopped: () => this.#hints.stopped(),
      onEvent: this.#emit,
    });
  }

  #makeAdmitter(): OverlapAdmitter {
    const { settler, settle } = this.#store;
    return new OverlapAdmitter({
      db: this.#options.database,
      settle,
      settler,
      clock: this.#options.clock,
      shards: () => [...this.#coordinator.membership.epochs.keys()],
      onQueued: (queued) => this.#hints.queued(queued),
    });
  }

  #makeLaterMover(): LaterMover {
    return new LaterMover({
      later: this.#store.later,
      now: () => this.#now(),
      membership: () => this.#coordinator.membership,
      onQueued: (queued) => this.#hints.queued(queued),
      onDueRuns: (runs) => this.#hints.dueRuns(runs),
      onEvent: this.#emit,
      limits: this.#limits.later,
    });
  }

  #makeRescuer(): Rescuer {
    const { workerSilenceMs, mostLosses, rescueBatch } = this.#limits;
    return new Rescuer({
      sessions: this.#store.sessions,
      runs: this.#store.runs,
      clock: this.#options.clock,
      silenceMs: workerSilenceMs,
      mostLosses,
      batch: rescueBatch,
      onQueued: (queued) => this.#hints.queued(queued),
      onFreed: (jobIds) => this.#freed(jobIds),
      onEvent: this.#emit,
    });
  }

  #makeFailing(): Failing {
    return makeFailing({
      db: this.#options.database,
      store: this.#store,
      clock: this.#options.clock,
      now: () => this.#now(),
      newId: this.#options.newId,
      batch: this.#limits.rescueBatch,
      onFreed: (jobIds) => this.#freed(jobIds),
      onEvent: this.#emit,
    });
  }

  #makeLimiting(): Limiting {
    return makeLimiting({
      store: this.#store,
      clock: this.#options.clock,
      now: () => this.#now(),
      membership: () => this.#coordinator.membership,
      shards: shardCount,
      onAdmitted: (queued) => this.#hints.admitted(queued),
      onChanged: () => this.#tellLimits(() => this.#limiting.admitter.lookSoon()),
      onFreed: (jobIds) => this.#freed(jobIds),
      onFailed: this.#failing.onFailed,
      onEvent: this.#emit,
    });
  }

  #makeFollowing(): Following {
    return makeFollowing({
      db: this.#options.database,
      store: this.#store,
      clock: this.#options.clock,
      shards: () => [...this.#coordinator.membership.epochs.keys()],
      onSettled: (settled) => this.#tellSettled([], settled),
    });
  }

  #makeNotifying(): Notifying {
    return makeNotifying({
      db: this.#options.database,
      store: this.#store,
      now: () => this.#now(),
      newId: this.#options.newId,
      shards: shardCount,
      batch: this.#limits.sweepBatch,
      periodMs: this.#limits.fullLookMs,
      mostFailingMs: this.#limits.webhookFailingMs,
      onQueued: (queued) => this.#hints.queued(queued),
    });
  }

  #makeDispatching(): Dispatching {
    return makeDispatching({
      engine: this.#options,
      limits: this.#limits,
      store: this.#store,
      now: () => this.#now(),
      onBreakersChanged: () => this.#hints.queuesChanged(),
      onRetry: (runs) => this.#hints.dueRuns(runs),
      onQueued: (queued) => this.#hints.queued(queued),
      onFreed: (jobIds) => this.#freed(jobIds),
      onStopped: async (runIds) => {
        const ended = await this.#store.runs.endStopped(runIds);
        announceEnded(ended, "cancelled", this.#emit);
        this.#freed(freedBy(ended));
      },
      onFailed: this.#failing.onFailed,
      onLimitedClaimed: (runIds) => this.#tellLimits(() => this.#limiting.admitter.started(runIds)),
      onReleased: (runIds) => this.#tellLimits(() => this.#limiting.admitter.released(runIds)),
      isToldOf: this.#notifying.isToldOf,
      onEvent: this.#emit,
      onError: (error) => this.#emit({ type: "loop.failed", loop: "gateway", error }),
    });
  }

  get #insertBounds(): InsertBounds & { readonly horizonMs: DurationMs } {
    const { insertBatch: maxBatch, insertQueue: maxQueued, insertPatienceMs: ms, later } = this.#limits;
    const patience = { ms, monotonic: () => this.#options.clock.monotonic() };
    return { maxBatch, maxQueued, patience, horizonMs: later.horizonMs ?? defaultLaterLimits.horizonMs };
  }

  #insertKept(): InsertKept {
    const { horizonMs } = this.#insertBounds;
    return insertKept(this.#store, loadStatements(this.#options.database.schema), horizonMs);
  }

  #makeReceipts(): Receipts {
    const book = new KeyBook({ receipts: this.#store.receipts, newId: this.#options.newId });
    const within = withinNamespace(this.#store.namespaces);
    return { beginCall: (namespace, call) => within(namespace, (id) => book.begin(id, call)) };
  }

  #makeEnqueueing(kept: InsertKept): Enqueueing {
    return makeEnqueueing({
      store: this.#store,
      inserts: this.#inserts,
      insertKept: kept,
      chunk: this.#limits.insertBatch,
      callText: loadStatements(this.#options.database.schema).get("enqueue.call").text,
      newId: this.#options.newId,
      now: () => this.#now(),
      shards: shardCount,
      onDueRuns: (runs) => this.#hints.dueRuns(runs),
      onQueued: (queued, isTold) => this.#hints.queued(queued, isTold),
    });
  }

  #makeCreator(kept: InsertKept): JobCreator {
    return new JobCreator({
      lanes: this.#store.lanes,
      insertJob: this.#inserts.jobs,
      insertRun: this.#inserts.runs,
      insertKept: kept,
      queues: this.#store.queueBook,
      rank: this.#store.rank,
      newId: this.#options.newId,
      now: () => this.#now(),
      shards: shardCount,
      catchupWindowMs: defaultFiringPolicy.catchupWindowMs,
      schedules: new ScheduleCache(this.#limits.compiledSchedules, false),
      calendars: this.#calendaring.calendars,
      adoptUpstreams: (namespaceId, schedules) => this.#changing.adoptUpstreams(namespaceId, schedules),
      chunk: this.#limits.insertBatch,
      onDueJobs: (jobs) => this.#hints.dueJobs(jobs),
      onDueRuns: (runs) => this.#hints.dueRuns(runs),
      onQueued: (queued) => this.#hints.queued(queued),
    });
  }

  #makeCalendaring(): Calendaring {
    return makeCalendaring({
      store: this.#store,
      schedules: new ScheduleCache(this.#limits.compiledSchedules, false),
      shards: shardCount,
      membership: () => this.#coordinator.membership,
      onRecomputed: (shards, settled) => this.#tellSettled(shards, settled),
      onCalendarsChanged: () => this.#hints.calendarsChanged(),
      onWindowsChanged: () => this.#hints.windowsChanged(),
      onError: (error) => this.#emit({ type: "loop.failed", loop: "calendars", error }),
    });
  }

  #makeBackfilling(): Backfilling {
    return makeBackfilling({
      db: this.#options.database,
      store: this.#store,
      transaction: this.#changing.transaction,
      compiler: this.#calendaring.compiler,
      membership: () => this.#coordinator.membership,
      newId: this.#options.newId,
      now: () => this.#now(),
      onStarted: () => this.#hints.backfillStarted(),
      onStepped: (shard, settled) => {
        announceEnded(settled.ended, "cancelled", this.#emit);
        this.#tell([shard], settled);
      },
      onEvent: this.#emit,
    });
  }

  #makeOperating(): Operating {
    return makeOperating({
      db: this.#options.database,
      store: this.#store,
      transaction: this.#changing.transaction,
      membership: () => this.#coordinator.membership,
      newId: this.#options.newId,
      shards: shardCount,
      onQueued: (queued) => this.#hints.queued(queued),
      onDueRuns: (runs) => this.#hints.dueRuns(runs),
      onStopped: () => this.#hints.stopped(),
      onFreed: (jobIds) => this.#freed(jobIds),
      onStarted: () => this.#hints.operationStarted(),
      onEvent: this.#emit,
    });
  }

  #makeQueueing(): Queueing {
    this.#store.queueBook.onPauses(() => this.gateway.queuesChanged());
    // What a claim did not find because it went by another revision is looked for again.
    this.#store.limitOwners.onChanged(() => {
      this.gateway.queuesChanged();
      this.gateway.hintAll();
      this.#tellLimits(() => this.#limiting.admitter.lookSoon());
    });
    return makeQueueing({
      store: this.#store,
      breakers: this.gateway.breakers,
      clock: this.#options.clock,
      now: () => this.#now(),
      periodMs: this.#limits.fullLookMs,
      onChanged: () => this.#hints.queuesChanged(),
    });
  }

  #makeChanging(creator: JobCreator): JobChanging {
    return makeJobChanging({
      db: this.#options.database,
      store: this.#store,
      creator,
      follower: this.#following.follower,
      rules: this.#calendaring.rules,
      newId: this.#options.newId,
      now: () => this.#now(),
      shards: shardCount,
      patienceMs: this.#limits.changePatienceMs,
      onChanged: ({ shard, settled }) => this.#tellSettled([shard], settled),
      onExpired: (settled) => announceSettled(settled, this.#emit),
      onStopped: () => this.#hints.stopped(),
      onEnded: (ended) => announceEnded(ended, "cancelled", this.#emit),
    });
  }
}
