import type { Operation } from "@carillon/contract";
import { ApiError, errorOf, ServerUnreachable } from "./errors.js";
import { GeneratedKeys } from "./generated-key.js";

export interface ClientOptions {
  /** The address of the server: http://127.0.0.1:8023 */
  readonly url: string;
  /** An API key, sent as a bearer token. */
  readonly token?: string;
  /** The namespace of all calls; the server's own by default. */
  readonly namespace?: string;
  /** Returns more headers for each request, such as the trace that it belongs to. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** For one request with its answer; 30 s by default. */
  readonly timeoutMs?: number;
  /**
   * Waits, and stops waiting when the signal aborts. With it, the client repeats a call when the server sends Retry-After: any call
   * over its quota (429), and when the server is unavailable (503) any call that cannot have its effect twice: one that reads, that has an
   * idempotency key, or that names the state it leaves (PUT, PATCH, DELETE). Such a write is also repeated if its answer breaks off.
   * Without it, never.
   */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long one call may wait for its quota in all; 30 s by default. A call that would have to wait longer fails at once. */
  readonly maxQuotaWaitMs?: number;
  /** Called before each wait. */
  readonly onWait?: (waitMs: number, reason: ApiError) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Receives the status of a successful answer: 201 for a new resource, 200 for one that existed. */
  readonly onStatus?: (status: number) => void;
}

export type HttpQuery = Readonly<Record<string, string | number | Readonly<Record<string, string>> | undefined>>;

interface HttpCall extends CallOptions {
  readonly method: Operation["method"];
  readonly path: string;
  readonly query?: HttpQuery;
  readonly body: unknown;
  /** A POST without one gets a key of its own, so that it can be repeated. */
  readonly idempotencyKey?: string;
  readonly ifVersion?: number;
  /** Statuses that are answers, not refusals, although they are not 2xx. */
  readonly alsoGood?: readonly number[];
}

export type Transport = <Answer>(call: HttpCall) => Promise<Answer>;

interface StreamCall {
  readonly path: string;
  readonly query?: HttpQuery;
  readonly signal?: AbortSignal;
  readonly lastId: string | undefined;
}

/** Opens an answer without an end. */
export type OpenStream = (call: StreamCall) => Promise<ReadableStream<Uint8Array>>;

const defaultTimeoutMs = 30_000;
const defaultMaxQuotaWaitMs = 30_000;
/** The longest time for which a server waits for a run. */
const maxServerWaitMs = 60_000;

export function createTransport(options: ClientOptions): Transport {
  const send = options.fetch ?? fetch;
  const base = baseOf(options);
  const once = async <Answer>(call: HttpCall): Promise<Answer> => {
    const timeout = AbortSignal.timeout(timeoutOf(call, options));
    const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]);
    try {
      const response = await send(`${base}${call.path}${queryText(call.query)}`, {
        ...requestOf(call, options),
        signal,
      });
      if (!response.ok && !call.alsoGood?.includes(response.status)) throw await errorOf(response);
      call.onStatus?.(response.status);
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    } catch (error) {
      if (error instanceof ApiError || call.signal?.aborted) throw error;
      if (timeout.aborted) throw new ServerUnreachable("timeout", `${base} did not answer in time.`, error);
      throw new ServerUnreachable("network", `${base} cannot be reached or broke off its answer.`, error);
    }
  };
  const keys = new GeneratedKeys();
  return async <Answer>(given: HttpCall): Promise<Answer> => {
    const { sleep, onWait, maxQuotaWaitMs = defaultMaxQuotaWaitMs } = options;
    const isOurKey = given.method === "POST" && given.idempotencyKey === undefined;
    let call = isOurKey ? { ...given, idempotencyKey: keys.next() } : given;
    for (let tries = 1, waitedMs = 0, mayBeDone = false; ; tries++) {
      try {
        return await once<Answer>(call);
      } catch (error) {
        if (mayBeDone && isGone(error, call)) return undefined as Answer;
        const otherKey =
          isOurKey && tries === 1 && error instanceof ApiError ? keys.afterRefusal(error.code, error.serverDate) : null;
        if (otherKey !== null) {
          call = { ...call, idempotencyKey: otherKey };
          continue;
        }
        const left = { tries, mayBeDone, quotaMs: maxQuotaWaitMs - waitedMs, waitedMs };
        const waitMs = waitBeforeRetry(error, call, left);
        if (waitMs === null || sleep === undefined) throw error;
        mayBeDone ||= hasUnknownOutcome(error);
        if (error instanceof ApiError) onWait?.(waitMs, error);
        await sleep(waitMs, call.signal);
        call.signal?.throwIfAborted();
        waitedMs += waitMs;
      }
    }
  };
}

const maxTries = 3;
const maxWaitMs = 10_000;
/** A server that answers "retry at once" would otherwise get requests without a pause. */
const minWaitMs = 1_000;
/** The server frees the key of a call whose node died after a minute. */
const maxKeyWaitMs = 70_000;

interface SpentOnCall {
  readonly tries: number;
  /** An earlier try may have had the call's effect. */
  readonly mayBeDone: boolean;
  readonly quotaMs: number;
  readonly waitedMs: number;
}

/** How long to wait before the call is repeated; null: it is not. */
function waitBeforeRetry(error: unknown, call: HttpCall, spent: SpentOnCall): number | null {
  if (error instanceof ServerUnreachable) {
    // A read has lost nothing, and its caller knows better how long to try.
    const isOpen = error.wasSent && error.reason === "network" && call.method !== "GET";
    return isOpen && isRepeatable(call) && spent.tries < maxTries ? minWaitMs : null;
  }
  if (!(error instanceof ApiError) || error.retryAfterMs === null) return null;
  if (error.status === 429) return quotaWait(error.retryAfterMs, spent.quotaMs);
  // The first try is still under way, or its node died with the key.
  if (error.code === "idempotency_in_progress" && spent.mayBeDone)
    return spent.waitedMs < maxKeyWaitMs ? Math.max(error.retryAfterMs, minWaitMs) : null;
  if (error.status !== 503 || !isRepeatable(call) || spent.tries >= maxTries) return null;
  return Math.min(error.retryAfterMs, maxWaitMs);
}

/**
 * The server may have carried the call out before it failed: only a call that cannot have its effect twice is repeated. After a change under
 * If-Match the repeated call would be refused, and its caller would take its own change for another's.
 */
function isRepeatable({ method, idempotencyKey, ifVersion }: HttpCall): boolean {
  return method === "POST" ? idempotencyKey !== undefined : method === "GET" || ifVersion === undefined;
}

function hasUnknownOutcome(error: unknown): boolean {
  return error instanceof ServerUnreachable ? error.wasSent : error instanceof ApiError && error.status === 503;
}

/** The repeated call finds nothing left to delete: the first one did it. */
function isGone(error: unknown, { method }: HttpCall): boolean {
  return method === "DELETE" && error instanceof ApiError && error.status === 404;
}

/** A call over its quota changed nothing, so it may always be repeated, but not before the time that the server names. */
export function quotaWait(retryAfterMs: number, leftMs: number): number | null {
  const waitMs = Math.max(retryAfterMs, minWaitMs);
  return waitMs <= leftMs ? waitMs : null;
}

/** A call that waits for a run at the server gets the longest such wait on top of the usual time. */
function timeoutOf(call: HttpCall, options: ClientOptions): number {
  const usual = options.timeoutMs ?? defaultTimeoutMs;
  return call.timeoutMs ?? (call.query?.["wait"] === undefined ? usual : usual + maxServerWaitMs);
}

export function createOpenStream(options: ClientOptions): OpenStream {
  const send = options.fetch ?? fetch;
  const base = baseOf(options);
  return async ({ path, query, signal, lastId }) => {
    const headers: Record<string, string> = {
      ...headersOf(options),
      accept: "text/event-stream",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    };
    const response = await send(`${base}${path}${queryText(query)}`, {
      headers,
      ...(signal !== undefined && { signal }),
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ServerUnreachable("network", `${base} cannot be reached.`, error);
    });
    if (!response.ok) throw await errorOf(response);
    if (response.body === null) throw new ServerUnreachable("network", `${base} sent no body.`, null);
    return response.body;
  };
}

const baseOf = ({ url }: ClientOptions): string => url.replace(/\/+$/, "");

function headersOf({ token, namespace, headers }: ClientOptions): Record<string, string> {
  return {
    ...headers?.(),
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(namespace !== undefined && { "carillon-namespace": namespace }),
  };
}

function requestOf(call: HttpCall, options: ClientOptions): RequestInit {
  const headers = headersOf(options);
  if (call.ifVersion !== undefined) headers["if-match"] = `"v${call.ifVersion}"`;
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (call.body === undefined) return { method: call.method, headers };
  headers["content-type"] = "application/json";
  return { method: call.method, headers, body: JSON.stringify(call.body) };
}

/** The members of a parameter that is an object are parameters of their own, with a dot in their names. */
function queryText(query: HttpQuery = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "object") {
      for (const [member, text] of Object.entries(value)) parameters.set(`${name}.${member}`, text);
    } else if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}
