import { RunReader } from "../runs/run-reader.js";
import { RunWaiters } from "../runs/run-waiters.js";
import { Rescuer } from "../dispatch/sessions/rescuer.js";
import { announceEnded } from "../runs/announce-ended.js";
import { freedBy } from "@carillon/store";
import { type Dispatching, makeDispatching } from "./dispatching.js";
import { type Failing, makeFailing } from "./failing.js";
import { type Following, makeFollowing } from "./following.js";
import { type Ground, shardCount } from "./ground.js";
import { type Limiting, makeLimiting } from "./limiting.js";
import type { Ticks } from "../loops/loops.js";
import { makeNotifying, type Notifying } from "./notifying.js";
import { makeQueueing, type Queueing } from "./queueing.js";

/** What becomes of runs: they wait for their limits, go to workers, fail, are rescued, and others are told of their end. */
export interface Running {
  readonly failing: Failing;
  readonly limiting: Limiting;
  readonly following: Following;
  readonly notifying: Notifying;
  readonly rescuer: Rescuer;
  readonly waiters: RunWaiters;
  readonly dispatching: Dispatching;
  readonly queueing: Queueing;
  readonly ticks: Pick<
    Ticks,
    | "queues"
    | "limits"
    | "after"
    | "rescuer"
    | "callbacks"
    | "expirer"
    | "errors"
    | "webhooks"
    | "notifier"
    | "waiters"
    | "workers"
    | "gateway"
  >;
}

export function makeRunning(ground: Ground): Running {
  const failing = failingOf(ground);
  const limiting = limitingOf(ground, failing);
  const following = followingOf(ground);
  const notifying = notifyingOf(ground);
  const rescuer = rescuerOf(ground);
  const waiters = waitersOf(ground);
  const dispatching = dispatchingOf(ground, failing, notifying);
  const { gateway } = dispatching;
  const queueing = queueingOf(ground, dispatching);
  const parts = { failing, limiting, following, notifying, rescuer, waiters, dispatching, queueing };
  const { workerSilenceMs, fullLookMs } = ground.limits;
  return {
    ...parts,
    ticks: {
      queues: () => queueing.tick(),
      limits: () => limiting.tick(),
      after: () => following.tick(),
      rescuer: async () => ((await rescuer.tick()) > 0 ? 0 : workerSilenceMs / 5),
      callbacks: () => gateway.waiting.tick(),
      expirer: () => failing.expire(),
      errors: () => failing.count(),
      webhooks: () => notifying.look(),
      notifier: () => notifying.notify(),
      waiters: () => waiters.tick(),
      workers: () => dispatching.sayWhoLives(),
      gateway: () => gateway.look().then(() => fullLookMs),
    },
  };
}

function failingOf({ options, store, limits, now, freed, emit }: Ground): Failing {
  const { database: db, clock, newId } = options;
  return makeFailing({ db, store, clock, now, newId, batch: limits.rescueBatch, onFreed: freed, onEvent: emit });
}

function limitingOf(ground: Ground, { onFailed }: Failing): Limiting {
  const { options, store, hints, now, membership, freed, emit } = ground;
  return makeLimiting({
    store,
    clock: options.clock,
    now,
    membership,
    shards: shardCount,
    onAdmitted: (queued) => hints.admitted(queued),
    onChanged: () => ground.tellLimits((admitter) => admitter.lookSoon()),
    onFreed: freed,
    onFailed,
    onEvent: emit,
  });
}

function followingOf(ground: Ground): Following {
  const { options, store, ownShards } = ground;
  return makeFollowing({
    db: options.database,
    store,
    clock: options.clock,
    shards: ownShards,
    onSettled: (settled) => ground.tellSettled([], settled),
  });
}

function notifyingOf({ options, store, limits, hints, now }: Ground): Notifying {
  return makeNotifying({
    db: options.database,
    store,
    now,
    newId: options.newId,
    shards: shardCount,
    batch: limits.sweepBatch,
    periodMs: limits.fullLookMs,
    mostFailingMs: limits.webhookFailingMs,
    onQueued: (queued) => hints.queued(queued),
  });
}

function rescuerOf({ options, store, limits, hints, freed, emit }: Ground): Rescuer {
  const { workerSilenceMs: silenceMs, mostLosses, rescueBatch: batch } = limits;
  return new Rescuer({
    sessions: store.sessions,
    runs: store.runs,
    clock: options.clock,
    silenceMs,
    mostLosses,
    batch,
    onQueued: (queued) => hints.queued(queued),
    onFreed: freed,
    onEvent: emit,
  });
}

function waitersOf({ options, store, limits, loops }: Ground): RunWaiters {
  return new RunWaiters({
    runs: new RunReader(store.reads),
    timers: options.timers,
    wake: () => loops.wake("waiters"),
    most: limits.runWaiters,
  });
}

function dispatchingOf(ground: Ground, { onFailed }: Failing, { isToldOf }: Notifying): Dispatching {
  const { options, store, limits, hints, now, freed, emit } = ground;
  return makeDispatching({
    engine: options,
    limits,
    store,
    now,
    onBreakersChanged: () => hints.queuesChanged(),
    onTasksChanged: () => hints.queuesChanged(),
    onServing: () => hints.serve(),
    handOvers: {
      store: store.handed,
      send: ground.handOvers.send,
      rescue: (runIds) => rescueHanded(ground, runIds),
    },
    onRetry: (runs) => hints.dueRuns(runs),
    onQueued: (queued) => hints.queued(queued),
    onFreed: freed,
    onStopped: (runIds) => endStopped(ground, runIds),
    onFailed,
    onLimitedClaimed: (runIds) => ground.tellLimits((admitter) => admitter.started(runIds)),
    onReleased: (runIds) => ground.tellLimits((admitter) => admitter.released(runIds)),
    isToldOf,
    onEvent: emit,
    onError: (error) => ground.failed("gateway", error),
  });
}

async function endStopped({ store, emit, freed }: Ground, runIds: readonly string[]): Promise<void> {
  const ended = await store.runs.endStopped(runIds);
  announceEnded(ended, "cancelled", emit);
  freed(freedBy(ended));
}

/** Stored for a worker that went before it heard of them. */
async function rescueHanded(ground: Ground, runIds: readonly string[]): Promise<void> {
  const rescued = await ground.store.runs.rescue(runIds, ground.limits.mostLosses);
  await endStopped(
    ground,
    rescued.filter((run) => run.isStopped).map((run) => run.id),
  );
  ground.hints.queued(rescued.filter((run) => !run.isStopped));
}

function queueingOf(ground: Ground, { gateway }: Dispatching): Queueing {
  const { options, store, limits, hints, now } = ground;
  store.queueBook.onPauses(() => gateway.queuesChanged());
  // What a claim did not find because it went by another revision is looked for again.
  store.limitOwners.onChanged(() => {
    gateway.queuesChanged();
    gateway.hintAll();
    ground.tellLimits((admitter) => admitter.lookSoon());
  });
  return makeQueueing({
    store,
    breakers: gateway.breakers,
    clock: options.clock,
    now,
    periodMs: limits.fullLookMs,
    onChanged: () => hints.queuesChanged(),
  });
}
