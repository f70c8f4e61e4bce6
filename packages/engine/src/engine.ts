import type { DurationMs } from "@carillon/core";
import { type ClaimedRun, type OnReplaced, loadStatements } from "@carillon/store";
import { backfillApi } from "./backfills/backfill-api.js";
import { BackfillRunner } from "./backfills/backfill-runner.js";
import type { Backfills } from "./backfills/backfills.js";
import { PastRules } from "./backfills/past-rules.js";
import { StepTaker } from "./backfills/take-step.js";
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
import { ErrorTally } from "./dead-letters/error-tally.js";
import { failuresApi } from "./dead-letters/failures-api.js";
import type { Failures } from "./dead-letters/failures.js";
import { Repeats } from "./dead-letters/repeats.js";
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
import { makeInserts } from "./enqueue/coalesced-inserts.js";
import { DirectInsert, SlotOffers } from "./enqueue/direct-insert.js";
import { Enqueuer } from "./enqueue/enqueuer.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import { IdempotencyKeys } from "./enqueue/idempotency/idempotency-keys.js";
import { makeInsertWithReceipt } from "./enqueue/idempotency/insert-with-receipt.js";
import type { Receipts } from "./enqueue/idempotency/idempotency-keys.js";
import { explanationsApi } from "./explain/explanations-api.js";
import type { Explanations } from "./explain/explanations.js";
import { RunExplainer } from "./explain/run-explainer.js";
import {
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
import { forecastsApi } from "./forecast/forecasts-api.js";
import type { Forecasts } from "./forecast/forecasts.js";
import { ChangeTransaction } from "./jobs/change/change-transaction.js";
import { PauseExpiry } from "./jobs/change/job-pauser.js";
import { JobReader } from "./jobs/job-reader.js";
import { Jobs } from "./jobs/jobs.js";
import { JobUnitOfWork, wakeForApplied } from "./jobs/transaction/job-unit-of-work.js";
import { OverlapAdmitter } from "./jobs/transaction/overlap-admitter.js";
import { LimitAdmitter } from "./limits/limit-admitter.js";
import { Limits } from "./limits/limits.js";
import { BulkTargets } from "./operations/bulk-targets.js";
import { OperationRunner } from "./operations/operation-runner.js";
import { operationsApi } from "./operations/operations-api.js";
import type { Operations } from "./operations/operations.js";
import { type EngineOptions, defaultFarFutureLimits } from "./options.js";
import { Retention } from "./runs/retention.js";
import { announceEnded } from "./runs/run-events.js";
import { Runs } from "./runs/runs.js";
import { FarFuturePromoter } from "./scheduler/far-future-promoter.js";
import { Scheduler } from "./scheduler/scheduler.js";
import { fireStore } from "./scheduler/settle-fires.js";
import { DueRules } from "./schedules/due-rules.js";
import { ScheduleCache } from "./schedules/schedule-cache.js";
import { Notifier } from "./webhooks/notifier.js";
import { SystemRuns } from "./webhooks/system-runs.js";
import { Teller } from "./webhooks/teller.js";
import { WebhookBook } from "./webhooks/webhook-cache.js";
import { webhooksApi } from "./webhooks/webhooks-api.js";
import type { Webhooks } from "./webhooks/webhooks.js";

/** All that callers ask of the engine. */
export type EngineApis = EngineApi &
  JobChangeCalls &
  JobStatsCalls &
  CalendarCalls &
  RunCalls &
  Receipts &
  Operations &
  Enqueueing &
  Backfills &
  QueueCalls &
  NamespaceCalls &
  BreakerCalls &
  LimitCalls &
  Failures &
  Webhooks &
  TaskCalls &
  Callbacks &
  WorkerCalls &
  Explanations &
  Forecasts;

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
  readonly #inserts: ReturnType<typeof makeInserts>;
  readonly #ticks: Readonly<Record<"queues" | "history" | "webhooks" | "rescuer" | "tasks", () => Promise<unknown>>>;

  constructor(options: EngineOptions) {
    const context = new EngineContext(options);
    this.#context = context;
    const { db, store, clock, newId, now, emit, membership, loops, wakeups, limits } = context;
    const { shardCount: shards, namespaceId, inNamespace: within } = context;
    const statements = loadStatements(db.schema);
    const transaction: typeof db.transaction = (work, transactionOptions) => db.transaction(work, transactionOptions);
    const signals = {
      onQueued: (queued: Parameters<typeof wakeups.runsQueued>[0]) => wakeups.runsQueued(queued),
      onDueRuns: (runs: Parameters<typeof wakeups.runsDue>[0]) => wakeups.runsDue(runs),
      onStopped: () => wakeups.broadcast("stops"),
      onFreed: (jobIds: readonly string[]) => {
        if (jobIds.length > 0) wakeups.publish("overlap.freed", jobIds);
      },
      onFailed: (run: Parameters<ErrorTally["add"]>[0]) => wakeups.publish("run.failed", run),
      onEvent: emit,
    };
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
    const jobTransactionStore = { ...store, unitOfWork, queueBook: queues };
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

    // Enqueueing: coalesced inserts, direct dispatch, idempotency keys.
    const onReplaced: OnReplaced = (replaced) => announceEnded(replaced, "cancelled", emit);
    const horizonMs = limits.farFuture.horizonMs ?? defaultFarFutureLimits.horizonMs;
    const offers = new SlotOffers(() => clock.monotonic());
    const directChannel = new DirectChannel(context, offers);
    this.#directChannel = directChannel;
    const inserts = makeInserts(store, {
      maxBatch: limits.insertBatch,
      maxQueued: limits.insertQueue,
      patience: { ms: limits.insertQueueTimeoutMs, monotonic: () => clock.monotonic() },
      horizonMs,
      onReplaced,
      onQueued: (queued, mode) => wakeups.runsQueued(queued, mode),
      noticeOf: (queued) => wakeups.noticeFor(queued),
      direct: new DirectInsert({
        store: store.directRuns,
        offers,
        channel: directChannel,
        queuedNoticeFor: (queued) => wakeups.noticeFor(queued),
      }),
    });
    this.#inserts = inserts;
    const insertWithReceipt = makeInsertWithReceipt(store, statements, { horizonMs, onReplaced });
    const enqueuer = new Enqueuer(context, {
      catalog,
      inserts,
      insertWithReceipt,
      callText: statements.get("enqueue.call").text,
    });
    const idempotencyKeys = new IdempotencyKeys({ receipts: store.receipts, newId });

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
    const scheduler = new Scheduler({
      ...signals,
      store: fires,
      calendars: calendarCache,
      follow: (jobIds) => calendarSweep.follow(jobIds),
      now,
      membership,
      rank,
      resumeExpired: (fence, due) => pauseExpiry.resume(fence, due),
      onPromoted: (promoted) => wakeups.runsPromoted(promoted),
    });
    const farFuture = new FarFuturePromoter({
      ...signals,
      store: store.farFuture,
      now,
      membership,
      limits: limits.farFuture,
    });
    loops.register("scheduler", () => ticked(scheduler));
    loops.register("far_future", () => ticked(farFuture));
    wakeups.on("jobs.due", (due) => {
      for (const job of due) scheduler.jobDue(job);
      if (due.length > 0) loops.wake("scheduler");
    });
    wakeups.on("runs.due", (due) => {
      for (const run of due) scheduler.runDue(run);
      if (due.length > 0) loops.wake("scheduler");
    });
    wakeups.on("shards.changed", (changed) => {
      scheduler.readShards(changed);
      if (changed.length > 0) loops.wake("scheduler");
    });
    wakeups.on("windows", () => {
      scheduler.windowsChanged();
      loops.wake("scheduler");
    });
    wakeups.on("shards.owned", ({ gained, lost }) => {
      scheduler.forgetShards(lost);
      farFuture.forgetShards(lost);
      const ids = gained.map((shard) => shard.id);
      scheduler.readShards(ids);
      farFuture.scanShards(ids);
      if (ids.length > 0) for (const name of ["scheduler", "far_future"] as const) loops.wake(name);
    });

    // Webhooks.
    const systemRuns = new SystemRuns({
      ...signals,
      runsOver: store.runsOver,
      lanes: store.lanes,
      queues,
      rank,
      now,
      shards,
    });
    const webhookBook = new WebhookBook(db, store.webhooks);
    const notifier = new Notifier({
      webhooks: store.webhooks,
      readsOver: store.readsOver,
      transaction,
      runs: systemRuns,
      newId,
      batch: limits.sweepBatch,
    });
    const teller = new Teller({ transaction, failures: store.failures, runs: systemRuns, newId });
    const ofWebhooks = webhooksApi({
      webhooks: store.webhooks,
      secrets: store.callbackSecrets,
      runs,
      lister,
      systemRuns,
      transaction,
      within,
      newId,
      now,
      mostFailingMs: limits.webhookFailingMs,
      onChanged: () => webhookBook.look(),
    });
    const refreshWebhooks = async (): Promise<DurationMs> => {
      await webhookBook.look();
      return limits.fullScanIntervalMs;
    };
    loops.register("webhooks", refreshWebhooks);
    loops.register("notifier", () => notifier.tick());

    // Dispatch: assigns runs to workers of this process and of others.
    const hasSubscribers = (run: ClaimedRun): boolean => webhookBook.isToldOf(run);
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
    const pastRules = new PastRules(store.past, compiler);
    const backfillRunner = new BackfillRunner({
      backfills: store.backfills,
      steps: new StepTaker({ store: jobTransactionStore, rules: pastRules, now }),
      membership,
      now,
      onStepped: (shard, settled) => {
        announceEnded(settled.ended, "cancelled", emit);
        wakeForApplied(wakeups, [shard], settled);
      },
      onEvent: emit,
    });
    loops.register("backfills", () => ticked(backfillRunner));
    wakeups.on("backfills", () => loops.wake("backfills"));
    context.events.on("run.finished", ({ jobId }) => {
      if (jobId !== null && backfillRunner.hint(jobId)) loops.wake("backfills");
    });
    const ofBackfills = backfillApi({
      db,
      store: jobTransactionStore,
      transaction: change,
      jobs: jobReader,
      rules: pastRules,
      newId,
      now,
      namespaceId,
      onStarted: () => wakeups.broadcast("backfills"),
    });
    const tally = new ErrorTally({ failures: store.failures, now });
    loops.register("errors", () => tally.tick());
    wakeups.on("run.failed", (run) => tally.add(run));
    const repeats = new Repeats({ transaction: change, failures: store.failures, teller, newId });
    const ofFailures = failuresApi({ db, failures: store.failures, runs, repeats, within });
    const targets = new BulkTargets({ lister, runs });
    const operationRunner = new OperationRunner({
      operations: store.operations,
      targets,
      changer: this.#runs.changer,
      repeats,
      failures: store.failures,
      membership,
    });
    loops.register("operations", () => operationRunner.tick());
    wakeups.on("operations", () => loops.wake("operations"));
    wakeups.on("shards.owned", ({ gained }) => {
      if (gained.length > 0) for (const name of ["backfills", "operations"] as const) loops.wake(name);
    });
    const ofOperations = operationsApi({
      db,
      operations: store.operations,
      targets,
      runner: operationRunner,
      queues: store.queues,
      within,
      newId,
      shards,
      onStarted: () => wakeups.broadcast("operations"),
    });

    // Retention.
    const retention = new Retention(context);
    loops.register("clock", () => this.#measureClock());
    this.#ticks = {
      queues: tickQueues,
      history: () => retention.keepDays(),
      webhooks: refreshWebhooks,
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
      ...ofBackfills,
      ...queueCalls(new Queues(context, catalog)),
      ...namespaceCalls(new Namespaces(context, catalog)),
      ...breakerCalls(breakers),
      ...limitCalls(runLimits),
      ...ofOperations,
      ...ofFailures,
      ...ofWebhooks,
      ...explanationsApi({
        runs,
        jobs: jobReader,
        changes: jobs,
        now,
        within,
        explainer: new RunExplainer({
          reads: store.explainReads,
          whoServes: (id, run) => workers.whoServes(id, run),
          limitsOf: (namespace, runId) => runLimits.ofRun(namespace, runId),
          breakerOf: (namespace, name) => breakers.get(namespace, name),
          liveOf: (jobId) => unitOfWork.reads.live(db, [jobId], { hold: false }),
        }),
        async isHeld(jobId) {
          const [job] = await unitOfWork.reads.read(db, [jobId], { payload: false });
          return job?.due.stateReason?.startsWith("held ") ?? false;
        },
      }),
      answerCallback: (tokenHash, answer) => gateway.waiting.answer(tokenHash, answer),
      ...forecastsApi({ reads: store.forecastReads, rules, shards, now, within }),
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

async function ticked(part: { tick(): Promise<unknown>; readonly idleMs: DurationMs }): Promise<DurationMs> {
  await part.tick();
  return part.idleMs;
}
