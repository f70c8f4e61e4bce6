import { CarillonError } from "../errors/carillon-error.js";
import { canonicalUuid } from "../ids/uuid.js";
import { type RetryPolicy, defaultRetryPolicy, retryPolicy } from "../retry/retry-policy.js";
import type { DurationMs, Instant } from "../time/instant.js";
import type { TraceContext } from "../trace/traceparent.js";
import type { RunLimits } from "./run-limits.js";

export const guarantees = ["at_least_once", "at_most_once"] as const;

/** How often a run may start, also after failures. */
export type Guarantee = (typeof guarantees)[number];

/** When a circuit breaker opens, and for how long. */
export interface BreakerPolicy {
  /** The share of failed calls, from 0 to 1, at which the breaker opens. */
  readonly failureRatio: number;
  /** The time over which calls are counted. */
  readonly windowMs: DurationMs;
  /** The breaker stays closed below this number of calls. */
  readonly minCalls: number;
  readonly openForMs: DurationMs;
}

/** The execution policy of a job or a run. Absent members mean the defaults. */
export interface RunPolicy extends RunLimits {
  readonly retry?: Partial<RetryPolicy>;
  readonly timeoutMs?: DurationMs;
  /** Counted from the nominal time; a run that has not ended by then fails. */
  readonly deadlineMs?: DurationMs;
  readonly sla?: Sla;
  /** Absent: at least once. */
  readonly guarantee?: "at_most_once";
  /** The requirements on a worker: see requirementsOf. */
  readonly requires?: Readonly<Record<string, string>>;
  /** Holds runs back while a dependency fails. The name of the breaker is part of `requires`. */
  readonly breaker?: BreakerPolicy;
  /** Messages to send when the run ends. */
  readonly callbacks?: readonly Callback[];
  /** Paths of the payload by which runs can be searched. */
  readonly searchable?: readonly string[];
  /** The id of the run whose handler created this one. */
  readonly parent?: string;
  /** The trace context of the request for the run; never set on a recurring job. */
  readonly traceparent?: string;
  /** Vendor data of the trace; never without a traceparent. */
  readonly tracestate?: string;
}

/**
 * The effective retry policy. A run with the guarantee at_most_once has one attempt, regardless of the defaults. Plain SQL can
 * store any policy: an invalid one means one attempt, so that the run can end.
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

/** The timeout of an attempt; null: none. Plain SQL can store any policy: an invalid timeout counts as absent. */
export function timeoutOf({ timeoutMs }: RunPolicy): DurationMs | null {
  return Number.isSafeInteger(timeoutMs) && (timeoutMs ?? 0) > 0 ? (timeoutMs ?? null) : null;
}

/** The id of the run whose handler created a run with this policy; null: none did. Plain SQL can store any policy. */
export function parentOf({ parent }: RunPolicy): string | null {
  return typeof parent === "string" ? canonicalUuid(parent) : null;
}

/** The policy with this trace context in place of any other. */
export function withTrace(policy: RunPolicy, trace: TraceContext | null | undefined): RunPolicy {
  if (trace === null || trace === undefined) return policy;
  const { traceparent: _, tracestate: __, ...rest } = policy;
  const { traceparent, tracestate } = trace;
  return { ...rest, traceparent, ...(tracestate !== undefined && { tracestate }) };
}

/** Throws for contradictory members. `pointer` is the place of max_attempts in the request. */
export function checkRunPolicy({ retry, guarantee }: RunPolicy, pointer = "/retry/max_attempts"): void {
  if (guarantee !== "at_most_once" || (retry?.maxAttempts ?? 1) === 1) return;
  const detail = `A run with the guarantee at_most_once has one attempt, not ${retry?.maxAttempts}; omit max_attempts, or use the guarantee at_least_once.`;
  throw new CarillonError("retry_invalid", detail, { items: [{ pointer, code: "retry_invalid", detail }] });
}

/** The deadline of a run, counted from its nominal time, or from the request for a run outside the schedule. */
export function deadlineOf({ deadlineMs }: RunPolicy, from: Instant): Instant | null {
  return deadlineMs === undefined ? null : from + deadlineMs;
}

/** The outcomes of a run that can trigger a callback. */
export const callbackMoments = ["succeeded", "failed", "cancelled"] as const;

export type CallbackMoment = (typeof callbackMoments)[number];

/** The optional parts of a callback message. */
export const callbackParts = ["payload", "output", "error"] as const;

export type CallbackPart = (typeof callbackParts)[number];

/** Sends a message when a run ends: to a URL, or to a task that runs with the message as its payload. */
export interface Callback {
  readonly on: readonly CallbackMoment[];
  readonly url?: string;
  readonly task?: string;
  readonly include: readonly CallbackPart[];
}

/** Runs that deliver callbacks send no callbacks themselves. */
export const isCallbackTrigger = (trigger: string): boolean => trigger.startsWith("callback");

/** The queue and the task of outbound messages. Names with this prefix are reserved. */
export const systemPrefix = "carillon:";
export const webhookQueue = "carillon:webhooks";
export const webhookTask = "carillon:webhook";

/** Service level of a run, counted from its nominal time. A breach is reported as an event and does not change the run. */
export interface Sla {
  /** Until a worker claims the run. */
  readonly startWithinMs?: DurationMs;
  /** Until the run has succeeded or failed. */
  readonly finishWithinMs?: DurationMs;
}

export interface SlaTerms {
  readonly startBy: Instant | null;
  readonly finishBy: Instant | null;
}

/** The run of an SLA. `trigger` is the one of the run, or its kind. */
interface SlaSubject {
  readonly sla: Sla | null | undefined;
  readonly trigger: string;
  readonly nominal: Instant;
}

/** Triggers of runs for past times, which are always late. */
const pastTriggers: ReadonlySet<string> = new Set(["retry", "replay", "backfill"]);

/** By when a run must start and end; null: no SLA applies. Plain SQL can store any policy: an invalid time counts as absent. */
export function slaTermsOf({ sla, trigger, nominal }: SlaSubject): SlaTerms | null {
  if (typeof sla !== "object" || sla === null || pastTriggers.has(trigger.split(":", 1)[0] ?? "")) return null;
  const termOf = (ms: DurationMs | undefined): Instant | null =>
    Number.isSafeInteger(ms) ? nominal + (ms ?? 0) : null;
  return { startBy: termOf(sla.startWithinMs), finishBy: termOf(sla.finishWithinMs) };
}

/** How long `at` is after the term; null: in time, or without a term. */
export function latenessOf(term: Instant | null | undefined, at: Instant): DurationMs | null {
  return term === null || term === undefined || at <= term ? null : at - term;
}
