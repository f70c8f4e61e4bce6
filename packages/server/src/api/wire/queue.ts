import type { Queue, QueueStats } from "@carillon/contract";
import { boundOf, formatDuration } from "@carillon/core";
import type { QueuePause, QueueStats as StatsView, QueueView } from "@carillon/engine";
import { wireOwnLimits } from "./limits.js";
import { desiredWorkers } from "../../metrics/desired-workers.js";
import { timestamp } from "../timestamp.js";

export function wireQueue(queue: QueueView, stats?: StatsView): Queue {
  const { name, order, pause, limits, version, createdAt, updatedAt } = queue;
  const boundMs = boundOf(order);
  return {
    name,
    order: order.kind,
    bound: boundMs === null ? null : formatDuration(boundMs),
    ...wireOwnLimits(limits),
    paused: pause !== null,
    pause: pause === null ? null : wirePause(pause),
    version,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
    ...(stats !== undefined && { stats: wireQueueStats(stats) }),
  };
}

export function wireQueueStats(stats: StatsView): QueueStats {
  const { queued, running, oldestDueAt, waitMs, workers, slots, isExact } = stats;
  const oldest = oldestDueAt === null ? null : timestamp(oldestDueAt);
  return { queued, running, oldest_due_at: oldest, wait_ms: waitMs, workers, slots, exact: isExact, ...scaling(stats) };
}

function scaling(stats: StatsView): Pick<QueueStats, "lag_ms" | "desired_workers"> {
  return { lag_ms: stats.waitMs, desired_workers: desiredWorkers(stats) };
}

function wirePause({ reason, actor, at, until = null }: QueuePause): Queue["pause"] {
  return { reason, actor, at: timestamp(at), until: until === null ? null : timestamp(until) };
}
