import { defaultFiringPolicy, type DurationMs, type ScheduleSpec } from "@carillon/core";
import { freedBy, loadStatements, namesIn, nodeLockStatements, type OnReplaced } from "@carillon/store";
import { Backfills } from "./backfills/backfills.js";
import { breakerApi } from "./breakers/breaker-api.js";
import type { Breakers } from "./breakers/breakers.js";
import { calendarApi } from "./calendars/calendar-api.js";
import { NodeCalendars } from "./calendars/calendar-cache.js";
import { CalendarSweep } from "./calendars/calendar-sweep.js";
import { CalendarCompiler } from "./calendars/compile-edition.js";
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
import type { FailedRun } from "./events.js";
import { DeadLetters } from "./dead-letters/dead-letters.js";
import { Conditions } from "./dependencies/conditions.js";
import { AfterRunner } from "./dependencies/dependency-runner.js";
import { Follower } from "./dependencies/follower.js";
import { HandOverLine } from "./dispatch/direct/direct-channel.js";
import { Gateway } from "./dispatch/gateway.js";
import { WorkerDoor } from "./dispatch/remote/namespace-guard.js";
import { RemoteWorkers } from "./dispatch/remote/remote-workers.js";
import type { Callbacks } from "./dispatch/results/callbacks.js";
import { Rescuer } from "./dispatch/sessions/rescuer.js";
import type { Workers } from "./dispatch/sessions/workers.js";
import type { WorkerLoad } from "./dispatch/served-sessions.js";
import { workersApi } from "./dispatch/workers-api.js";
import { makeInserts } from "./enqueue/coalesced-inserts.js";
import { HandOver } from "./enqueue/direct-insert.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import { makeEnqueueing } from "./enqueue/enqueue-api.js";
import { KeyBook } from "./enqueue/idempotency/idempotency-keys.js";
import { insertKept } from "./enqueue/idempotency/insert-with-receipt.js";
import type { Receipts } from "./enqueue/idempotency/receipts.js";
import { Offers } from "./enqueue/slot-offers.js";
import { Explanations } from "./explain/explanations.js";
import { Forecasts } from "./forecast/forecasts.js";
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
import type { EngineApi } from "./jobs/engine-api.js";
import type { JobChanges } from "./jobs/job-changes.js";
import { JobReader } from "./jobs/job-reader.js";
import { jobsAndRunsApi } from "./jobs/jobs-and-runs-api.js";
import { tellChanges } from "./jobs/tell-changes.js";
import { announceSettled, wakeForSettled } from "./jobs/transaction/announce-settled.js";
import { OverlapAdmitter } from "./jobs/transaction/overlap-admitter.js";
import { type Settled, Settler } from "./jobs/transaction/settler.js";
import { Intake } from "./limits/intake.js";
import { LimitAdmitter } from "./limits/limit-admitter.js";
import { limitApi } from "./limits/limit-api.js";
import { LimitedLanes } from "./limits/limited-lanes.js";
import type { Limits } from "./limits/limits.js";
import { Operations } from "./operations/operations.js";
import {
  type BackfillCalls,
  backfillCalls,
  type DeadLetterCalls,
  deadLetterCalls,
  type ExplanationCalls,
  explanationCalls,
  type ForecastCalls,
  forecastCalls,
  type NamespaceCalls,
  namespaceCalls,
  type OperationCalls,
  operationCalls,
  type QueueCalls,
  queueCalls,
  type TaskCalls,
  taskCalls,
  type WebhookCalls,
  webhookCalls,
} from "./flat-api.js";
import { defaultFarFutureLimits, type EngineOptions } from "./options.js";
import { announceEnded } from "./runs/announce-ended.js";
import { Expirer } from "./runs/expirer.js";
import { DayKeeper } from "./runs/retention/day-keeper.js";
import { DedupeSweeper } from "./runs/retention/dedupe-sweeper.js";
import { JobSweeper } from "./runs/retention/job-sweeper.js";
import { RecordSweeper } from "./runs/retention/record-sweeper.js";
import { RunChanger } from "./runs/run-changer.js";
import type { RunChanges } from "./runs/run-changes.js";
import { runChangesApi } from "./runs/run-changes-api.js";
import { RunLister } from "./runs/run-lister.js";
import type { RunLogs } from "./runs/run-logs.js";
import { RunReader } from "./runs/run-reader.js";
import { RunWaiters } from "./runs/run-waiters.js";
import { FarFuturePromoter } from "./scheduler/far-future-promoter.js";
import { Scheduler } from "./scheduler/scheduler.js";
import { fireStore } from "./scheduler/settle-fires.js";
import { nodeRules } from "./schedules/node-rules.js";
import type { Calendars } from "./schedules/calendars.js";
import { ScheduleCache } from "./schedules/schedule-cache.js";
import { CallbackSecrets } from "./webhooks/callback-secrets.js";
import { Webhooks } from "./webhooks/webhooks.js";

/** All that callers ask of the engine. */
export type EngineApis = EngineApi &
  RunLogs &
  Receipts &
  RunChanges &
  OperationCalls &
  Enqueueing &
  JobChanges &
  Calendars &
  BackfillCalls &
  QueueCalls &
  NamespaceCalls &
  Breakers &
  Limits &
  DeadLetterCalls &
  WebhookCalls &
  TaskCalls &
  Callbacks &
  Workers &
  ExplanationCalls &
  ForecastCalls;

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
  readonly workerDoor: WorkerDoor;
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
const hour: DurationMs = 3_600_000;

export function createEngine(options: EngineOptions): Engine {
  return new NodeEngine(options);
}

/** The only composition of a node: constructs every component in the order of their dependencies. Holds no rule of its own. */
class NodeEngine implements Engine {
  readonly api: EngineApis;
  readonly gateway: Gateway;
  readonly remoteWorkers: RemoteWorkers;
  readonly workerDoor: WorkerDoor;
  readonly #context: EngineContext;
  readonly #coordinator: Coordinator;
  readonly #directLine: HandOverLine;
  readonly #waiters: RunWaiters;
  readonly #inserts: ReturnType<typeof makeInserts>;
  readonly #ticks: Readonly<Record<"queues" | "history" | "webhooks" | "rescuer" | "tasks", () => Promise<unknown>>>;
  #leaseAt: DurationMs | null = null;

  constructor(options: EngineOptions) {
    const context = new EngineContext(options);
    this.#context = context;
    const { db, store, clock, timers, random, newId, now, emit, membership, ownShards, loops, wakeups, limits } =
      context;
    const { shardCount: shards, namespaceId, inNamespace: within } = context;
    const statements = loadStatements(db.schema);
    const signals = {
      onQueued: (queued: Parameters<typeof wakeups.runsQueued>[0]) => wakeups.runsQueued(queued),
      onDueRuns: (runs: Parameters<typeof wakeups.runsDue>[0]) => wakeups.runsDue(runs),
      onStopped: () => wakeups.broadcast("stops"),
      onFreed: (jobIds: readonly string[]) => {
        if (jobIds.length > 0) wakeups.publish("overlap.freed", jobIds);
      },
      onFailed: (run: FailedRun) => wakeups.publish("run.failed", run),
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

    // Runs: reads, waiting callers, changes of single runs.
    const runs = new RunReader(store.reads);
    const lister = new RunLister(store.search, runs);
    const jobs = new JobReader(store.jobs, runs, lister);
    const waiters = new RunWaiters({ runs, timers, wake: () => loops.wake("waiters"), most: limits.runWaiters });
    this.#waiters = waiters;
    loops.register("waiters", () => waiters.tick());
    context.events.on("run.finished", ({ runId }) => waiters.finished(runId));
    const runChanger = new RunChanger({ ...signals, changes: store.runChanges, runs, rank });
    const expirer = new Expirer({ ...signals, runs: store.runs, clock, batch: limits.rescueBatch });
    loops.register("expirer", () => expirer.tick());

    // Limits.
    const limitedLanes = new LimitedLanes({ lanes: store.lanes, owners: limitOwners, membership, shards });
    const admitter = new LimitAdmitter({
      limits: store.limits,
      settle: store.settle,
      intake: new Intake({ limits: store.limits, lanes: store.lanes, settle: store.settle }),
      lanes: () => limitedLanes.own(),
      isHome: (gate) => limitedLanes.isHome(gate),
      clock,
      now,
      onAdmitted: (queued) => wakeups.runsAdmitted(queued),
      ...signals,
    });
    const wakeLimits = (change: () => void) => (): void => {
      change();
      loops.wake("limits");
    };
    wakeups.limitLanes({
      isLimited: (lanes) => limitedLanes.ways(lanes).size > 0,
      runsQueued: (lanes) => {
        const ways = limitedLanes.ways(lanes);
        if (ways.has("arrived")) admitter.arrived();
        if (ways.has("waits")) admitter.lookSoon();
        if (ways.size > 0) loops.wake("limits");
        return ways.size > 0;
      },
    });
    wakeups.on(
      "limits.changed",
      wakeLimits(() => admitter.lookSoon()),
    );
    wakeups.on("limits.claimed", (runIds) => wakeLimits(() => admitter.started(runIds))());
    wakeups.on("limits.released", (runIds) => wakeLimits(() => admitter.released(runIds))());
    const ofLimits = limitApi({
      limits: store.limits,
      namespaceId,
      now,
      onChanged: () => wakeups.publish("limits.changed", null),
    });
    loops.register("limits", async () => {
      await admitter.tick();
      return admitter.idleMs;
    });

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
    const offers = new Offers(() => clock.monotonic());
    const directLine = new HandOverLine({
      database: db,
      gateway: () => this.gateway,
      offers,
      onError: (error) => context.loopFailed("gateway", error),
    });
    this.#directLine = directLine;
    const inserts = makeInserts(store, {
      maxBatch: limits.insertBatch,
      maxQueued: limits.insertQueue,
      patience: { ms: limits.insertPatienceMs, monotonic: () => clock.monotonic() },
      horizonMs,
      onReplaced,
      onQueued: (queued, mode) => wakeups.runsQueued(queued, mode),
      noticeOf: (queued) => wakeups.noticeFor(queued),
      handOver: new HandOver({
        store: store.handed,
        offers,
        noticeOf: (offer, number, inserted) => directLine.noticeOf(offer, number, inserted),
        arrivalOf: (offer, inserted) => directLine.arrivalOf(offer, inserted),
        hintOf: (queued) => wakeups.noticeFor(queued),
        ownGateway: () => directLine.ownGateway,
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
      patienceMs: limits.changePatienceMs,
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
        patienceMs: limits.changePatienceMs,
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
    const webhooks = new Webhooks(context, { queues, rank, runs, lister });

    // Dispatch: hands runs to workers of this process and of others.
    this.gateway = new Gateway({
      ...signals,
      ...store,
      rank,
      queues,
      tasks: catalog.tasks,
      weightOf: (id) => catalog.namespaces.weightOf(id),
      limitOwners,
      onDuration(run, durationMs) {
        if (queues.orderOf(run.namespaceId, run.queue)?.kind === "sjf") catalog.durations.note(run, durationMs);
      },
      random,
      newId,
      // A claim that arrives later than this finds its session dead, unless the rest of the node was in time all along.
      doubtMs: 2 * limits.workerSilenceMs,
      clock,
      timers,
      now,
      fullLookMs: limits.fullLookMs,
      batch: limits.claimBatch,
      onBreakersChanged: () => wakeups.announce("queues"),
      onTasksChanged: () => wakeups.announce("queues"),
      onServing: () => wakeups.serveWorkers(),
      handOvers: {
        store: store.handed,
        send: directLine.send,
        rescue: (runIds) => this.#rescueDirect(runIds),
      },
      onRetry: signals.onDueRuns,
      onStopped: (runIds) => this.#endStopped(runIds),
      onLimitedClaimed: (runIds) => wakeups.publish("limits.claimed", runIds),
      onReleased: (runIds) => wakeups.publish("limits.released", runIds),
      isToldOf: (run) => webhooks.wantsSuccess(run),
      onError: (error) => context.loopFailed("gateway", error),
    });
    const { gateway } = this;
    wakeups.requestAs({ gatewayId: gateway.id, address: () => directLine.address });
    wakeups.on("lanes", ({ notices, requester }) => gateway.hint(notices, requester));
    wakeups.on("lanes.all", () => gateway.hintAll());
    wakeups.on("stops", () => {
      gateway.passOnStops().catch((error: unknown) => context.loopFailed("workers", error));
    });
    loops.register("gateway", async () => {
      await gateway.look();
      return limits.fullLookMs;
    });
    loops.register("callbacks", () => gateway.waiting.tick());
    const silenceMs = limits.workerSilenceMs;
    this.remoteWorkers = new RemoteWorkers({ ...store, gateway, clock, timers, now, silenceMs });
    this.workerDoor = new WorkerDoor({ ...store, workers: this.remoteWorkers, gateway });
    loops.register("workers", async () => {
      this.remoteWorkers.tidy();
      await gateway.heartbeat();
      return silenceMs / 5;
    });
    const rescuer = new Rescuer({
      ...signals,
      sessions: store.sessions,
      runs: store.runs,
      clock,
      silenceMs,
      mostLosses: limits.mostLosses,
      batch: limits.rescueBatch,
    });
    loops.register("rescuer", async () => ((await rescuer.tick()) > 0 ? 0 : silenceMs / 5));

    // Queues, namespaces and breakers, as callers change them.
    queues.onPausesChanged(() => gateway.queuesChanged());
    // What a claim did not find because it went by another revision is looked for again.
    limitOwners.onChanged(() => {
      gateway.queuesChanged();
      gateway.hintAll();
      wakeups.publish("limits.changed", null);
    });
    const tickQueues = async (): Promise<DurationMs> => {
      await catalog.resumeExpired();
      await catalog.refresh();
      await gateway.breakers.tick();
      await catalog.shareDurations(clock.monotonic());
      return limits.fullLookMs;
    };
    loops.register("queues", tickQueues);
    wakeups.on("queues", () => loops.wake("queues"));
    const ofBreakers = breakerApi({
      breakers: store.breakers,
      namespaceId,
      onReset: async () => {
        await gateway.breakers.look();
        wakeups.announce("queues");
      },
    });

    // Backfills, dead letters, bulk operations.
    const backfills = new Backfills(context, { settler, queues, compiler, transaction: change, jobs });
    const deadLetters = new DeadLetters(context, { runs, transaction: change, deliveryRuns: webhooks.deliveryRuns });
    const operations = new Operations(context, { lister, runs, changer: runChanger, repeater: deadLetters.repeater });

    // Retention.
    const isOurs = (): boolean => membership().epochs.has(0);
    const { historyDays, sweepBatch: batch } = limits;
    const history = new DayKeeper(store.historyDays, now, historyDays);
    const logs = new DayKeeper(store.logDays, now, limits.logDays);
    const keepDays = async (): Promise<DurationMs> => {
      await history.tick();
      await logs.tick();
      return hour;
    };
    const records = new RecordSweeper({ ...store, batch, isOurs, now, historyDays });
    const oldJobs = new JobSweeper({ sweeps: store.retention, batch, isOurs, now, historyDays });
    const dedupes = new DedupeSweeper({ dedupes: store.dedupes, membership, batch });
    loops.register("history", keepDays);
    loops.register("records", () => records.tick());
    loops.register("jobs", () => oldJobs.tick());
    loops.register("dedupe", () => dedupes.tick());
    loops.register("clock", () => this.#measureClock());
    this.#ticks = {
      queues: tickQueues,
      history: keepDays,
      webhooks: () => webhooks.refresh(),
      rescuer: () => rescuer.tick(),
      tasks: () => catalog.tasks.refresh(),
    };

    const api: EngineApis = {
      ...jobsAndRunsApi({ store, creator, jobs, runs, lister, waiters, within, timers, clock }),
      ...enqueue,
      beginCall: (namespace, call) => within(namespace, (id) => idempotencyKeys.begin(id, call)),
      ...workersApi(store, within, gateway),
      ...taskCalls(new Tasks(context, catalog.tasks), new ClusterStatus(context)),
      ...jobChanges,
      ...ofCalendars,
      ...backfillCalls(backfills),
      ...queueCalls(new Queues(context, catalog)),
      ...namespaceCalls(new Namespaces(context, catalog)),
      ...ofBreakers,
      ...ofLimits,
      ...operationCalls(operations),
      ...runChangesApi({ changer: runChanger, jobs, stats: store.runChanges, within }),
      ...deadLetterCalls(deadLetters),
      ...webhookCalls(webhooks, new CallbackSecrets(context)),
      ...explanationCalls(
        new Explanations(context, { runs, jobs, changes: jobChanges, limits: ofLimits, breakers: ofBreakers }),
      ),
      answerCallback: (tokenHash, answer) => gateway.waiting.answer(tokenHash, answer),
      ...forecastCalls(new Forecasts(context, { rules })),
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
      ...this.gateway.load,
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
    this.#directLine.start(await store.secrets.find("direct_dispatch"));
    loops.start();
  }

  async stop(): Promise<void> {
    const { options, loops, wakeups } = this.#context;
    this.remoteWorkers.stop();
    this.#waiters.stop();
    const stopped = loops.stop();
    if (options.enqueueOnly !== true) await this.#releaseShards();
    await stopped;
    if (options.enqueueOnly === true) return;
    this.gateway.stop();
    await Promise.all([wakeups.stop(), this.#directLine.stop()]);
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

  async #endStopped(runIds: readonly string[]): Promise<void> {
    const { store, emit, wakeups } = this.#context;
    const ended = await store.runs.endStopped(runIds);
    announceEnded(ended, "cancelled", emit);
    const freed = freedBy(ended);
    if (freed.length > 0) wakeups.publish("overlap.freed", freed);
  }

  /** Runs that were stored for a worker whose session ended before it was notified of them. */
  async #rescueDirect(runIds: readonly string[]): Promise<void> {
    const { store, limits, wakeups } = this.#context;
    const rescued = await store.runs.rescue(runIds, limits.mostLosses);
    await this.#endStopped(rescued.filter((run) => run.isStopped).map((run) => run.id));
    wakeups.runsQueued(rescued.filter((run) => !run.isStopped));
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
