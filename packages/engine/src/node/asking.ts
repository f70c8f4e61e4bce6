import { defaultFiringPolicy, type DurationMs } from "@carillon/core";
import { HandOver } from "../enqueue/direct-insert.js";
import { KeyBook } from "../enqueue/idempotency/idempotency-keys.js";
import { type InsertKept, insertKept } from "../enqueue/idempotency/insert-with-receipt.js";
import { JobCreator } from "../jobs/create-job.js";
import type { Enqueueing } from "../enqueue/enqueue.js";
import type { Receipts } from "../enqueue/idempotency/receipts.js";
import { announceEnded } from "../runs/announce-ended.js";
import { defaultLaterLimits } from "../scheduler/far-future-promoter.js";
import { ScheduleCache } from "../schedules/schedule-cache.js";
import { announceSettled } from "../jobs/transaction/announce-settled.js";
import { loadStatements, type OnReplaced } from "@carillon/store";
import { type Backfilling, makeBackfilling } from "./backfilling.js";
import { type Calendaring, makeCalendaring } from "./calendaring.js";
import { withinNamespace } from "./engine-api.js";
import { makeEnqueueing } from "./enqueueing.js";
import type { Following } from "./following.js";
import { type Ground, shardCount } from "./ground.js";
import { type InsertBounds, type Inserts, makeInserts } from "../enqueue/coalesced-inserts.js";
import { type JobChanging, makeJobChanging } from "./job-changing.js";
import type { Ticks } from "../loops/loops.js";
import type { Notifying } from "./notifying.js";
import { makeOperating, type Operating } from "./operating.js";
import type { Running } from "./running.js";

/** What callers ask for: jobs and runs, changes of them, and work over many of them that goes on by itself. */
export interface Asking {
  readonly inserts: Inserts;
  readonly creator: JobCreator;
  readonly changing: JobChanging;
  readonly backfilling: Backfilling;
  readonly operating: Operating;
  readonly enqueueing: Enqueueing;
  readonly receipts: Receipts;
  readonly ticks: Pick<Ticks, "backfills" | "operations">;
}

export function makeAsking(
  ground: Ground,
  calendaring: Calendaring,
  { following, notifying }: Pick<Running, "following" | "notifying">,
): Asking {
  const { store, options, limits } = ground;
  const bounds = insertBounds(ground);
  const onReplaced: OnReplaced = (runs) => announceEnded(runs, "cancelled", ground.emit);
  const inserts = makeInserts(store, {
    ...bounds,
    onReplaced,
    onQueued: (queued, telling) => ground.hints.queued(queued, telling),
    noticeOf: (queued) => ground.hints.noticeOf(queued),
    handOver: handOverOf(ground),
  });
  const kept = insertKept(store, loadStatements(options.database.schema), { horizonMs: bounds.horizonMs, onReplaced });
  const adoptUpstreams: JobChanging["adoptUpstreams"] = (...given) => changing.adoptUpstreams(...given);
  const creator = creatorOf(ground, { inserts, kept, calendaring, adoptUpstreams });
  const changing = changingOf(ground, { creator, calendaring, following });
  const backfilling = backfillingOf(ground, changing, calendaring);
  const operating = operatingOf(ground, changing, notifying);
  const enqueueing = enqueueingOf(ground, inserts, kept, limits.insertBatch);
  const ticks = { backfills: () => backfilling.tick(), operations: () => operating.tick() };
  return { inserts, creator, changing, backfilling, operating, enqueueing, receipts: receiptsOf(ground), ticks };
}

function handOverOf({ store, offers, handOvers, hints }: Ground): HandOver {
  return new HandOver({
    store: store.handed,
    offers,
    noticeOf: (offer, number, runs) => handOvers.noticeOf(offer, number, runs),
    arrivalOf: (offer, runs) => handOvers.arrivalOf(offer, runs),
    hintOf: (queued) => hints.noticeOf(queued),
    ownGateway: () => handOvers.ownGateway,
  });
}

export function calendaringOf(ground: Ground): Calendaring {
  const { store, options, limits, hints, membership } = ground;
  return makeCalendaring({
    db: options.database,
    store,
    schedules: new ScheduleCache(limits.compiledSchedules, false),
    shards: shardCount,
    membership,
    onRecomputed: (shards, settled) => ground.tellSettled(shards, settled),
    onCalendarsChanged: () => hints.calendarsChanged(),
    onWindowsChanged: () => hints.windowsChanged(),
    onError: (error) => ground.failed("calendars", error),
  });
}

function insertBounds({ options, limits }: Ground): InsertBounds & { readonly horizonMs: DurationMs } {
  const { insertBatch: maxBatch, insertQueue: maxQueued, insertPatienceMs: ms, later } = limits;
  const patience = { ms, monotonic: () => options.clock.monotonic() };
  return { maxBatch, maxQueued, patience, horizonMs: later.horizonMs ?? defaultLaterLimits.horizonMs };
}

function receiptsOf({ store, options }: Ground): Receipts {
  const book = new KeyBook({ receipts: store.receipts, newId: options.newId });
  const within = withinNamespace(store.namespaces);
  return { beginCall: (namespace, call) => within(namespace, (id) => book.begin(id, call)) };
}

function enqueueingOf(ground: Ground, inserts: Inserts, kept: InsertKept, chunk: number): Enqueueing {
  const { store, options, hints, now } = ground;
  return makeEnqueueing({
    store,
    inserts,
    insertKept: kept,
    chunk,
    callText: loadStatements(options.database.schema).get("enqueue.call").text,
    newId: options.newId,
    now,
    shards: shardCount,
    onDueRuns: (runs) => hints.dueRuns(runs),
    onQueued: (queued) => hints.queued(queued),
  });
}

interface CreatorParts extends Pick<JobChanging, "adoptUpstreams"> {
  readonly inserts: Inserts;
  readonly kept: InsertKept;
  readonly calendaring: Calendaring;
}

function creatorOf({ store, options, limits, hints, now }: Ground, parts: CreatorParts): JobCreator {
  return new JobCreator({
    lanes: store.lanes,
    insertJob: parts.inserts.jobs,
    insertRun: parts.inserts.runs,
    insertKept: parts.kept,
    queues: store.queueBook,
    rank: store.rank,
    newId: options.newId,
    now,
    shards: shardCount,
    catchupWindowMs: defaultFiringPolicy.catchupWindowMs,
    schedules: new ScheduleCache(limits.compiledSchedules, false),
    calendars: parts.calendaring.calendars,
    adoptUpstreams: parts.adoptUpstreams,
    chunk: limits.insertBatch,
    onDueJobs: (jobs) => hints.dueJobs(jobs),
    onDueRuns: (runs) => hints.dueRuns(runs),
    onQueued: (queued) => hints.queued(queued),
  });
}

interface ChangingParts {
  readonly creator: JobCreator;
  readonly calendaring: Calendaring;
  readonly following: Following;
}

function changingOf(ground: Ground, { creator, calendaring, following }: ChangingParts): JobChanging {
  const { store, options, limits, hints, now, emit } = ground;
  return makeJobChanging({
    db: options.database,
    store,
    creator,
    follower: following.follower,
    rules: calendaring.rules,
    followCalendars: calendaring.follow,
    newId: options.newId,
    now,
    shards: shardCount,
    patienceMs: limits.changePatienceMs,
    onChanged: ({ shard, settled }) => ground.tellSettled([shard], settled),
    onExpired: (settled) => announceSettled(settled, emit),
    onStopped: () => hints.stopped(),
    onEnded: (ended) => announceEnded(ended, "cancelled", emit),
  });
}

function backfillingOf(ground: Ground, { transaction }: JobChanging, { compiler }: Calendaring): Backfilling {
  const { store, options, hints, now, membership, emit } = ground;
  return makeBackfilling({
    db: options.database,
    store,
    transaction,
    compiler,
    membership,
    newId: options.newId,
    now,
    onStarted: () => hints.backfillStarted(),
    onStepped: (shard, settled) => {
      announceEnded(settled.ended, "cancelled", emit);
      ground.tell([shard], settled);
    },
    onEvent: emit,
  });
}

function operatingOf(ground: Ground, changing: JobChanging, { teller }: Notifying): Operating {
  const { store, options, hints, membership, freed, emit } = ground;
  return makeOperating({
    db: options.database,
    store,
    transaction: changing.transaction,
    teller,
    membership,
    newId: options.newId,
    shards: shardCount,
    onQueued: (queued) => hints.queued(queued),
    onDueRuns: (runs) => hints.dueRuns(runs),
    onStopped: () => hints.stopped(),
    onFreed: freed,
    onStarted: () => hints.operationStarted(),
    onEvent: emit,
  });
}
