import { CarillonError } from "../errors/carillon-error.js";
import { Template } from "../template/template.js";
import type { DurationMs } from "../time/instant.js";

/** A maximum of concurrent runs of the key; without a key, of the job (of the task, for a run without a job). */
export interface ConcurrencyLimit {
  /** A text template over the payload. */
  readonly key?: string;
  readonly limit: number;
}

/** A maximum of starts in any window of this length. */
export interface RateLimit {
  readonly key?: string;
  readonly limit: number;
  readonly perMs: DurationMs;
  /** How many admitted runs may wait for a worker; the default is the limit, at most 100. */
  readonly burst?: number;
}

export const orderFailures = ["block", "skip", "stop"] as const;

/**
 * How the failure of a run affects later runs of its key. block: they wait until the dead letter is retried or discarded.
 * skip: the next one starts. stop: waiting ones are cancelled.
 */
export type OrderFailure = (typeof orderFailures)[number];

/** Runs of one key start one after the other, in the order of their times. */
export interface RunOrdering {
  readonly key: string;
  readonly onFailure?: OrderFailure;
}

/** The limits of a job or a run; all of them must admit the run. */
export interface RunLimits {
  readonly concurrency?: ConcurrencyLimit;
  readonly rateLimit?: RateLimit;
  readonly ordering?: RunOrdering;
}

export const limitScopes = ["key", "task", "job", "queue", "namespace"] as const;

/** What a limit counts. */
export type LimitScope = (typeof limitScopes)[number];

export const limitKinds = ["concurrency", "rate", "order"] as const;
export type LimitKind = (typeof limitKinds)[number];

/** A limit with its key rendered. */
export interface KeyedLimit {
  readonly scope: LimitScope;
  readonly kind: LimitKind;
  readonly name: string;
  readonly limit: number;
  readonly perMs: DurationMs | null;
  readonly burst: number | null;
  readonly onFailure: OrderFailure | null;
}

/** The run to which limits apply. */
export interface LimitSubject {
  readonly task: string;
  /** null: the run has no job. */
  readonly jobId: string | null;
  readonly payload: unknown;
}

const maxKeyLength = 200;
const maxDefaultBurst = 100;
export const maxLimit = 1_000_000;
export const maxRatePeriodMs: DurationMs = 31 * 86_400_000;
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

export function isLimited({ concurrency, rateLimit, ordering }: RunLimits): boolean {
  return concurrency !== undefined || rateLimit !== undefined || ordering !== undefined;
}

export function defaultBurstOf(limit: number): number {
  return Math.max(1, Math.min(limit, maxDefaultBurst));
}

/** The limits of a run, with their keys rendered. Throws if a key is not valid. */
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
    const { key, limit, perMs, burst = defaultBurstOf(limit) } = rateLimit;
    found.push({ ...placeOf(key, subject), kind: "rate", limit, perMs, burst, onFailure: null });
  }
  return found;
}

/** Throws for invalid limits. Requests are checked earlier, with pointers; this guards policies that SDK code writes. */
export function checkLimits({ concurrency, rateLimit, ordering }: RunLimits): void {
  if (concurrency !== undefined) checkCount(concurrency.limit, "concurrency.limit");
  if (rateLimit !== undefined) {
    const { limit, perMs, burst } = rateLimit;
    checkCount(limit, "rate_limit.limit");
    if (!Number.isInteger(perMs) || perMs < 1 || perMs > maxRatePeriodMs)
      throw invalid("Field rate_limit.per must be from 1ms to 31d.");
    if (burst !== undefined) checkCount(burst, "rate_limit.burst");
  }
  const failure = ordering?.onFailure;
  if (failure !== undefined && !orderFailures.includes(failure))
    throw invalid(`Field ordering_key.on_failure must be one of ${orderFailures.join(", ")}.`);
  for (const key of [concurrency?.key, rateLimit?.key, ordering?.key]) if (key !== undefined) templateOf(key);
}

function checkCount(count: number, what: string): void {
  if (!Number.isInteger(count) || count < 1 || count > maxLimit)
    throw invalid(`Field ${what} must be a whole number from 1 to ${maxLimit}.`);
}

function placeOf(key: string | undefined, subject: LimitSubject): { scope: LimitScope; name: string } {
  if (key !== undefined) return { scope: "key", name: keyOf(key, subject) };
  return subject.jobId === null ? { scope: "task", name: subject.task } : { scope: "job", name: subject.jobId };
}

function keyOf(source: string, { payload }: LimitSubject): string {
  const key = templateOf(source).render({ payload });
  if (key === "" || control.test(key))
    throw new CarillonError(
      "template_value_invalid",
      "The key of a limit must not be empty or contain control characters.",
    );
  return key;
}

const compiled = new Map<string, Template>();
const maxCompiled = 10_000;

function templateOf(source: string): Template {
  let template = compiled.get(source);
  if (template !== undefined) return template;
  template = new Template(source, { maxLength: maxKeyLength, maxRendered: maxKeyLength });
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(source, template);
  return template;
}

function invalid(detail: string): CarillonError {
  return new CarillonError("limit_invalid", detail);
}
