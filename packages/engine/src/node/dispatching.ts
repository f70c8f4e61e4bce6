import type { DurationMs, Instant } from "@carillon/core";
import { Gateway } from "../dispatch/gateway.js";
import type { GatewayOptions } from "../dispatch/gateway-options.js";
import { RemoteWorkers } from "../dispatch/remote/remote-workers.js";
import { WorkerDoor } from "../dispatch/remote/namespace-guard.js";
import type { EngineStore } from "./engine-store.js";
import type { EngineLimits, EngineOptions } from "../options.js";

/** What the rest of the node does about what becomes of runs. */
export type DispatchingEvents = Pick<
  GatewayOptions,
  | "onBreakersChanged"
  | "onTasksChanged"
  | "onServing"
  | "handOvers"
  | "onRetry"
  | "onQueued"
  | "onFreed"
  | "onStopped"
  | "onFailed"
  | "onLimitedClaimed"
  | "onReleased"
  | "isToldOf"
  | "onEvent"
  | "onError"
>;

export interface DispatchingOptions extends DispatchingEvents {
  readonly engine: Pick<EngineOptions, "random" | "newId" | "clock" | "timers">;
  readonly limits: Pick<EngineLimits, "workerSilenceMs" | "fullLookMs" | "claimBatch">;
  readonly store: EngineStore;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** Hands out runs to workers, of this process and of others. */
export interface Dispatching {
  readonly gateway: Gateway;
  readonly remoteWorkers: RemoteWorkers;
  readonly workerDoor: WorkerDoor;
  /** Says which workers live; answers how long to wait for the next time. */
  sayWhoLives(): Promise<DurationMs>;
}

export function makeDispatching(options: DispatchingOptions): Dispatching {
  const { engine, limits, store, now } = options;
  const { clock, timers } = engine;
  const { workerSilenceMs: silenceMs } = limits;
  const gateway = makeGateway(options);
  const remoteWorkers = new RemoteWorkers({ ...store, gateway, clock, timers, now, silenceMs });
  return {
    gateway,
    remoteWorkers,
    workerDoor: new WorkerDoor({ ...store, workers: remoteWorkers, gateway }),
    async sayWhoLives() {
      remoteWorkers.tidy();
      await gateway.heartbeat();
      return silenceMs / 5;
    },
  };
}

function makeGateway({ engine, limits, store, now, ...events }: DispatchingOptions): Gateway {
  const { claims, sessions, lanes, namespaces, namespaceBook, breakers, records, callbacks, upstream } = store;
  const { queueBook, taskBook, limitOwners, durations, rank } = store;
  const { random, newId, clock, timers } = engine;
  return new Gateway({
    claims,
    sessions,
    lanes,
    namespaces,
    rank,
    queues: queueBook,
    tasks: taskBook,
    weightOf: (namespaceId) => namespaceBook.weightOf(namespaceId),
    limitOwners,
    breakers,
    onDuration(run, durationMs) {
      if (queueBook.orderOf(run.namespaceId, run.queue)?.kind === "sjf") durations.note(run, durationMs);
    },
    records,
    callbacks,
    upstream,
    random,
    newId,
    // A claim that arrives later than this finds its session dead, unless the rest of the node was in time all along.
    doubtMs: 2 * limits.workerSilenceMs,
    clock,
    timers,
    fullLookMs: limits.fullLookMs,
    batch: limits.claimBatch,
    now,
    ...events,
  });
}
