import type { DurationMs, Instant } from "../time/instant.js";

/** 0 is the least urgent. */
export const priorities = { lowest: 0, usual: 4, highest: 9 } as const;

/**
 * priority: urgent runs first, with aging; fifo: by due time; edf: earliest deadline first; sjf: shortest expected duration
 * first, with aging; strict: by priority alone, then by due time, so that a stream of urgent runs can starve the others.
 */
export const orderKinds = ["priority", "fifo", "edf", "sjf", "strict"] as const;

export type OrderKind = (typeof orderKinds)[number];

export interface QueueOrder {
  readonly kind: OrderKind;
  /** B: a run waits only for runs that became due at most this much later than itself. For priority, edf and sjf. */
  readonly boundMs?: DurationMs;
}

export interface RankedRun {
  readonly dueMs: Instant;
  readonly priority: number;
  /** For edf. Without a deadline, or with one beyond the bound, the bound itself is the deadline. */
  readonly deadlineMs?: Instant;
  /** For sjf. An unknown duration counts as short. */
  readonly expectedMs?: DurationMs;
}

const hour = 3_600_000;
const defaultBoundMs = { priority: 1.5 * hour, fifo: 0, edf: 24 * hour, sjf: 1.5 * hour };

/** Under sjf, each second of expected duration delays a run as ten seconds of due time do. */
const sjfWeight = 10;

/** Under strict order, later instants (after the year 2527) count as this one; ten times it is a safe integer. */
const strictSpan = 2 ** 44;

const defaultOrder: QueueOrder = { kind: "priority" };

/** The bound B of an order, which queues publish; null for the strict order, which has none. */
export function boundOf(order: QueueOrder = defaultOrder): DurationMs | null {
  if (order.kind === "strict") return null;
  return order.kind === "fifo" ? 0 : Math.round(order.boundMs ?? defaultBoundMs[order.kind]);
}

/**
 * The position of a run in its queue: the lowest rank is claimed first, equal ones by id, which ascends with time. A rank is
 * computed once, when the run is queued: the due time, moved by at most the bound. It is a safe integer of milliseconds, near
 * the due time unless the order is strict.
 */
export function rankOf(run: RankedRun, order: QueueOrder = defaultOrder): number {
  const dueMs = Math.round(run.dueMs);
  const boundMs = boundOf(order);
  if (boundMs === null) return strictRank(dueMs, run.priority);
  if (order.kind === "edf") return dueMs + within(boundMs, (run.deadlineMs ?? Number.POSITIVE_INFINITY) - dueMs);
  if (order.kind === "sjf") return dueMs + within(boundMs, (run.expectedMs ?? 0) * sjfWeight);
  return dueMs + boost(boundMs, priorities.usual) - boost(boundMs, run.priority);
}

/** 0 for the lowest priority, the whole bound for the highest: no two runs differ by more. */
function boost(boundMs: DurationMs, priority: number): DurationMs {
  return Math.floor((boundMs * within(priorities.highest, priority)) / priorities.highest);
}

function strictRank(dueMs: Instant, priority: number): number {
  const above = priorities.highest - within(priorities.highest, priority);
  return above * strictSpan + within(strictSpan - 1, dueMs);
}

function within(max: number, value: number): number {
  return Math.round(Math.min(Math.max(value, 0), max));
}
