import type { DurationMs } from "@carillon/core";
import { type ClaimedRun, loadStatements } from "@carillon/store";
import { Backfills } from "./backfills/backfills.js";
import { Breakers } from "./breakers/breakers.js";
import { CalendarCache, CalendarCompiler } from "./calendars/calendar-cache.js";
import { CalendarSweep } from "./calendars/calendar-sweep.js";
import { Calendars } from "./calendars/calendars.js";
import { MaintenanceWindows } from "./calendars/maintenance-windows.js";
import { Catalog } from "./catalog/catalog.js";
import { Namespaces } from "./catalog/namespaces.js";
import { Queues } from "./catalog/queues.js";
import { Tasks } from "./catalog/tasks.js";
import { ClusterMembership, ClusterStatus } from "./cluster/cluster-membership.js";
import { EngineContext } from "./context.js";
import { DeadLetters } from "./dead-letters/dead-letters.js";
import { DependencyRunner } from "./dependencies/dependency-runner.js";
import { UpstreamEnds } from "./dependencies/upstream-ends.js";
import { DirectChannel } from "./dispatch/direct/direct-channel.js";
import { Gateway } from "./dispatch/gateway.js";
import { NamespaceGuard } from "./dispatch/remote/namespace-guard.js";
import { RemoteWorkers } from "./dispatch/remote/remote-workers.js";
import type { WaitingRuns } from "./dispatch/results/waiting-runs.js";
import { Rescuer } from "./dispatch/sessions/rescuer.js";
import type { WorkerLoad } from "./dispatch/sessions/served-sessions.js";
import { Workers } from "./dispatch/sessions/workers.js";
import { CoalescedInserts } from "./enqueue/coalesced-inserts.js";
import { SlotOffers } from "./enqueue/direct-insert.js";
import { Enqueuer } from "./enqueue/enqueuer.js";
import { IdempotencyKeys } from "./enqueue/idempotency/idempotency-keys.js";
import { makeInsertWithReceipt } from "./enqueue/idempotency/insert-with-receipt.js";
import { Explanations } from "./explain/explanations.js";
import { Forecasts } from "./forecast/forecasts.js";
import { ChangeTransaction } from "./jobs/change/change-transaction.js";
import { PauseExpiry } from "./jobs/change/job-pauser.js";
import { JobReader } from "./jobs/job-reader.js";
import { Jobs } from "./jobs/jobs.js";
import { JobUnitOfWork } from "./jobs/transaction/job-unit-of-work.js";
import { OverlapAdmitter } from "./jobs/transaction/overlap-admitter.js";
import { LimitAdmitter } from "./limits/limit-admitter.js";
import { Limits } from "./limits/limits.js";
import { Operations } from "./operations/operations.js";
import type { EngineOptions } from "./options.js";
import { Retention } from "./runs/retention.js";
import { Runs } from "./runs/runs.js";
import { FarFuturePromoter } from "./scheduler/far-future-promoter.js";
import { Scheduler } from "./scheduler/scheduler.js";
import { fireStore } from "./scheduler/settle-fires.js";
import { DueRules } from "./schedules/due-rules.js";
import { ScheduleCache } from "./schedules/schedule-cache.js";
import { CallbackSecrets, Webhooks } from "./webhooks/webhooks.js";

/** How much a node has to do, now. */
export interface EngineLoad extends WorkerLoad {
  readonly leaseMs: DurationMs;
  /** Since the node last renewed its lease; null: it has none. */
  readonly leaseAgeMs: DurationMs | null;
  /** New jobs and runs that wait to be written. */
  readonly writesWaiting: number;
}

const second: DurationMs = 1_000;

/**
 * One node's engine: the components that callers use, the gateway of its workers, and its loops. The only composition: it constructs every
 * component in the order of their dependencies and holds no rule of its own.
 */
export class Engine {
  readonly namespaces: Namespaces;
  readonly queues: Queues;
  readonly tasks: Tasks;
  readonly jobs: Jobs;
  readonly calendars: Calendars;
  readonly windows: MaintenanceWindows;
  readonly runs: Runs;
  readonly enqueuer: Enqueuer;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly limits: Limits;
  readonly breakers: Breakers;
  readonly workers: Workers;
  readonly waitingRuns: WaitingRuns;
  readonly backfills: Backfills;
  readonly operations: Operations;
  readonly deadLetters: DeadLetters;
  readonly webhooks: Webhooks;
  readonly callbackSecrets: CallbackSecrets;
  readonly explanations: Explanations;
  readonly forecasts: Forecasts;
  readonly cluster: ClusterStatus;
  readonly gateway: Gateway;
  /** Workers of other processes, of every namespace. */
  readonly remoteWorkers: RemoteWorkers;
  /** The same for callers of a namespace: what the API serves. */
  readonly workerApi: NamespaceGuard;
  readonly #context: EngineContext;
  readonly #membership: ClusterMembership;
  readonly #directChannel: DirectChannel;
  readonly #inserts: CoalescedInserts;
  readonly #ticks: Readonly<Record<"queues" | "history" | "webhooks" | "rescuer" | "tasks", () => Promise<unknown>>>;

  constructor(options: EngineOptions) {
    const context = new EngineContext(options);
    this.#context = context;
    const { db, store, clock, loops, wakeups, limits } = context;
    const statements = loadStatements(db.schema);
    // Cluster: which shards this node owns.
    this.#membership = new ClusterMembership(context);

    // Catalog, and the unit of work over jobs.
    const catalog = new Catalog(context);
    const { rank, queues, limitOwners } = catalog;
    const unitOfWork = new JobUnitOfWork({
      reads: store.jobTransactionReads,
      writes: store.jobTransactionWrites,
      transaction: store.historyTransaction,
      rank,
    });
    const fires = fireStore(store, unitOfWork);

    // Calendars and maintenance windows.
    const compiler = new CalendarCompiler();
    const calendarCache = new CalendarCache(store.calendars, compiler);
    const schedules = new ScheduleCache(limits.compiledSchedules, false);
    const rules = new DueRules({ schedules, calendars: calendarCache, store: fires });
    const calendarSweep = new CalendarSweep(context, { unitOfWork, rules, cache: calendarCache, compiler });
    this.calendars = new Calendars(context, { cache: calendarCache, compiler, sweep: calendarSweep });
    this.windows = new MaintenanceWindows(context);

    // Runs: reads, waiting callers, changes of single runs, deadlines.
    this.runs = new Runs(context, catalog);
    const { reader: runReader, lister } = this.runs;
    const jobReader = new JobReader(store.jobs, { runs: runReader, lister, rules });

    // Limits.
    new LimitAdmitter(context, catalog);
    this.limits = new Limits(context);

    // Runs that wait for other runs of their job, and jobs that start after other jobs.
    new OverlapAdmitter(context, { unitOfWork });
    const upstreamEnds = new UpstreamEnds(context);
    new DependencyRunner(context, { unitOfWork, upstreamEnds });

    // Enqueue: coalesced inserts, direct dispatch, idempotency keys.
    const offers = new SlotOffers(() => clock.monotonic());
    const directChannel = new DirectChannel(context, offers);
    this.#directChannel = directChannel;
    const inserts = new CoalescedInserts(context, { offers, channel: directChannel });
    this.#inserts = inserts;
    const insertWithReceipt = makeInsertWithReceipt(context, statements);
    const callText = statements.get("enqueue.call").text;
    this.enqueuer = new Enqueuer(context, { catalog, inserts, insertWithReceipt, callText, statements });
    this.idempotencyKeys = new IdempotencyKeys(context);

    // Jobs.
    const change = new ChangeTransaction(context, { unitOfWork, upstreamEnds, calendarSweep, queues, rules });
    this.jobs = new Jobs(context, {
      catalog,
      calendars: calendarCache,
      rules,
      inserts,
      insertWithReceipt,
      transaction: change,
      unitOfWork,
      upstreamEnds,
      reader: jobReader,
      runs: runReader,
    });
    const pauseExpiry = new PauseExpiry(context, { unitOfWork, rules, upstreamEnds });

    // The scheduler: due jobs and runs, and far-future runs.
    new Scheduler(context, {
      store: fires,
      calendars: calendarCache,
      calendarSweep,
      pauseExpiry,
      rank,
      hasFeature: this.#membership.hasFeature,
    });
    new FarFuturePromoter(context);

    // Webhooks.
    this.webhooks = new Webhooks(context, { queues, rank, runs: runReader, lister });

    // Dispatch: assigns runs to workers of this process and of others.
    const hasSubscribers = (run: ClaimedRun): boolean => this.webhooks.wantsSuccess(run);
    this.gateway = new Gateway(context, { catalog, channel: directChannel, hasSubscribers });
    const { gateway } = this;
    this.remoteWorkers = new RemoteWorkers(context, gateway);
    this.workerApi = new NamespaceGuard(context, { workers: this.remoteWorkers, sessions: gateway.sessions });
    const rescuer = new Rescuer(context);
    this.workers = new Workers(context, gateway.sessions);

    // Queues, namespaces and breakers, as callers change them.
    queues.onPausesChanged(() => gateway.holdsChanged());
    // Claims that were planned with an older revision took nothing: all lanes are scanned again.
    limitOwners.onChanged(() => {
      gateway.holdsChanged();
      gateway.hintAll();
      wakeups.publish("limits.changed", null);
    });
    const tickQueues = async (): Promise<DurationMs> => {
      await catalog.resumeExpired();
      await catalog.refresh();
      await gateway.breakers.tick();
      await catalog.shareDurations(clock.monotonic());
      return limits.fullScanIntervalMs;
    };
    loops.register("queues", tickQueues);
    wakeups.on("queues", () => loops.wake("queues"));
    this.breakers = new Breakers(context, { nodeBreakers: gateway.breakers });

    // Backfills, dead letters, bulk operations.
    this.backfills = new Backfills(context, { unitOfWork, queues, compiler, transaction: change, jobs: jobReader });
    this.deadLetters = new DeadLetters(context, {
      runs: runReader,
      transaction: change,
      deliveryRuns: this.webhooks.deliveryRuns,
    });
    this.operations = new Operations(context, {
      lister,
      runs: runReader,
      changer: this.runs.changer,
      repeater: this.deadLetters.repeater,
    });

    // Retention.
    const retention = new Retention(context);
    loops.register("clock", () => this.#measureClock());
    this.#ticks = {
      queues: tickQueues,
      history: () => retention.keepDays(),
      webhooks: () => this.webhooks.refresh(),
      rescuer: () => rescuer.tick(),
      tasks: () => catalog.tasks.refresh(),
    };

    this.cluster = new ClusterStatus(context);
    this.namespaces = new Namespaces(context, catalog);
    this.queues = new Queues(context, catalog);
    this.tasks = new Tasks(context, catalog.tasks);
    this.waitingRuns = gateway.waiting;
    this.callbackSecrets = new CallbackSecrets(context);
    this.explanations = new Explanations(context, {
      runs: runReader,
      jobs: jobReader,
      changes: this.jobs,
      limits: this.limits,
      breakers: this.breakers,
    });
    this.forecasts = new Forecasts(context, { rules });
  }

  /** One node of the cluster at a time, for what is enough to be done once: the owner of the first shard. Only a hint. */
  get isElected(): boolean {
    return this.#context.membership().epochs.has(0);
  }

  /** This incarnation of the node; changes if other nodes declared it dead and it joined again. */
  get nodeId(): string {
    return this.#context.membership().nodeId;
  }

  get load(): EngineLoad {
    const { limits } = this.#context;
    return {
      ...this.gateway.sessions.load,
      leaseMs: limits.leaseMs,
      leaseAgeMs: this.#membership.leaseAgeMs,
      writesWaiting: this.#inserts.waiting,
    };
  }

  async start(): Promise<void> {
    const { options, store, loops, wakeups } = this.#context;
    if (options.enqueueOnly === true) {
      // Before the first run is enqueued: the defaults that workers registered with their tasks.
      await this.#ticks.tasks();
      return loops.start(["clock", "queues", "waiters"]);
    }
    await this.#ticks.history();
    // Before the first claim and the first fire: paused queues, and the order of the others.
    await this.#ticks.queues();
    await this.#ticks.webhooks();
    await this.#membership.join();
    await this.#ticks.rescuer();
    wakeups.start();
    this.#directChannel.start(await store.secrets.find("direct_dispatch"));
    loops.start();
  }

  /** Ends the loops and hands the shards over. Workers are stopped before. */
  async stop(): Promise<void> {
    const { options, loops, wakeups } = this.#context;
    this.remoteWorkers.stop();
    this.runs.stop();
    const stopped = loops.stop();
    if (options.enqueueOnly !== true) await this.#membership.leave();
    await stopped;
    if (options.enqueueOnly === true) return;
    this.gateway.stop();
    await Promise.all([wakeups.stop(), this.#directChannel.stop()]);
  }

  /** Ends in a history of the database that was left: workers register again with the next engine, and no row is written any more. */
  abandon(): Promise<void> {
    this.gateway.sessions.loseAll();
    return this.stop();
  }

  async #measureClock(): Promise<DurationMs> {
    const { clock } = this.#context.db;
    await clock.tick();
    this.#context.emit({ type: "clock.measured", skewMs: clock.skewMs, uncertaintyMs: clock.uncertaintyMs });
    return 10 * second;
  }
}
