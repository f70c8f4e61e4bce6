import { CarillonError, type DurationMs, type Instant } from "@carillon/core";
import { PostgresCoordinator } from "./coordinator/postgres/postgres-coordinator.js";
import type { ShardChange } from "./coordinator/port.js";
import { Gateway } from "./dispatch/gateway.js";
import { Waiters } from "./dispatch/waiters.js";
import type { EngineEvent, OnEngineEvent } from "./events.js";
import { JobCreator } from "./jobs/create-job.js";
import { JobReader } from "./jobs/job-reader.js";
import { RunReader } from "./jobs/run-reader.js";
import { Loop } from "./loop/loop.js";
import type { EngineApi } from "./model/api.js";
import { Rescuer } from "./rescue/rescuer.js";
import { HistoryKeeper } from "./retention/history-keeper.js";
import { defaultMisfire } from "./scheduler/misfire.js";
import { Scheduler } from "./scheduler/scheduler.js";
import { Coalescer } from "./store/db/coalescer.js";
import type { Database } from "./store/db/database.js";
import type { HostClock, Random, Timers } from "./store/db/ports.js";
import type { NewJob } from "./store/entities/jobs.js";
import type { DueRun, NewRun, Queued, StoredRun } from "./store/entities/runs.js";
import { createStore, type Store } from "./store/store.js";

export interface EngineOptions {
  readonly database: Database;
  readonly clock: HostClock;
  readonly timers: Timers;
  readonly random: Random;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  /** No other node can be alive; see PostgresCoordinator. */
  readonly alone: boolean;
  readonly onEvent?: OnEngineEvent;
  readonly limits?: Partial<EngineLimits>;
}

export interface EngineLimits {
  readonly leaseMs: DurationMs;
  readonly workerSilenceMs: DurationMs;
  readonly fullLookMs: DurationMs;
  readonly mostLosses: number;
  readonly insertBatch: number;
  readonly insertQueue: number;
}

const defaultLimits: EngineLimits = {
  leaseMs: 5_000,
  workerSilenceMs: 15_000,
  fullLookMs: 1_000,
  mostLosses: 3,
  insertBatch: 1_000,
  insertQueue: 50_000,
};

const shardCount = 1_024;
const hourMs = 3_600_000;
const hintChannel = "carillon_hint";

/** One node's engine: what it answers to callers, what it hands to workers, and the loops that keep it going. */
export interface Engine {
  readonly api: EngineApi;
  readonly gateway: Gateway;
  readonly nodeId: string;
  start(): Promise<void>;
  /** Ends the loops and hands the shards over. Workers are stopped before. */
  stop(): Promise<void>;
}

export function createEngine(options: EngineOptions): Engine {
  return new NodeEngine(options);
}

class NodeEngine implements Engine {
  readonly api: EngineApi;
  readonly gateway: Gateway;
  readonly #options: EngineOptions;
  readonly #limits: EngineLimits;
  readonly #store: Store;
  readonly #coordinator: PostgresCoordinator;
  readonly #scheduler: Scheduler;
  readonly #rescuer: Rescuer;
  readonly #keeper: HistoryKeeper;
  readonly #waiters: Waiters;
  readonly #schedulerLoop: Loop;
  readonly #loops: readonly Loop[];
  #listening: { stop(): Promise<void> } | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#store = createStore(options.database);
    this.#waiters = new Waiters({ timers: options.timers, fullLookMs: this.#limits.fullLookMs });
    this.#coordinator = this.#makeCoordinator();
    this.#scheduler = this.#makeScheduler();
    this.#rescuer = this.#makeRescuer();
    this.#keeper = new HistoryKeeper(this.#store.historyDays, () => this.#now());
    this.gateway = this.#makeGateway();
    this.api = this.#makeApi();
    this.#schedulerLoop = this.#loop("scheduler", async () => {
      await this.#scheduler.tick();
      return this.#scheduler.idleMs;
    });
    this.#loops = [
      this.#schedulerLoop,
      this.#loop("coordinator", () => this.#coordinate()),
      this.#loop("rescuer", () => this.#rescue()),
      this.#loop("history", () => this.#keeper.tick().then(() => hourMs)),
      this.#loop("clock", () => options.database.clock.tick().then(() => 10_000)),
      this.#loop("workers", () => this.gateway.heartbeat().then(() => this.#limits.workerSilenceMs / 5)),
    ];
  }

  get nodeId(): string {
    return this.#coordinator.membership.nodeId;
  }

  async start(): Promise<void> {
    await this.#keeper.tick();
    this.#applyChange(await this.#coordinator.join());
    await this.#rescuer.tick();
    this.#listening = this.#options.database.listen(
      hintChannel,
      (payload) => this.#takeHint(payload),
      () => this.#lookEverywhere(),
    );
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await this.#listening?.stop();
    await this.#coordinator.leave();
  }

  #now(): Instant {
    return this.#options.database.clock.now();
  }

  #emit(event: EngineEvent): void {
    this.#options.onEvent?.(event);
  }

  #loop(name: string, tick: () => Promise<DurationMs>): Loop {
    const onError = (error: unknown): void => this.#emit({ type: "loop.failed", loop: name, error });
    return new Loop({ tick, timers: this.#options.timers, onError });
  }

  async #coordinate(): Promise<DurationMs> {
    this.#applyChange(await this.#coordinator.tick());
    return this.#limits.leaseMs / 5;
  }

  async #rescue(): Promise<DurationMs> {
    const rescued = await this.#rescuer.tick();
    return rescued > 0 ? 0 : this.#limits.workerSilenceMs / 5;
  }

  #applyChange(change: ShardChange): void {
    if (change.lost.length > 0) {
      this.#scheduler.forgetShards(change.lost);
      this.#emit({ type: "shards.lost", count: change.lost.length });
    }
    if (change.gained.length === 0) return;
    this.#scheduler.hintShards(change.gained.map((shard) => shard.id));
    this.#schedulerLoop.wake();
    this.#emit({ type: "shards.gained", count: change.gained.length });
  }

  /** Runs became claimable here: workers of this node look now, other nodes are told. */
  #announceQueued(queued: readonly Queued[]): void {
    if (queued.length === 0) return;
    const lanes = new Set(queued.map((run) => run.lane));
    this.#waiters.hint(lanes);
    this.#options.database.notify(hintChannel, `lanes ${[...lanes].join(",")}`);
  }

  #announceDue(shards: readonly number[]): void {
    this.#schedulerLoop.wake();
    const elsewhere = shards.filter((shard) => !this.#coordinator.membership.epochs.has(shard));
    if (elsewhere.length > 0) this.#options.database.notify(hintChannel, `shards ${[...new Set(elsewhere)].join(",")}`);
  }

  #takeHint(payload: string): void {
    const [kind, list = ""] = payload.split(" ", 2);
    const ids = list.split(",").map(Number);
    if (kind === "lanes") this.#waiters.hint(new Set(ids));
    if (kind !== "shards") return;
    this.#scheduler.hintShards(ids.filter((id) => this.#coordinator.membership.epochs.has(id)));
    this.#schedulerLoop.wake();
  }

  /** Hints may have been missed while the connection was away. */
  #lookEverywhere(): void {
    this.#waiters.hint(null);
    this.#scheduler.hintShards([...this.#coordinator.membership.epochs.keys()]);
    this.#schedulerLoop.wake();
  }

  #hintRuns(runs: readonly DueRun[]): void {
    for (const run of runs) this.#scheduler.hintRun(run);
    this.#announceDue(runs.map((run) => run.shard));
  }

  #makeCoordinator(): PostgresCoordinator {
    const { clock, newId, node, alone, database } = this.#options;
    const { nodes, shards } = this.#store;
    const { leaseMs } = this.#limits;
    return new PostgresCoordinator({ nodes, shards, clock, newId, node, leaseMs, alone, skewMs: () => database.clock.skewMs });
  }

  #makeScheduler(): Scheduler {
    return new Scheduler({
      due: this.#store.due,
      runs: this.#store.runs,
      now: () => this.#now(),
      membership: () => this.#coordinator.membership,
      onQueued: (queued) => this.#announceQueued(queued),
      onEvent: (event) => this.#emit(event),
    });
  }

  #makeRescuer(): Rescuer {
    return new Rescuer({
      sessions: this.#store.sessions,
      runs: this.#store.runs,
      clock: this.#options.clock,
      silenceMs: this.#limits.workerSilenceMs,
      mostLosses: this.#limits.mostLosses,
      batch: 1_000,
      onQueued: (queued) => this.#announceQueued(queued),
      onEvent: (event) => this.#emit(event),
    });
  }

  #makeGateway(): Gateway {
    const { claims, sessions, lanes, namespaces } = this.#store;
    return new Gateway({
      claims,
      sessions,
      lanes,
      namespaces,
      waiters: this.#waiters,
      now: () => this.#now(),
      random: this.#options.random,
      newId: this.#options.newId,
      onRetry: (runs) => this.#hintRuns(runs.map(({ id, shard, runAt }) => ({ id, shard, runAt }))),
      onQueued: (queued) => this.#announceQueued(queued),
      onEvent: (event) => this.#emit(event),
    });
  }

  #makeCreator(): JobCreator {
    const { insertBatch, insertQueue } = this.#limits;
    const { jobs, runs, lanes } = this.#store;
    const bounds = { maxBatch: insertBatch, maxQueued: insertQueue };
    return new JobCreator({
      lanes,
      insertJob: new Coalescer<NewJob, Instant | null>({
        ...bounds,
        write: async (batch) => {
          const stored = await jobs.insert(batch);
          return batch.map((job) => stored.get(job.id) ?? null);
        },
      }),
      insertRun: new Coalescer<NewRun, StoredRun>({ ...bounds, write: (batch) => insertAll(runs.insert, batch) }),
      newId: this.#options.newId,
      now: () => this.#now(),
      shards: shardCount,
      catchupWindowMs: defaultMisfire.catchupWindowMs,
      onDueJob: (job) => {
        this.#scheduler.hintJob(job);
        this.#announceDue([job.shard]);
      },
      onDueRun: (run) => this.#hintRuns([run]),
      onQueued: (queued) => this.#announceQueued(queued),
    });
  }

  #makeApi(): EngineApi {
    const creator = this.#makeCreator();
    const runs = new RunReader(this.#store.reads);
    const jobs = new JobReader(this.#store.jobs, runs);
    const inNamespace = async <Result>(name: string, work: (id: number) => Promise<Result>): Promise<Result> => {
      const id = await this.#store.namespaces.find(name);
      if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
      return work(id);
    };
    return {
      createJob: (namespace, spec) =>
        inNamespace(namespace, async (id) => {
          const jobId = await creator.create(id, spec);
          const job = await jobs.find(id, { id: jobId });
          if (job === null) throw new Error(`job ${jobId} was stored and cannot be found`);
          return job;
        }),
      getJob: (namespace, ref) => inNamespace(namespace, (id) => jobs.find(id, ref)),
      listJobs: (namespace, filter, page) => inNamespace(namespace, (id) => jobs.list(id, filter, page)),
      getRun: (namespace, runId) => inNamespace(namespace, (id) => runs.find(id, runId)),
      listRuns: (namespace, filter, page) => inNamespace(namespace, (id) => runs.list(id, filter, page)),
    };
  }
}

/** One answer for each run, in order. */
async function insertAll(insert: (runs: readonly NewRun[]) => Promise<StoredRun[]>, batch: readonly NewRun[]): Promise<StoredRun[]> {
  const stored = new Map((await insert(batch)).map((run) => [run.id, run]));
  return batch.map((run) => {
    const one = stored.get(run.id);
    if (one === undefined) throw new Error(`the run id ${run.id} exists already`);
    return one;
  });
}
