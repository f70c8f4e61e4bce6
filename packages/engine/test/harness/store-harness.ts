import { randomBytes } from "node:crypto";
import { type Instant, type ScheduleSpec, firingPolicy, makeUuidV7, occurrenceRunId } from "@carillon/core";
import {
  type ClaimedRun,
  type Demand,
  type DueJob,
  type Fence,
  type FireRow,
  type NewJob,
  type NewRun,
  type Terms,
  isStrict,
} from "@carillon/store";
import { freshDatabase } from "@carillon/testkit";
import { shardOf } from "../../src/cluster/shards.js";
import { type Database, openDatabase } from "../../src/index.js";
import { type EngineStore, createEngineStore } from "./engine-store.js";

export const newId = makeUuidV7({ now: Date.now, randomBytes });

export const hostPorts = {
  clock: { now: Date.now, monotonic: () => performance.now() },
  timers: {
    setTimeout: (callback: () => void, delayMs: number): unknown => setTimeout(callback, delayMs),
    clearTimeout: (timer: unknown): void => clearTimeout(timer as NodeJS.Timeout),
  },
  random: Math.random,
};

/** The gateway of the sessions that tests open. */
export const gatewayId = newId();

export interface StoreHarness {
  readonly url: string;
  readonly db: Database;
  readonly store: EngineStore;
  /** Takes every shard for a node; returns the fence over all of them. */
  takeAll(node: string): Promise<Fence>;
  /** Stores a job; returns it as the scheduler's window holds it. */
  job(over?: Partial<NewJob>): Promise<DueJob>;
  /** Stores a queued run; returns its id. */
  run(over?: Partial<NewRun>): Promise<string>;
  session(): Promise<string>;
  /** Claims for a session from every lane of the first namespace. */
  claim(session: string, limit: number): Promise<readonly ClaimedRun[]>;
  close(): Promise<void>;
}

const minutely: ScheduleSpec = { kind: "cron", cron: "* * * * *", timeZone: "UTC" };

export async function storeHarness(): Promise<StoreHarness> {
  const database = await freshDatabase({ migrated: true });
  const db = await openDatabase({ url: database.url, schema: "carillon", ...hostPorts });
  const store = createEngineStore(db);
  await store.historyDays.ensure(Date.now() - 86_400_000, 3);
  const [lane = 0] = await store.lanes.ensure([{ queue: "default", task: "echo" }]);
  return {
    url: database.url,
    db,
    store,
    async takeAll(node) {
      const shards = await store.shards.take(node, await store.shards.list());
      return { node, shards };
    },
    async job(over = {}) {
      const job = newJob(lane, over);
      await store.jobs.insert([job]);
      return toDueJob(job);
    },
    async run(over = {}) {
      const run = newRun(lane, over);
      await store.runs.insert([run]);
      return run.id;
    },
    async session() {
      const id = newId();
      const what = { name: "test", queues: ["default"], tasks: ["echo"], slots: 10 };
      await store.sessions.open({ id, namespaceId: 1, nodeId: null, gatewayId, ...what });
      return id;
    },
    async claim(session, limit) {
      return (await store.claims.completeAndClaim({ succeeded: [], demand: await demandFor(store, session, limit) }))
        .claimed;
    },
    async close() {
      await db.close();
      await database.drop();
    },
  };
}

/** The demand of a session with so many free slots, in every lane. */
async function demandFor(store: EngineStore, session: string, slots: number): Promise<Demand> {
  const lanes = (await store.lanes.list()).filter(({ kind }) => !isStrict(kind));
  const reads = lanes.map(({ id, kind }) => ({
    lane: id,
    namespaceId: 1,
    fromRank: Number.MIN_SAFE_INTEGER,
    limit: slots,
    isSolo: kind !== "plain",
  }));
  return { gatewayId, sessions: [session], slots: Array.from({ length: slots }, () => 0), freeSlots: slots, reads };
}

export function newJob(lane: number, over: Partial<NewJob>): NewJob {
  const id = newId();
  const due = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
  return {
    id,
    namespaceId: 1,
    shard: shardOf(id, 1_024),
    lane,
    key: null,
    task: "echo",
    queue: "default",
    priority: 4,
    payload: { n: 1 },
    schedule: minutely,
    policy: {},
    labels: {},
    owner: null,
    class: 1,
    state: "active",
    nextNominal: due,
    nextFireAt: due,
    maxRuns: null,
    firing: {},
    overlap: "skip",
    catchUpTo: null,
    ...over,
  };
}

export function newRun(lane: number, over: Partial<NewRun>): NewRun {
  const id = newId();
  const now = Date.now() - 1_000;
  return {
    id,
    jobId: id,
    namespaceId: 1,
    shard: shardOf(id, 1_024),
    lane,
    priority: 4,
    rank: now,
    runAt: now,
    nominal: now,
    trigger: "once",
    task: "echo",
    queue: "default",
    payload: { n: 1 },
    policy: {},
    labels: {},
    owner: null,
    ...over,
  };
}

export function toDueJob(job: NewJob): DueJob {
  if (job.nextNominal === null || job.nextFireAt === null) throw new Error("the job is not due");
  const { id: jobId, shard, namespaceId, priority, schedule, queue, labels } = job;
  return {
    jobId,
    shard,
    class: job.class,
    state: "active",
    version: 1,
    nominal: job.nextNominal,
    fireAt: job.nextFireAt,
    settledTo: job.nextNominal - 1,
    catchUpTo: null,
    runsMade: 0,
    definition: { namespaceId, schedule, firing: firingPolicy(job.firing), priority, task: job.task, queue, labels },
  };
}

/** Under the maintenance windows of a new database: none, revision 0. */
export function termsOf(fence: Fence): Terms {
  return { fence, windows: 0 };
}

export function fireRow(job: DueJob, next: Instant | null = job.nominal + 60_000): FireRow {
  const runId = occurrenceRunId(job.jobId, job.nominal, "schedule");
  const to = next === null ? null : { nominal: next, fireAt: next };
  return { job, runId, rank: job.fireAt, next: to, catchUpTo: null, notes: [] };
}

/** Resolves when `count` statements of this database wait for a lock. It reads on its own connection, since statistics do not change within a transaction. */
export async function untilLockWaits(harness: Pick<StoreHarness, "db">, count = 1): Promise<void> {
  const waiting = {
    text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  };
  for (;;) if ((await harness.db.query(waiting)).rowCount >= count) return;
}
