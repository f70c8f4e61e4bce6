import { type JobDefinition, type Limit, type Queue, readLimitPatch } from "@carillon/contract";
import { type RateLimit, type RunLimits, formatDuration, formatId } from "@carillon/core";
import type { LimitFilter, ListedLimit, QueueLimits } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { timestamp } from "./timestamp.js";

export function limitHandlers({ engine }: ApiOptions) {
  return handlers({
    async listLimits({ query, namespace }) {
      const { scope, kind, key } = query;
      const filter: LimitFilter = {
        ...(scope !== undefined && { scope }),
        ...(kind !== undefined && { kind }),
        ...(key !== undefined && { key }),
      };
      const list = ["limits", namespace, filter];
      const page = await engine.limits.list(namespace, filter, pageRequest(query, list, readNumber));
      return { status: 200, body: { limits: page.rows.map(toLimitJson), next_page_token: nextPageToken(page, list) } };
    },
    async getLimit({ params, namespace }) {
      const limit = await engine.limits.get(namespace, idOf(params.id));
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: toLimitJson(limit) };
    },
    async updateLimit({ params, namespace, body }) {
      const change = readLimitPatch(body);
      const limit = await engine.limits.change(namespace, idOf(params.id), change);
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: toLimitJson(limit) };
    },
    async resumeLimit({ params, namespace }) {
      const limit = await engine.limits.resume(namespace, idOf(params.id));
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: toLimitJson(limit) };
    },
  });
}

const unknown = (id: string): Error => notFound(`There is no limit ${JSON.stringify(id)}.`);

function idOf(text: string): number {
  const digits = /^lim_([1-9][0-9]{0,14})$/.exec(text)?.[1];
  if (digits === undefined) throw unknown(text);
  return Number(digits);
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
    oldest_waiting_at: view.oldestAt === null ? null : timestamp(view.oldestAt),
    next_room_at: view.nextRoomAt === null ? null : timestamp(view.nextRoomAt),
    stopped_by: stoppedBy === null ? null : formatId("run", stoppedBy),
  };
}
