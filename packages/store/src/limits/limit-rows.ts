import {
  type DurationMs,
  type Instant,
  type KeyedLimit,
  type LimitKind,
  type LimitScope,
  type OrderFailure,
  defaultBurstOf,
} from "@carillon/core";

/** The limits of a queue or a namespace, as their rows store them. */
export interface OwnLimits {
  readonly concurrency?: { readonly limit: number };
  readonly rateLimit?: { readonly limit: number; readonly perMs: DurationMs; readonly burst?: number };
}

export interface NamedLimit {
  readonly namespaceId: number;
  readonly limit: KeyedLimit;
  readonly definedAt: Instant;
}

/** The row of a limit. */
export interface LimitRow extends NamedLimit {
  readonly id: number;
  readonly isFixed: boolean;
  readonly used: number;
  readonly starts: readonly number[];
  readonly stoppedBy: string | null;
  /** The runs that were active when it was set are counted; until then it admits no run. */
  readonly isCounted: boolean;
}

/** A run that waits behind a gate. */
export interface WaitingHead {
  readonly id: string;
  readonly namespaceId: number;
  readonly queue: string;
  readonly rank: number;
  readonly fence: number;
  readonly limits: string;
  readonly createdAt: Instant;
  readonly isPaused: boolean;
  readonly queueLimits: OwnLimits | null;
  readonly namespaceLimits: OwnLimits | null;
}

export interface HeadRow {
  id: string;
  namespace_id: number;
  queue: string;
  rank: number;
  fence: number;
  limits: string;
  created_at: Instant;
  is_paused: boolean;
  queue_limits: OwnLimits | null;
  namespace_limits: OwnLimits | null;
}

export interface KeyRow {
  id: number;
  namespace_id: number;
  scope: LimitScope;
  kind: LimitKind;
  name: string;
  max_count: number;
  per_ms: number | null;
  burst: number | null;
  on_failure: OrderFailure | null;
  is_fixed: boolean;
  defined_at: Instant;
  used: number;
  starts: number[];
  stopped_by: string | null;
  is_counted: boolean;
}

export function toHead(row: HeadRow): WaitingHead {
  const { id, queue, rank, fence, limits } = row;
  return {
    id,
    namespaceId: row.namespace_id,
    queue,
    rank,
    fence,
    limits,
    createdAt: row.created_at,
    isPaused: row.is_paused,
    queueLimits: row.queue_limits,
    namespaceLimits: row.namespace_limits,
  };
}

export function toLimit(row: KeyRow): LimitRow {
  const { id, scope, kind, name, max_count: limit, per_ms: perMs, burst, on_failure: onFailure, used, starts } = row;
  return {
    id,
    namespaceId: row.namespace_id,
    limit: { scope, kind, name, limit, perMs, burst, onFailure },
    isFixed: row.is_fixed,
    definedAt: row.defined_at,
    used,
    starts: starts.map(Number),
    stoppedBy: row.stopped_by,
    isCounted: row.is_counted,
  };
}

/** The limits of a queue or a namespace as keyed limits. */
export function ownLimitsOf({ concurrency, rateLimit }: OwnLimits, scope: LimitScope, name: string): KeyedLimit[] {
  const found: KeyedLimit[] = [];
  if (concurrency !== undefined) {
    const none = { perMs: null, burst: null, onFailure: null };
    found.push({ scope, kind: "concurrency", name, limit: concurrency.limit, ...none });
  }
  if (rateLimit !== undefined) {
    const { limit, perMs, burst = defaultBurstOf(limit) } = rateLimit;
    found.push({ scope, kind: "rate", name, limit, perMs, burst, onFailure: null });
  }
  return found;
}
