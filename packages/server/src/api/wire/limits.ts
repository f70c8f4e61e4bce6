import type { JobDefinition, Limit, Queue } from "@carillon/contract";
import { formatDuration, formatId, type RateLimit, type RunLimits } from "@carillon/core";
import type { ListedLimit, QueueLimits } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

type WireLimits = Pick<JobDefinition, "concurrency" | "rate_limit" | "ordering_key" | "ordering_on_failure">;

export function wireLimits({ concurrency, rateLimit, ordering }: RunLimits): WireLimits {
  return {
    concurrency: concurrency === undefined ? null : { ...concurrency },
    rate_limit: rateLimit === undefined ? null : wireRate(rateLimit),
    ordering_key: ordering?.key ?? null,
    ordering_on_failure: ordering === undefined ? null : (ordering.onFailure ?? "block"),
  };
}

/** Of a queue or a namespace. */
export function wireOwnLimits(limits: QueueLimits | null): Pick<Queue, "concurrency" | "rate_limit"> {
  return {
    concurrency: limits?.concurrency === undefined ? null : { ...limits.concurrency },
    rate_limit: limits?.rateLimit === undefined ? null : wireRate(limits.rateLimit),
  };
}

function wireRate({ perMs, ...rest }: RateLimit): NonNullable<WireLimits["rate_limit"]> {
  return { ...rest, per: formatDuration(perMs) };
}

export function wireLimit(view: ListedLimit): Limit {
  const { id, scope, kind, key, limit, perMs, burst, onFailure, isFixed, used, waiting, isExact, stoppedBy } = view;
  return {
    id: `lim_${id}`,
    scope,
    kind,
    key: scope === "job" ? formatId("job", key) : key,
    limit,
    per: perMs === null ? null : formatDuration(perMs),
    burst,
    on_failure: onFailure,
    fixed: isFixed,
    used,
    waiting,
    waiting_exact: isExact,
    oldest_waiting_at: view.oldestAt === null ? null : timestamp(view.oldestAt),
    next_room_at: view.nextRoomAt === null ? null : timestamp(view.nextRoomAt),
    stopped_by: stoppedBy === null ? null : formatId("run", stoppedBy),
  };
}
