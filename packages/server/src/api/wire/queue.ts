import type { Queue, QueueStats } from "@carillon/contract";
import { boundOf, formatDuration } from "@carillon/core";
import type { QueueStats as StatsView, QueueView } from "@carillon/engine";
import { wireRate } from "./limits.js";
import { timestamp } from "./scalars.js";

export function wireQueue({ name, order, pause, limits, version, createdAt, updatedAt }: QueueView): Queue {
  const boundMs = boundOf(order);
  return {
    name,
    order: order.kind,
    bound: boundMs === null ? null : formatDuration(boundMs),
    concurrency: limits?.concurrency ? { ...limits.concurrency } : null,
    rate_limit: limits?.rateLimit ? wireRate(limits.rateLimit) : null,
    paused: pause !== null,
    pause: pause === null ? null : { reason: pause.reason, actor: pause.actor, at: timestamp(pause.at) },
    version,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

export function wireQueueStats(stats: StatsView): QueueStats {
  const { queued, running, oldestDueAt, waitMs, workers, slots, isExact } = stats;
  const oldest = oldestDueAt === null ? null : timestamp(oldestDueAt);
  return { queued, running, oldest_due_at: oldest, wait_ms: waitMs, workers, slots, exact: isExact };
}
