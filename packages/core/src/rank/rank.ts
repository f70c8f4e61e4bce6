import type { DurationMs, Instant } from "../time/instant.js";

/** 0 is the least urgent. */
export const priorities = { lowest: 0, usual: 4, highest: 9 } as const;

/**
 * priority: urgent runs first, and age counts; fifo: as they came due; edf: earliest deadline first; sjf: shortest expected
 * duration first, and age counts; strict: by priority alone, then as they came due; a stream of urgent runs can hold up
 * others for ever.
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
  /** For edf. Without one, or with one beyond the bound, the bound itself is the deadline. */
  readonly deadlineMs?: Instant;
  /** For sjf. One that is not known counts as short, until it is. */
  readonly expectedMs?: DurationMs;
}

const hour = 3_600_000;
const usualBoundMs = { priority: 1.5 * hour, fifo: 0, edf: 24 * hour, sjf: 1.5 * hour };

/** Under sjf, a run that is expected to take a second longer waits for those that become due ten seconds later. */
const sjfWeight = 10;

/** Under strict order, instants beyond this one (in the year 2527) count as it; ten times it is a safe integer. */
const strictSpan = 2 ** 44;

const usualOrder: QueueOrder = { kind: "priority" };

/** The order's B, which queues publish; null if there is none, because the order is strict. */
export function boundOf(order: QueueOrder = usualOrder): DurationMs | null {
  if (order.kind === "strict") return null;
  return order.kind === "fifo" ? 0 : Math.round(order.boundMs ?? usualBoundMs[order.kind]);
}

/**
 * Where a run stands in its queue: the lowest rank is claimed first, equal ones by id, which ascends with time. A rank is
 * computed once, when the run is queued, and never again: its due time, moved by at most the bound. It is a safe integer
 * of milliseconds, near the due time unless the order is strict.
 */
export function rankOf(run: RankedRun, order: QueueOrder = usualOrder): number {
  const dueMs = Math.round(run.dueMs);
  const boundMs = boundOf(order);
  if (boundMs === null) return strictRank(dueMs, run.priority);
  if (order.kind === "edf") return dueMs + within(boundMs, (run.deadlineMs ?? Number.POSITIVE_INFINITY) - dueMs);
  if (order.kind === "sjf") return dueMs + within(boundMs, (run.expectedMs ?? 0) * sjfWeight);
  return dueMs + boost(boundMs, priorities.usual) - boost(boundMs, run.priority);
}

/** Nothing for the lowest priority, the whole bound for the highest: no two runs differ by more. */
function boost(boundMs: DurationMs, priority: number): DurationMs {
  return Math.floor((boundMs * within(priorities.highest, priority)) / priorities.highest);
}

function strictRank(dueMs: Instant, priority: number): number {
  const above = priorities.highest - within(priorities.highest, priority);
  return above * strictSpan + within(strictSpan - 1, dueMs);
}

function within(most: number, value: number): number {
  return Math.round(Math.min(Math.max(value, 0), most));
}
