import type { DurationMs } from "@carillon/core";
import { type ClaimedRun, loadStatements } from "@carillon/store";
import { Backfills } from "./backfills/backfills.js";
import { Breakers } from "./breakers/breakers.js";
import { CalendarCompiler, CalendarCache } from "./calendars/calendar-cache.js";
import { CalendarSweep } from "./calendars/calendar-sweep.js";
import { Calendars } from "./calendars/calendars.js";
import { MaintenanceWindows } from "./calendars/maintenance-windows.js";
import { Catalog } from "./catalog/catalog.js";
import { Namespaces } from "./catalog/namespaces.js";
import { Queues } from "./catalog/queues.js";
import { Tasks } from "./catalog/tasks.js";
import { ClusterStatus } from "./cluster/cluster-status.js";
import { ClusterMembership } from "./cluster/cluster-membership.js";
import { EngineContext } from "./context.js";
import { DeadLetters } from "./dead-letters/dead-letters.js";
import { DependencyRunner } from "./dependencies/dependency-runner.js";
import { UpstreamEnds } from "./dependencies/upstream-ends.js";
import { DirectChannel } from "./dispatch/direct/direct-channel.js";
import { Gateway } from "./dispatch/gateway.js";
import { NamespaceGuard } from "./dispatch/remote/namespace-guard.js";
import { RemoteWorkers } from "./dispatch/remote/remote-workers.js";
import type { Callbacks } from "./dispatch/results/waiting-runs.js";
import { Rescuer } from "./dispatch/sessions/rescuer.js";
import type { WorkerLoad } from "./dispatch/sessions/served-sessions.js";
import { Workers } from "./dispatch/sessions/workers.js";
import { CoalescedInserts } from "./enqueue/coalesced-inserts.js";
import { SlotOffers } from "./enqueue/direct-insert.js";
import { Enqueuer } from "./enqueue/enqueuer.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import { IdempotencyKeys } from "./enqueue/idempotency/idempotency-keys.js";
import { makeInsertWithReceipt } from "./enqueue/idempotency/insert-with-receipt.js";
import type { Receipts } from "./enqueue/idempotency/idempotency-keys.js";
import { Explanations } from "./explain/explanations.js";
import {
  type BackfillCalls,
  backfillCalls,
  type DeadLetterCalls,
  deadLetterCalls,
  type ExplanationCalls,
  explanationCalls,
  type ForecastCalls,
  forecastCalls,
  type OperationCalls,
  operationCalls,
  type WebhookCalls,
  webhookCalls,
  type BreakerCalls,
  breakerCalls,
  calendarCalls,
  type CalendarCalls,
  type EngineApi,
  enqueueCalls,
  jobCalls,
  type JobChangeCalls,
  type JobStatsCalls,
  limitCalls,
  type LimitCalls,
  type NamespaceCalls,
  namespaceCalls,
  type QueueCalls,
  queueCalls,
  type RunCalls,
  runCalls,
  taskCalls,
  type TaskCalls,
  type WorkerCalls,
  workerCalls,
} from "./flat-api.js";
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
import { CallbackSecrets } from "./webhooks/callback-secrets.js";
import { Webhooks } from "./webhooks/webhooks.js";

/** All that callers ask of the engine. */
export type EngineApis = EngineApi &
  JobChangeCalls &
  JobStatsCalls &
  CalendarCalls &
  RunCalls &
  Receipts &
  OperationCalls &
  Enqueueing &
  BackfillCalls &
  QueueCalls &
  NamespaceCalls &
  BreakerCalls &
  LimitCalls &
  DeadLetterCalls &
  WebhookCalls &
  TaskCalls &
  Callbacks &
  WorkerCalls &
  ExplanationCalls &
  ForecastCalls;

/** How much a node has to do, now. */
export interface EngineLoad extends WorkerLoad {
  readonly leaseMs: DurationMs;
  /** Since the node last renewed its lease; null: it has none. */
  readonly leaseAgeMs: DurationMs | null;
  /** New jobs and runs that wait to be written. */
  readonly writesWaiting: number;
}

/** One node's engine: what it answers to callers, what it hands to workers, and the loops that keep it going. */
export interface Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  /** Workers of other processes, of every namespace. */
  readonly remoteWorkers: RemoteWorkers;
  /** The same for callers of a namespace: what the API serves. */
  readonly workerApi: NamespaceGuard;
  /** This incarnation of the node; changes if others declared it dead and it came back. */
  readonly nodeId: string;
  /** One node of the cluster at a time, for what is enough to be done once: the owner of the first shard. Only a hint. */
  readonly isElected: boolean;
  readonly load: EngineLoad;
  start(): Promise<void>;
  /** Ends the loops and hands the shards over. Workers are stopped before. */
  stop(): Promise<void>;
}

const second: DurationMs = 1_000;

export function createEngine(options: EngineOptions): Engine {
  return new NodeEngine(options);
}

/** The only composition of a node: constructs every component in the order of their dependencies. Holds no rule of its own. */
class NodeEngine implements Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  readonly remoteWorkers: RemoteWorkers;
  readonly workerApi: NamespaceGuard;
  readonly #context: EngineContext;
  readonly #cluster: ClusterMembership;
  readonly #directChannel: DirectChannel;
  readonly #runs: Runs;
  readonly #inserts: CoalescedInserts;
  readonly #ticks: Readonly<Record<"queues" | "history" | "webhooks" | "rescuer" | "tasks", () => Promise<unknown>>>;

  constructor(options: EngineOptions) {
    const context = new EngineContext(options);
    this.#context = context;
    const { db, store, clock, loops, wakeups, limits } = context;
    const { inNamespace: within } = context;
    const statements = loadStatements(db.schema);
    // Cluster: which shards this node owns.
    this.#cluster = new ClusterMembership(context);

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
    const calendars = new Calendars(context, { cache: calendarCache, compiler, sweep: calendarSweep });
    const maintenanceWindows = new MaintenanceWindows(context);

    // Runs: reads, waiting callers, changes of single runs, deadlines.
    this.#runs = new Runs(context, catalog);
    const { reader: runs, lister } = this.#runs;
    const jobReader = new JobReader(store.jobs, runs, lister);

    // Limits.
    new LimitAdmitter(context, catalog);
    const runLimits = new Limits(context);

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
    const enqueuer = new Enqueuer(context, { catalog, inserts, insertWithReceipt, callText });
    const idempotencyKeys = new IdempotencyKeys(context);

    // Jobs.
    const change = new ChangeTransaction(context, { unitOfWork, upstreamEnds, calendarSweep, queues, rules });
    const jobs = new Jobs(context, {
      catalog,
      calendars: calendarCache,
      rules,
      inserts,
      insertWithReceipt,
      transaction: change,
      unitOfWork,
      upstreamEnds,
      reader: jobReader,
      runs,
    });
    const pauseExpiry = new PauseExpiry(context, { unitOfWork, rules, upstreamEnds });

    // The scheduler: due jobs and runs, and far-future runs.
    new Scheduler(context, { store: fires, calendars: calendarCache, calendarSweep, pauseExpiry, rank });
    new FarFuturePromoter(context);

    // Webhooks.
    const webhooks = new Webhooks(context, { queues, rank, runs, lister });

    // Dispatch: assigns runs to workers of this process and of others.
    const hasSubscribers = (run: ClaimedRun): boolean => webhooks.wantsSuccess(run);
    this.gateway = new Gateway(context, { catalog, channel: directChannel, hasSubscribers });
    const { gateway } = this;
    this.remoteWorkers = new RemoteWorkers(context, gateway);
    this.workerApi = new NamespaceGuard(context, { workers: this.remoteWorkers, sessions: gateway.sessions });
    const rescuer = new Rescuer(context);
    const workers = new Workers(context, gateway.sessions);

    // Queues, namespaces and breakers, as callers change them.
    queues.onPausesChanged(() => gateway.holdsChanged());
    // What a claim did not find because it went by another revision is looked for again.
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
    const breakers = new Breakers(context, { nodeBreakers: gateway.breakers });

    // Backfills, dead letters, bulk operations.
    const backfills = new Backfills(context, { unitOfWork, queues, compiler, transaction: change, jobs: jobReader });
    const deadLetters = new DeadLetters(context, { runs, transaction: change, deliveryRuns: webhooks.deliveryRuns });
    const operations = new Operations(context, {
      lister,
      runs,
      changer: this.#runs.changer,
      repeater: deadLetters.repeater,
    });

    // Retention.
    const retention = new Retention(context);
    loops.register("clock", () => this.#measureClock());
    this.#ticks = {
      queues: tickQueues,
      history: () => retention.keepDays(),
      webhooks: () => webhooks.refresh(),
      rescuer: () => rescuer.tick(),
      tasks: () => catalog.tasks.refresh(),
    };

    this.api = {
      namespaceId: (namespace) => within(namespace, async (id) => id),
      ...runCalls(this.#runs),
      ...jobCalls(jobs),
      ...enqueueCalls(enqueuer),
      beginCall: (namespace, call) => within(namespace, (id) => idempotencyKeys.begin(id, call)),
      ...workerCalls(workers),
      ...taskCalls(new Tasks(context, catalog.tasks), new ClusterStatus(context)),
      ...calendarCalls(calendars, maintenanceWindows),
      ...backfillCalls(backfills),
      ...queueCalls(new Queues(context, catalog)),
      ...namespaceCalls(new Namespaces(context, catalog)),
      ...breakerCalls(breakers),
      ...limitCalls(runLimits),
      ...operationCalls(operations),
      ...deadLetterCalls(deadLetters),
      ...webhookCalls(webhooks, new CallbackSecrets(context)),
      ...explanationCalls(
        new Explanations(context, { runs, jobs: jobReader, changes: jobs, limits: runLimits, breakers }),
      ),
      answerCallback: (tokenHash, answer) => gateway.waiting.answer(tokenHash, answer),
      ...forecastCalls(new Forecasts(context, { rules })),
    };
  }

  get isElected(): boolean {
    return this.#context.membership().epochs.has(0);
  }

  get nodeId(): string {
    return this.#context.membership().nodeId;
  }

  get load(): EngineLoad {
    const { limits } = this.#context;
    return {
      ...this.gateway.sessions.load,
      leaseMs: limits.leaseMs,
      leaseAgeMs: this.#cluster.leaseAgeMs,
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
    await this.#cluster.join();
    await this.#ticks.rescuer();
    wakeups.start();
    this.#directChannel.start(await store.secrets.find("direct_dispatch"));
    loops.start();
  }

  async stop(): Promise<void> {
    const { options, loops, wakeups } = this.#context;
    this.remoteWorkers.stop();
    this.#runs.stop();
    const stopped = loops.stop();
    if (options.enqueueOnly !== true) await this.#cluster.leave();
    await stopped;
    if (options.enqueueOnly === true) return;
    this.gateway.stop();
    await Promise.all([wakeups.stop(), this.#directChannel.stop()]);
  }

  async #measureClock(): Promise<DurationMs> {
    const { clock } = this.#context.db;
    await clock.tick();
    this.#context.emit({ type: "clock.measured", skewMs: clock.skewMs, uncertaintyMs: clock.uncertaintyMs });
    return 10 * second;
  }
}
