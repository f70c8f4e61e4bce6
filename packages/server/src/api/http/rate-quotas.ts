import type { IncomingHttpHeaders } from "node:http";
import { type QuotaClass, quotaClasses } from "@carillon/contract";
import { type DurationMs, formatDuration } from "@carillon/core";
import { QuotaExceeded } from "./errors.js";
import { namespaceHeader, readNamespaceName } from "./request.js";

/** Requests per time. A caller that was idle for the whole window may send all of them at once; they refill evenly. */
export interface RateQuota {
  readonly requests: number;
  readonly windowMs: DurationMs;
}

/** The quota of each caller at this node, by class; left out or null: unlimited. */
export type QuotaLimits = Readonly<Partial<Record<QuotaClass, RateQuota | null>>>;

/** Names the caller of a request for its quota; the name is repeated in refusals. */
export type CallerOf = (request: { readonly headers: IncomingHttpHeaders }) => string;

/** Without authentication the namespace is the caller. An invalid name, which is refused later, counts as the default one. */
export function callerByNamespace(defaultName: string): CallerOf {
  return ({ headers }) => {
    const given = headers[namespaceHeader];
    const name = typeof given === "string" ? readNamespaceName(given) : null;
    return `namespace ${name ?? defaultName}`;
  };
}

interface QuotasOptions {
  readonly limits: QuotaLimits;
  readonly monotonic: () => DurationMs;
  readonly onRefused: (quota: QuotaClass) => void;
}

interface ResponseHeaders {
  header(name: string, value: string): unknown;
}

interface QuotaOfClass {
  readonly calls: CallerQuota;
  readonly policy: string;
  readonly description: string;
}

/** The quotas of a node, kept in its memory: a request never waits for another process to be counted. */
export class Quotas {
  readonly #classes = new Map<QuotaClass, QuotaOfClass>();
  readonly #onRefused: QuotasOptions["onRefused"];

  constructor({ limits, monotonic, onRefused }: QuotasOptions) {
    this.#onRefused = onRefused;
    for (const name of quotaClasses) {
      const quota = limits[name] ?? null;
      if (quota === null) continue;
      const { requests, windowMs } = quota;
      this.#classes.set(name, {
        calls: new CallerQuota(quota, { monotonic }),
        policy: `"${name}";q=${requests};w=${toWholeSeconds(windowMs)}`,
        description: `${requests} ${requests === 1 ? "request" : "requests"} in ${formatDuration(windowMs)}`,
      });
    }
  }

  /** Counts a call, and sets the response headers that report the rest. Throws QuotaExceeded. */
  count(name: QuotaClass, callerOf: () => string, response: ResponseHeaders): void {
    const quota = this.#classes.get(name);
    if (quota === undefined) return;
    const caller = callerOf();
    const { isWithin, remaining, nextInMs } = quota.calls.take(caller);
    const seconds = Math.max(1, toWholeSeconds(nextInMs));
    response.header("RateLimit-Policy", quota.policy);
    response.header("RateLimit", `"${name}";r=${remaining};t=${seconds}`);
    if (isWithin) return;
    this.#onRefused(name);
    const detail = `The quota "${name}" of ${caller} at this node is used up: ${quota.description}. Try again in ${seconds} s.`;
    throw new QuotaExceeded(detail, seconds);
  }
}

/** Rounded up, so that a caller never returns too early. */
function toWholeSeconds(ms: DurationMs): number {
  return Math.ceil(ms / 1_000);
}

/** The state of a caller's quota after a request, which was counted only if it was within the quota. */
interface QuotaState {
  readonly isWithin: boolean;
  /** Whole requests that could follow at once. */
  readonly remaining: number;
  /** The time until there is one more. */
  readonly nextInMs: DurationMs;
}

/** A caller's use at some time; it drains evenly from then on. */
interface Level {
  used: number;
  at: DurationMs;
}

/** Callers that are tracked at a time. Further callers share one level: memory stays bounded, and inventing names does not help. */
const defaultMaxCallers = 10_000;
/** A request adds one caller at most, so that checking two makes the map shrink. */
const checksPerRequest = 2;
const overflowCaller = "";
/** In requests: sums of fractions are not exact. */
const rounding = 1e-6;

interface CallerQuotaOptions {
  readonly monotonic: () => DurationMs;
  readonly maxCallers?: number;
}

/** The generic cell rate algorithm as a level that drains, for each caller. A drained level is the initial state, and is deleted. */
export class CallerQuota {
  readonly #quota: RateQuota;
  readonly #spacingMs: DurationMs;
  readonly #monotonic: () => DurationMs;
  readonly #maxCallers: number;
  readonly #levels = new Map<string, Level>();
  #cursor = this.#levels.entries();

  constructor(quota: RateQuota, options: CallerQuotaOptions) {
    this.#quota = quota;
    this.#spacingMs = quota.windowMs / quota.requests;
    this.#monotonic = options.monotonic;
    this.#maxCallers = options.maxCallers ?? defaultMaxCallers;
  }

  /** The number of callers that are tracked. */
  get callers(): number {
    return this.#levels.size;
  }

  take(caller: string): QuotaState {
    const now = this.#monotonic();
    this.#forgetSome(now);
    const level = this.#levelOf(caller, now);
    level.used = this.#usedAt(level, now);
    level.at = now;
    const isWithin = level.used + 1 <= this.#quota.requests + rounding;
    if (isWithin) level.used += 1;
    const rest = Math.max(0, this.#quota.requests - level.used);
    const remaining = Math.floor(rest + rounding);
    return { isWithin, remaining, nextInMs: roundToMicroseconds((remaining + 1 - rest) * this.#spacingMs) };
  }

  #levelOf(caller: string, now: DurationMs): Level {
    const known = this.#levels.get(caller);
    if (known !== undefined) return known;
    const name = this.#levels.size < this.#maxCallers ? caller : overflowCaller;
    const level = this.#levels.get(name) ?? { used: 0, at: now };
    this.#levels.set(name, level);
    return level;
  }

  #usedAt({ used, at }: Level, now: DurationMs): number {
    return Math.max(0, used - (now - at) / this.#spacingMs);
  }

  /** Cycles through the callers, a few per request. */
  #forgetSome(now: DurationMs): void {
    for (let checks = 0; checks < checksPerRequest; checks++) {
      const next = this.#cursor.next();
      if (next.done === true) {
        this.#cursor = this.#levels.entries();
        return;
      }
      const [caller, level] = next.value;
      if (this.#usedAt(level, now) === 0) this.#levels.delete(caller);
    }
  }
}

/** Smaller differences from a whole number are rounding errors, which would round up to a second more. */
function roundToMicroseconds(ms: DurationMs): DurationMs {
  return Math.round(ms * 1_000) / 1_000;
}
