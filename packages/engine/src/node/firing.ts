import type { DurationMs } from "@carillon/core";
import type { ShardChange } from "../cluster/coordinator.js";
import type { PauseExpiry } from "../jobs/change/pause-expiry.js";
import type { NamedCalendars } from "../schedules/named-calendars.js";
import { LaterMover } from "../scheduler/far-future-promoter.js";
import { Scheduler, type SchedulerOptions } from "../scheduler/scheduler.js";
import { OverlapAdmitter } from "../jobs/transaction/overlap-admitter.js";
import type { Ground } from "./ground.js";
import type { Ticks } from "../loops/loops.js";

export interface FiringParts {
  readonly calendars: NamedCalendars;
  readonly followCalendars: NonNullable<SchedulerOptions["follow"]>;
  readonly pauseExpiry: () => PauseExpiry;
}

/** What becomes due in the shards of this node: jobs, runs near and far from their time, runs that wait for others of their job. */
export interface Firing {
  readonly scheduler: Scheduler;
  readonly admitter: OverlapAdmitter;
  readonly ticks: Pick<Ticks, "scheduler" | "later" | "admitter">;
  /** Shards came or went. */
  readonly follow: (change: ShardChange) => void;
}

export function makeFiring(ground: Ground, parts: FiringParts): Firing {
  const scheduler = makeScheduler(ground, parts);
  const later = makeLaterMover(ground);
  const admitter = makeAdmitter(ground);
  return {
    scheduler,
    admitter,
    ticks: { scheduler: () => ticked(scheduler), later: () => ticked(later), admitter: () => ticked(admitter) },
    follow({ gained, lost }) {
      const { hints, loops, emit } = ground;
      if (lost.length > 0) {
        scheduler.forgetShards(lost);
        later.forgetShards(lost);
        hints.sharesMoved();
        emit({ type: "shards.lost", count: lost.length });
      }
      if (gained.length === 0) return;
      const ids = gained.map((shard) => shard.id);
      scheduler.hintShards(ids);
      later.hintShards(ids);
      for (const name of ["scheduler", "later", "backfills", "operations"] as const) loops.wake(name);
      emit({ type: "shards.gained", count: gained.length });
    },
  };
}

async function ticked(part: { tick(): Promise<unknown>; readonly idleMs: DurationMs }): Promise<DurationMs> {
  await part.tick();
  return part.idleMs;
}

function makeScheduler({ store, hints, now, membership, emit }: Ground, parts: FiringParts): Scheduler {
  return new Scheduler({
    store: store.fires,
    calendars: parts.calendars,
    follow: parts.followCalendars,
    now,
    membership,
    rank: store.rank,
    resumeExpired: (fence, jobs) => parts.pauseExpiry().resume(fence, jobs),
    onQueued: (queued) => hints.queued(queued),
    onPromoted: (runs) => hints.promoted(runs),
    onStopped: () => hints.stopped(),
    onEvent: emit,
  });
}

function makeLaterMover({ store, hints, limits, now, membership, emit }: Ground): LaterMover {
  return new LaterMover({
    later: store.later,
    now,
    membership,
    onQueued: (queued) => hints.queued(queued),
    onDueRuns: (runs) => hints.dueRuns(runs),
    onEvent: emit,
    limits: limits.later,
  });
}

function makeAdmitter({ options, store, hints, ownShards }: Ground): OverlapAdmitter {
  const { settler, settle } = store;
  return new OverlapAdmitter({
    db: options.database,
    settle,
    settler,
    clock: options.clock,
    shards: ownShards,
    onQueued: (queued) => hints.queued(queued),
  });
}
