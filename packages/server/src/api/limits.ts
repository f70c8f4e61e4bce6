import { type JobDefinition, type Limit, type Queue, readLimitPatch } from "@carillon/contract";
import { formatDuration, formatId, type RateLimit, type RunLimits } from "@carillon/core";
import type { LimitFilter, ListedLimit, QueueLimits } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, handlers, ok, timestampOrNull } from "./http/handler.js";
import { listOf } from "./http/paging.js";

const limitList = listOf("limits", toLimitJson, readNumber);

export function limitHandlers({ engine }: ApiOptions) {
  return handlers({
    listLimits({ query, namespace }) {
      const { scope, kind, key } = query;
      const filter: LimitFilter = {
        ...(scope !== undefined && { scope }),
        ...(kind !== undefined && { kind }),
        ...(key !== undefined && { key }),
      };
      return limitList(query, [namespace, filter], (page) => engine.limits.list(namespace, filter, page));
    },
    async getLimit({ params: { id }, namespace }) {
      return shown(id, await engine.limits.get(namespace, numberOf(id)));
    },
    async updateLimit({ params: { id }, namespace, body }) {
      const change = readLimitPatch(body);
      return shown(id, await engine.limits.change(namespace, numberOf(id), change));
    },
    async resumeLimit({ params: { id }, namespace }) {
      return shown(id, await engine.limits.resume(namespace, numberOf(id)));
    },
  });
}

const unknown = (id: string): string => `There is no limit ${JSON.stringify(id)}.`;

const shown = (id: string, limit: ListedLimit | null): ApiResponse => ok(toLimitJson(found(limit, unknown(id))));

function numberOf(id: string): number {
  return Number(found(/^lim_([1-9][0-9]{0,14})$/.exec(id), unknown(id))[1]);
}

function readNumber(text: string): string | null {
  return /^[0-9]{1,15}$/.test(text) ? text : null;
}

type WireLimits = Pick<JobDefinition, "concurrency" | "rate_limit" | "ordering_key" | "ordering_on_failure">;

export function toLimitsJson({ concurrency, rateLimit, ordering }: RunLimits): WireLimits {
  return {
    concurrency: concurrency === undefined ? null : { ...concurrency },
    rate_limit: rateLimit === undefined ? null : toRateJson(rateLimit),
    ordering_key: ordering?.key ?? null,
    ordering_on_failure: ordering === undefined ? null : (ordering.onFailure ?? "block"),
  };
}

/** The limits of a queue or a namespace. */
export function toOwnLimitsJson(limits: QueueLimits | null): Pick<Queue, "concurrency" | "rate_limit"> {
  return {
    concurrency: limits?.concurrency === undefined ? null : { ...limits.concurrency },
    rate_limit: limits?.rateLimit === undefined ? null : toRateJson(limits.rateLimit),
  };
}

function toRateJson({ perMs, ...rest }: RateLimit): NonNullable<WireLimits["rate_limit"]> {
  return { ...rest, per: formatDuration(perMs) };
}

function toLimitJson(view: ListedLimit): Limit {
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
    oldest_waiting_at: timestampOrNull(view.oldestAt),
    next_room_at: timestampOrNull(view.nextRoomAt),
    stopped_by: stoppedBy === null ? null : formatId("run", stoppedBy),
  };
}
