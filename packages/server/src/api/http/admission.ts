import type { IncomingHttpHeaders } from "node:http";
import { type QuotaClass, quotaClasses } from "@carillon/contract";
import { CarillonError, type DurationMs, formatDuration } from "@carillon/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { QuotaExceeded } from "./errors.js";
import { namespaceHeader, readNamespaceName } from "./request.js";

/** Calls in flight, and the bytes of their bodies together. */
export interface BudgetLimits {
  readonly calls: number;
  readonly bytes: number;
}

/**
 * `calls` is the general budget, `waits` is for calls that wait for an event, `workers` is for workers: their heartbeats and
 * results must get through however many other calls there are.
 */
export type BudgetName = "calls" | "waits" | "workers";

type AdmissionLimits = Readonly<Record<BudgetName, BudgetLimits>>;

/** Waiting calls cost little, and a worker's calls mostly wait. */
const waitsPerCall = 5;
const minWorkerBytes = 256 * 1_048_576;

export function admissionLimits({ calls, bytes }: BudgetLimits): AdmissionLimits {
  return {
    calls: { calls, bytes },
    waits: { calls: waitsPerCall * calls, bytes },
    workers: { calls: waitsPerCall * calls, bytes: Math.max(bytes, minWorkerBytes) },
  };
}

export const defaultAdmission: BudgetLimits = { calls: 2_000, bytes: 64 * 1_048_576 };

/** The calls in flight now, by budget. */
export type AdmissionLoad = Readonly<Record<BudgetName, BudgetLimits>>;

/** One call's share of a budget; released when its response was sent and its handler has ended, whichever is later. */
export interface Ticket {
  /** Marks the start of the handler; returns the function to call at its end. */
  begin(): () => void;
}

class Budget implements BudgetLimits {
  calls = 0;
  bytes = 0;
  readonly #limits: BudgetLimits;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  take(bytes: number): void {
    const { calls: maxCalls, bytes: maxBytes } = this.#limits;
    if (this.calls >= maxCalls) throw new CarillonError("overloaded", `This node has ${maxCalls} calls in flight.`);
    // A single call is always admitted: its body has a limit of its own.
    if (this.calls > 0 && this.bytes + bytes > maxBytes) {
      throw new CarillonError("overloaded", `This node has calls with ${maxBytes} bytes in flight.`);
    }
    this.calls++;
    this.bytes += bytes;
  }

  release(bytes: number): void {
    this.calls--;
    this.bytes -= bytes;
  }
}

/** Admits calls while their budget has room. Others are refused at once, before their body is read. */
export class Admission {
  readonly #budgets: Readonly<Record<BudgetName, Budget>>;

  constructor(limits: AdmissionLimits) {
    this.#budgets = {
      calls: new Budget(limits.calls),
      waits: new Budget(limits.waits),
      workers: new Budget(limits.workers),
    };
  }

  get load(): AdmissionLoad {
    return this.#budgets;
  }

  /** Throws overloaded. */
  enter(name: BudgetName, request: FastifyRequest, reply: FastifyReply): Ticket {
    const budget = this.#budgets[name];
    const bytes = bytesOf(request.headers, request.routeOptions.bodyLimit);
    budget.take(bytes);
    let holders = 1;
    const release = (): void => {
      if (--holders === 0) budget.release(bytes);
    };
    reply.raw.once("close", release);
    return {
      begin() {
        holders++;
        return release;
      },
    };
  }
}

/** A body without a length counts with the largest size it may have. */
function bytesOf(headers: IncomingHttpHeaders, bodyLimit: number): number {
  if (headers["transfer-encoding"] !== undefined) return bodyLimit;
  const length = Number(headers["content-length"] ?? 0);
  return Number.isFinite(length) && length > 0 ? Math.min(length, bodyLimit) : 0;
}

/** The parts of a request that show its origin. */
interface RequestOrigin {
  readonly headers: IncomingHttpHeaders;
  /** The port that received the request; undefined without a socket. */
  readonly localPort: number | undefined;
}

const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i;

/**
 * Refuses requests that a web page could have caused, on a server without authentication. A page whose own name was made to
 * resolve to 127.0.0.1 shows in Host; a page of another site shows in Origin, or in Sec-Fetch-Site when a browser sends no
 * Origin. Programs send neither of the last two.
 */
export function assertLoopbackCaller({ headers, localPort }: RequestOrigin): void {
  const host = headers.host ?? "";
  const found = loopbackHost.exec(host);
  if (found === null || (localPort !== undefined && Number(found[1] ?? 80) !== localPort)) {
    const expected = `localhost:${localPort ?? 8023}`;
    throw new CarillonError(
      "host_refused",
      `The Host header is ${JSON.stringify(host)}; without authentication this server accepts ${expected} only.`,
    );
  }
  const { origin } = headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw new CarillonError("origin_refused", `The page ${JSON.stringify(origin)} may not call this server.`);
  }
  if (isFromOtherSite(headers))
    throw new CarillonError("origin_refused", "A page of another site may not call this server.");
}

/** A link from another site to this server may be followed; a page of another site may not load from it. */
function isFromOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return (site === "cross-site" || site === "same-site") && headers["sec-fetch-mode"] !== "navigate";
}

/** Sent with every response: it is data for its caller, and must not be framed, sniffed, cached or loaded by other sites. */
export const securityHeaders = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const;

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
