import { CarillonError } from "../errors/carillon-error.js";
import { defaultRetryPolicy, type RetryPolicy, retryPolicy } from "../retry/policy.js";
import type { DurationMs, Instant } from "../time/instant.js";
import type { TraceContext } from "../trace/traceparent.js";
import type { RunLimits } from "./run-limits.js";
import type { Callback } from "./callback.js";
import type { Sla } from "./sla.js";

export const guarantees = ["at_least_once", "at_most_once"] as const;

/** How often the work of a run may be begun, whatever fails. */
export type Guarantee = (typeof guarantees)[number];

/** When a circuit breaker opens, and for how long. */
export interface BreakerPolicy {
  /** It opens when so many of the calls failed, from 0 to 1 … */
  readonly failureRatio: number;
  /** … within this time … */
  readonly windowMs: DurationMs;
  /** … if there were so many. */
  readonly minCalls: number;
  readonly openForMs: DurationMs;
}

/** What a job or a run carries beside its task and payload. Absent members mean the product's defaults. */
export interface RunPolicy extends RunLimits {
  readonly retry?: Partial<RetryPolicy>;
  readonly timeoutMs?: DurationMs;
  /** From its nominal time on; what has not ended by then has failed. */
  readonly deadlineMs?: DurationMs;
  readonly sla?: Sla;
  /** Absent: at least once. */
  readonly guarantee?: "at_most_once";
  /** What a worker must have: see requirementsOf. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Keeps its runs back while what they need is down; which one it is, is part of what they require. */
  readonly breaker?: BreakerPolicy;
  /** Whom to tell of its end. */
  readonly callbacks?: readonly Callback[];
  /** Paths of the payload by which its runs are found. */
  readonly searchable?: readonly string[];
  /** Where the trace of whoever asked for the run was left; never of a job that runs again and again. */
  readonly traceparent?: string;
  /** What vendors add to that; never without it. */
  readonly tracestate?: string;
}

/**
 * The retries in force. A run that is begun at most once has one attempt, whatever the defaults are. Plain SQL can store any policy: one
 * that is not sound means one attempt, so that its run can end.
 */
export function retryOf({ retry, guarantee }: RunPolicy): RetryPolicy {
  const given = retry ?? {};
  try {
    return retryPolicy(guarantee === "at_most_once" ? { ...given, maxAttempts: 1 } : given);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    return { ...defaultRetryPolicy, maxAttempts: 1 };
  }
}

/** How long an attempt may take; null: as long as it likes. Plain SQL can store any policy: what is no time counts as not said. */
export function timeoutOf({ timeoutMs }: RunPolicy): DurationMs | null {
  return Number.isSafeInteger(timeoutMs) && (timeoutMs ?? 0) > 0 ? (timeoutMs ?? null) : null;
}

/** The policy of a run that goes on in this trace, and in no other. */
export function withTrace(policy: RunPolicy, trace: TraceContext | null | undefined): RunPolicy {
  if (trace === null || trace === undefined) return policy;
  const { traceparent: _, tracestate: __, ...rest } = policy;
  const { traceparent, tracestate } = trace;
  return { ...rest, traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** Refuses members that contradict each other. `pointer` is where the attempts were asked for. */
export function checkRunPolicy({ retry, guarantee }: RunPolicy, pointer = "/retry/max_attempts"): void {
  if (guarantee !== "at_most_once" || (retry?.maxAttempts ?? 1) === 1) return;
  const detail = `a run that is begun at most once has one attempt, not ${retry?.maxAttempts}: leave max_attempts out, or take the guarantee at_least_once`;
  throw new CarillonError("retry_invalid", detail, { items: [{ pointer, code: "retry_invalid", detail }] });
}

/** When a run is to have ended, counted from its nominal time, or from when it was asked for outside the schedule. */
export function deadlineOf({ deadlineMs }: RunPolicy, from: Instant): Instant | null {
  return deadlineMs === undefined ? null : from + deadlineMs;
}
