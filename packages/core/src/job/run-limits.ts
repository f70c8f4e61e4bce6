import { CarillonError } from "../errors/carillon-error.js";
import { Template } from "../template/template.js";
import type { DurationMs } from "../time/instant.js";

/** At most so many runs at a time: of the key, or without one of the job (of the task, for a run that stands alone). */
export interface ConcurrencyLimit {
  /** A text template over the payload. */
  readonly key?: string;
  readonly limit: number;
}

/** At most so many starts in any window of this length. */
export interface RateLimit {
  readonly key?: string;
  readonly limit: number;
  readonly perMs: DurationMs;
  /** So many may be admitted and wait for a worker; absent: as many as the limit, a hundred at most. */
  readonly burst?: number;
}

export const orderFailures = ["block", "skip", "stop"] as const;

/**
 * What the failure of a run does to those behind it. block: they wait until somebody has disposed of it. skip: the next one starts.
 * stop: those that wait are cancelled.
 */
export type OrderFailure = (typeof orderFailures)[number];

/** Runs of one key go one after the other, in the order of their times. */
export interface RunOrdering {
  readonly key: string;
  readonly onFailure?: OrderFailure;
}

/** What a job or a run may carry of limits; all of them must admit a run. */
export interface RunLimits {
  readonly concurrency?: ConcurrencyLimit;
  readonly rateLimit?: RateLimit;
  readonly ordering?: RunOrdering;
}

export const limitScopes = ["key", "task", "job", "queue", "namespace"] as const;

/** What a limit is of. */
export type LimitScope = (typeof limitScopes)[number];

export const limitKinds = ["concurrency", "rate", "order"] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A limit with its key filled in. */
export interface KeyedLimit {
  readonly scope: LimitScope;
  readonly kind: LimitKind;
  readonly name: string;
  readonly limit: number;
  readonly perMs: DurationMs | null;
  readonly burst: number | null;
  readonly onFailure: OrderFailure | null;
}

/** Whose run it is, for limits without a key. */
export interface LimitSubject {
  readonly task: string;
  /** null: the run stands alone. */
  readonly jobId: string | null;
  readonly payload: unknown;
}

const longestKey = 200;
const usualBurst = 100;
export const mostLimit = 1_000_000;
export const longestRateMs: DurationMs = 31 * 86_400_000;
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

export function isLimited({ concurrency, rateLimit, ordering }: RunLimits): boolean {
  return concurrency !== undefined || rateLimit !== undefined || ordering !== undefined;
}

export function usualBurstOf(limit: number): number {
  return Math.max(1, Math.min(limit, usualBurst));
}

/** The limits of a run, with their keys filled in. Throws what is wrong with a key. */
export function keyedLimits({ concurrency, rateLimit, ordering }: RunLimits, subject: LimitSubject): KeyedLimit[] {
  const found: KeyedLimit[] = [];
  if (ordering !== undefined) {
    const name = keyOf(ordering.key, subject);
    const onFailure = ordering.onFailure ?? "block";
    found.push({ scope: "key", kind: "order", name, limit: 1, perMs: null, burst: null, onFailure });
  }
  if (concurrency !== undefined) {
    const { key, limit } = concurrency;
    const none = { perMs: null, burst: null, onFailure: null };
    found.push({ ...placeOf(key, subject), kind: "concurrency", limit, ...none });
  }
  if (rateLimit !== undefined) {
    const { key, limit, perMs, burst = usualBurstOf(limit) } = rateLimit;
    found.push({ ...placeOf(key, subject), kind: "rate", limit, perMs, burst, onFailure: null });
  }
  return found;
}

/** Refuses numbers that mean nothing. Requests say where; this is for whoever else writes a policy. */
export function checkLimits({ concurrency, rateLimit, ordering }: RunLimits): void {
  if (concurrency !== undefined) checkCount(concurrency.limit, "concurrency.limit");
  if (rateLimit !== undefined) {
    const { limit, perMs, burst } = rateLimit;
    checkCount(limit, "rate_limit.limit");
    if (!Number.isInteger(perMs) || perMs < 1 || perMs > longestRateMs)
      throw invalid("rate_limit.per must be from 1ms to 31d");
    if (burst !== undefined) checkCount(burst, "rate_limit.burst");
  }
  const failure = ordering?.onFailure;
  if (failure !== undefined && !orderFailures.includes(failure))
    throw invalid(`ordering_key.on_failure must be one of ${orderFailures.join(", ")}`);
  for (const key of [concurrency?.key, rateLimit?.key, ordering?.key]) if (key !== undefined) templateOf(key);
}

function checkCount(count: number, what: string): void {
  if (!Number.isInteger(count) || count < 1 || count > mostLimit)
    throw invalid(`${what} must be a whole number from 1 to ${mostLimit}`);
}

function placeOf(key: string | undefined, subject: LimitSubject): { scope: LimitScope; name: string } {
  if (key !== undefined) return { scope: "key", name: keyOf(key, subject) };
  return subject.jobId === null ? { scope: "task", name: subject.task } : { scope: "job", name: subject.jobId };
}

function keyOf(source: string, { payload }: LimitSubject): string {
  const key = templateOf(source).render({ payload });
  if (key === "" || control.test(key))
    throw new CarillonError("template_value_invalid", "a limit's key must have characters, and no control characters");
  return key;
}

const compiled = new Map<string, Template>();
const mostCompiled = 10_000;

function templateOf(source: string): Template {
  let template = compiled.get(source);
  if (template !== undefined) return template;
  template = new Template(source, { maxLength: longestKey, maxRendered: longestKey });
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(source, template);
  return template;
}

function invalid(detail: string): CarillonError {
  return new CarillonError("limit_invalid", detail);
}
