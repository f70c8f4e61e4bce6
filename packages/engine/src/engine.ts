import { type DurationMs, type ScheduleSpec, defaultFiringPolicy } from "@carillon/core";
import { type ClaimedRun, type OnReplaced, loadStatements, namesIn, nodeLockStatements } from "@carillon/store";
import { backfillApi } from "./backfills/backfill-api.js";
import { BackfillRunner } from "./backfills/backfill-runner.js";
import type { Backfills } from "./backfills/backfills.js";
import { PastRules } from "./backfills/past-rules.js";
import { StepTaker } from "./backfills/take-step.js";
import { calendarApi } from "./calendars/calendar-api.js";
import { NodeCalendars } from "./calendars/calendar-cache.js";
import { CalendarSweep } from "./calendars/calendar-sweep.js";
import { CalendarCompiler } from "./calendars/compile-edition.js";
import { Breakers } from "./breakers/breakers.js";
import { Catalog } from "./catalog/catalog.js";
import { Namespaces } from "./catalog/namespaces.js";
import { Queues } from "./catalog/queues.js";
import { Tasks } from "./catalog/tasks.js";
import { ClusterStatus } from "./cluster/cluster-status.js";
import type { Coordinator, ShardChange } from "./cluster/coordinator.js";
import { EtcdClient } from "./cluster/etcd/etcd-client.js";
import { etcdCoordinator } from "./cluster/etcd/etcd-coordinator.js";
import { postgresCoordinator } from "./cluster/postgres/postgres-coordinator.js";
import { SessionLock } from "./cluster/postgres/session-lock.js";
import { EngineContext } from "./context.js";
import { ErrorTally } from "./dead-letters/error-tally.js";
import { failuresApi } from "./dead-letters/failures-api.js";
import type { Failures } from "./dead-letters/failures.js";
import { Repeats } from "./dead-letters/repeats.js";
import { Conditions } from "./dependencies/conditions.js";
import { AfterRunner } from "./dependencies/dependency-runner.js";
import { Follower } from "./dependencies/follower.js";
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
import { makeEnqueueing } from "./enqueue/enqueue-api.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import { KeyBook } from "./enqueue/idempotency/idempotency-keys.js";
import { insertKept } from "./enqueue/idempotency/insert-with-receipt.js";
import type { Receipts } from "./enqueue/idempotency/receipts.js";
import { explanationsApi } from "./explain/explanations-api.js";
import type { Explanations } from "./explain/explanations.js";
import { RunExplainer } from "./explain/run-explainer.js";
import {
  type BreakerCalls,
  breakerCalls,
  type LimitCalls,
  limitCalls,
  type NamespaceCalls,
  namespaceCalls,
  type QueueCalls,
  queueCalls,
  type RunCalls,
  runCalls,
  type TaskCalls,
  taskCalls,
  type WorkerCalls,
  workerCalls,
} from "./flat-api.js";
import { forecastsApi } from "./forecast/forecasts-api.js";
import type { Forecasts } from "./forecast/forecasts.js";
import { Adopter } from "./jobs/change/adopter.js";
import { ChangeTransaction } from "./jobs/change/change-transaction.js";
import { jobChanger } from "./jobs/change/job-changer.js";
import { JobEdits } from "./jobs/change/job-edits.js";
import { JobEndings } from "./jobs/change/job-endings.js";
import { JobPauses } from "./jobs/change/job-pauses.js";
import { JobRecords } from "./jobs/change/job-records.js";
import { PauseExpiry } from "./jobs/change/pause-expiry.js";
import { RunNow } from "./jobs/change/run-now.js";
import { JobCreator } from "./jobs/create-job.js";
import { declarePaths } from "./jobs/declare-paths.js";
import type { EngineApi, JobStatsApi } from "./jobs/engine-api.js";
import type { JobChanges } from "./jobs/job-changes.js";
import { JobReader } from "./jobs/job-reader.js";
import { jobsAndRunsApi } from "./jobs/jobs-and-runs-api.js";
import { tellChanges } from "./jobs/tell-changes.js";
import { announceSettled, wakeForSettled } from "./jobs/transaction/announce-settled.js";
import { OverlapAdmitter } from "./jobs/transaction/overlap-admitter.js";
import { type Settled, Settler } from "./jobs/transaction/settler.js";
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
import type { Calendars } from "./schedules/calendars.js";
import { nodeRules } from "./schedules/node-rules.js";
import { ScheduleCache } from "./schedules/schedule-cache.js";
import { Notifier } from "./webhooks/notifier.js";
import { SystemRuns } from "./webhooks/system-runs.js";
import { Teller } from "./webhooks/teller.js";
import { WebhookBook } from "./webhooks/webhook-cache.js";
import { webhooksApi } from "./webhooks/webhooks-api.js";
import type { Webhooks } from "./webhooks/webhooks.js";

/** All that callers ask of the engine. */
export type EngineApis = EngineApi &
  RunCalls &
  JobStatsApi &
  Receipts &
  Operations &
  Enqueueing &
  JobChanges &
  Calendars &
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
  /** Since the node last made sure of its lease; null: it has none. */
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
  readonly #coordinator: Coordinator;
  readonly #directChannel: DirectChannel;
  readonly #runs: Runs;
  readonly #inserts: ReturnType<typeof makeInserts>;
  readonly #ticks: Readonly<Record<"queues" | "history" | "webhooks" | "rescuer" | "tasks", () => Promise<unknown>>>;
  #leaseAt: DurationMs | null = null;

  constructor(options: EngineOptions) {
    const context = new EngineContext(options);
    this.#context = context;
    const { db, store, clock, newId, now, emit, membership, ownShards, loops, wakeups, limits } = context;
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
    const applied = (appliedShards: readonly number[], settled: Settled | null): void => {
      if (settled !== null) announceSettled(settled, emit);
      wakeForSettled(wakeups, appliedShards, settled);
    };

    // Cluster: which shards this node owns.
    this.#coordinator = createCoordinator(context);
    context.followMembership(() => this.#coordinator.membership);
    loops.register("coordinator", async () => {
      await this.#keepLease(() => this.#coordinator.tick());
      return this.#coordinator.idleMs;
    });
    wakeups.on("shards.moved", () => loops.wake("coordinator"));

    // Catalog, and the unit of work over jobs.
    const catalog = new Catalog(context);
    const { rank, queues, limitOwners } = catalog;
    const settler = new Settler(store.settlementReads, store.settlementWrites, rank);
    const settlerStore = { ...store, settler, queueBook: queues };
    const fires = fireStore(store, settler);
    const schedules = new ScheduleCache(limits.compiledSchedules, false);

    // Calendars and maintenance windows.
    const compiler = new CalendarCompiler();
    const calendars = new NodeCalendars(store.calendars, compiler);
    const rules = nodeRules({ schedules, calendars, store: fires });
    const calendarSweep = new CalendarSweep({ db, store: settlerStore, rules, compiler, onRecomputed: applied });
    const followCalendars = (jobIds: readonly string[]) => calendarSweep.follow(jobIds);
    const everyShard = Array.from({ length: shards }, (_, shard) => shard);
    const ofCalendars = calendarApi({
      calendars: store.calendars,
      windows: store.windows,
      known: calendars,
      compiler,
      namespaceId,
      async onReplaced() {
        try {
          await calendars.refresh();
          await calendarSweep.tick(everyShard);
        } catch (error) {
          // The change is stored: the owners of the shards follow it up.
          context.loopFailed("calendars", error);
        }
        wakeups.broadcast("calendars");
      },
      onWindowsChanged: () => wakeups.broadcast("windows"),
    });
    loops.register("calendars", async () => {
      await calendars.refresh();
      return (await calendarSweep.tick(ownShards())) > 0 ? 0 : 5 * second;
    });
    wakeups.on("calendars", () => loops.wake("calendars"));

    // Runs: reads, waiting callers, changes of single runs, deadlines.
    this.#runs = new Runs(context, catalog);
    const { reader: runs, lister } = this.#runs;
    const jobs = new JobReader(store.jobs, runs, lister);

    // Limits.
    new LimitAdmitter(context, catalog);
    const runLimits = new Limits(context);

    // Runs that wait for other runs of their job, and jobs that start after other jobs.
    const overlap = new OverlapAdmitter({ ...signals, db, settle: store.settle, settler, clock, shards: ownShards });
    loops.register("overlap", () => ticked(overlap));
    wakeups.on("overlap.freed", (jobIds) => {
      overlap.hint(jobIds);
      loops.wake("overlap");
    });
    const follower = new Follower(store.dependencies, new Conditions());
    const dependencies = new AfterRunner({
      db,
      dependencies: store.dependencies,
      settle: store.settle,
      settler,
      follower,
      clock,
      shards: ownShards,
      onSettled: (settled) => applied([], settled),
    });
    loops.register("dependencies", () => ticked(dependencies));
    context.events.on("run.finished", () => {
      if (dependencies.hint()) loops.wake("dependencies");
    });

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
    const insertWithReceipt = insertKept(store, statements, { horizonMs, onReplaced });
    const enqueue = makeEnqueueing({
      ...signals,
      store,
      catalog,
      within,
      inserts,
      insertKept: insertWithReceipt,
      chunk: limits.insertBatch,
      callText: statements.get("enqueue.call").text,
      newId,
      now,
      shards,
    });
    const idempotencyKeys = new KeyBook({ receipts: store.receipts, newId });

    // Jobs: creating and changing them.
    const creator = new JobCreator({
      ...signals,
      lanes: store.lanes,
      insertJob: inserts.jobs,
      insertRun: inserts.runs,
      insertKept: insertWithReceipt,
      queues,
      rank,
      newId,
      now,
      shards,
      catchupWindowMs: defaultFiringPolicy.catchupWindowMs,
      schedules: new ScheduleCache(limits.compiledSchedules, false),
      calendars,
      adoptUpstreams: (id, specs) => change.adoptOneOffs(id, specs.flatMap(upstreamIds)),
      chunk: limits.insertBatch,
      onDueJobs: (due) => wakeups.jobsDue(due),
    });
    const change = new ChangeTransaction({
      store: settlerStore,
      follower,
      followCalendars,
      lanes: store.lanes,
      queues,
      rules,
      adopter: new Adopter({ changes: store.changes, shards, readsOver: store.readsOver }),
      patienceMs: limits.changeLockTimeoutMs,
      onChanged: ({ shard, settled }) => applied([shard], settled),
    });
    const pauses = new JobPauses({
      transaction: change,
      rules,
      dependencies: store.dependencies,
      untold: (jobId) => store.dependencies.untold(db, jobId),
    });
    const jobChanges = jobChanger({
      db,
      store: settlerStore,
      transaction: change,
      edits: new JobEdits({
        transaction: change,
        changes: store.changes,
        settler,
        rules,
        create: (id, spec) => creator.create(id, spec),
        now,
      }),
      pauses,
      endings: new JobEndings({
        transaction: change,
        store: settlerStore,
        patienceMs: limits.changeLockTimeoutMs,
        onStopped: signals.onStopped,
        onEnded: (ended) => announceEnded(ended, "cancelled", emit),
      }),
      runNow: new RunNow({ transaction: change, newId }),
      records: new JobRecords(db, store.changes, rules),
      jobs,
      runs,
      namespaceId,
    });
    const pauseExpiry = new PauseExpiry(settlerStore, rules, (settled) => announceSettled(settled, emit));

    // The scheduler: due jobs and runs, and far-future runs.
    const scheduler = new Scheduler({
      ...signals,
      store: fires,
      calendars,
      follow: followCalendars,
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
      for (const job of due) scheduler.hintJob(job);
      if (due.length > 0) loops.wake("scheduler");
    });
    wakeups.on("runs.due", (due) => {
      for (const run of due) scheduler.hintRun(run);
      if (due.length > 0) loops.wake("scheduler");
    });
    wakeups.on("shards.changed", (changed) => {
      scheduler.hintShards(changed);
      if (changed.length > 0) loops.wake("scheduler");
    });
    wakeups.on("windows", () => {
      scheduler.hintWindows();
      loops.wake("scheduler");
    });
    wakeups.on("shards.owned", ({ gained, lost }) => {
      scheduler.forgetShards(lost);
      farFuture.forgetShards(lost);
      const ids = gained.map((shard) => shard.id);
      scheduler.hintShards(ids);
      farFuture.hintShards(ids);
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
      steps: new StepTaker({ store: settlerStore, rules: pastRules, now }),
      membership,
      now,
      onStepped: (shard, settled) => {
        announceEnded(settled.ended, "cancelled", emit);
        wakeForSettled(wakeups, [shard], settled);
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
      store: settlerStore,
      transaction: change,
      jobs,
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

    const api: EngineApis = {
      ...jobsAndRunsApi({ store, creator, jobs, within }),
      ...runCalls(this.#runs),
      ...enqueue,
      beginCall: (namespace, call) => within(namespace, (id) => idempotencyKeys.begin(id, call)),
      ...workerCalls(workers),
      ...taskCalls(new Tasks(context, catalog.tasks), new ClusterStatus(context)),
      ...jobChanges,
      ...ofCalendars,
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
        jobs,
        changes: jobChanges,
        now,
        within,
        explainer: new RunExplainer({
          reads: store.explainReads,
          whoServes: (id, run) => workers.whoServes(id, run),
          limitsOf: (namespace, runId) => runLimits.ofRun(namespace, runId),
          breakerOf: (namespace, name) => breakers.get(namespace, name),
          liveOf: (jobId) => settler.reads.live(db, [jobId], { hold: false }),
        }),
        async isHeld(jobId) {
          const [job] = await settler.reads.read(db, [jobId], { payload: false });
          return job?.due.stateReason?.startsWith("held ") ?? false;
        },
      }),
      answerCallback: (tokenHash, answer) => gateway.waiting.answer(tokenHash, answer),
      ...forecastsApi({ reads: store.forecastReads, rules, shards, now, within }),
    };
    this.api = declarePaths(tellChanges(api, within, emit), within, store.searchPaths);
  }

  get isElected(): boolean {
    return this.#context.membership().epochs.has(0);
  }

  get nodeId(): string {
    return this.#context.membership().nodeId;
  }

  get load(): EngineLoad {
    const { clock, limits } = this.#context;
    return {
      ...this.gateway.sessions.load,
      leaseMs: limits.leaseMs,
      leaseAgeMs: this.#leaseAt === null ? null : clock.monotonic() - this.#leaseAt,
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
    await this.#keepLease(() => this.#coordinator.join());
    wakeups.announce("shards.moved");
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
    if (options.enqueueOnly !== true) await this.#releaseShards();
    await stopped;
    if (options.enqueueOnly === true) return;
    this.gateway.stop();
    await Promise.all([wakeups.stop(), this.#directChannel.stop()]);
  }

  /** As soon as nothing fires any more: other nodes fire while this one ends the rest. */
  async #releaseShards(): Promise<void> {
    const { loops, wakeups } = this.#context;
    await loops.stop(["coordinator", "scheduler", "far_future"]);
    try {
      await this.#coordinator.leave();
      wakeups.announce("shards.moved");
    } catch (error) {
      // Without a database no node can take them: the lease ends by itself.
      this.#context.loopFailed("coordinator", error);
    }
  }

  /** The lease counts from before it was requested. */
  async #keepLease(request: () => Promise<ShardChange>): Promise<void> {
    const { clock, emit, wakeups } = this.#context;
    const requestedAt = clock.monotonic();
    const { gained, lost } = await request();
    if (gained.length + lost.length > 0) wakeups.publish("shards.owned", { gained, lost });
    if (lost.length > 0) {
      wakeups.announce("shards.moved");
      emit({ type: "shards.lost", count: lost.length });
    }
    if (gained.length > 0) emit({ type: "shards.gained", count: gained.length });
    this.#leaseAt = requestedAt;
  }

  async #measureClock(): Promise<DurationMs> {
    const { clock } = this.#context.db;
    await clock.tick();
    this.#context.emit({ type: "clock.measured", skewMs: clock.skewMs, uncertaintyMs: clock.uncertaintyMs });
    return 10 * second;
  }
}

/** Membership in etcd if it is configured, otherwise in PostgreSQL. */
function createCoordinator({
  options,
  limits,
  store,
  db,
  clock,
  newId,
  timers,
  loops,
  emit,
}: EngineContext): Coordinator {
  const { node, alone, etcd } = options;
  const { leaseMs, skewToleranceMs } = limits;
  const { nodes, shards } = store;
  const skew = () => ({ skewMs: db.clock.skewMs, uncertaintyMs: db.clock.uncertaintyMs });
  const member = { clock, newId, node, leaseMs, skew, skewToleranceMs, onEvent: emit };
  if (etcd !== undefined) {
    const client = new EtcdClient({ endpoints: etcd.endpoints, fetch, timers, timeoutMs: leaseMs / 2 });
    return etcdCoordinator({ ...member, etcd: client, prefix: etcd.prefix, nodes, shards });
  }
  const lock = db.capabilities.advisoryLocks
    ? new SessionLock(db, nodeLockStatements(loadStatements(db.schema)))
    : null;
  return postgresCoordinator({ ...member, nodes, shards, lock, alone, wake: () => loops.wake("coordinator") });
}

async function ticked(part: { tick(): Promise<unknown>; readonly idleMs: DurationMs }): Promise<DurationMs> {
  await part.tick();
  return part.idleMs;
}

const upstreamIds = (schedule: ScheduleSpec): readonly string[] =>
  schedule.kind === "after" ? namesIn(schedule).ids : [];
