import { errorOf } from "./answer.js";
import { ApiError, ServerUnreachable } from "./errors.js";
import { waitBeforeNext } from "./try-again.js";

export interface ClientOptions {
  /** Where the server is: http://127.0.0.1:8023 */
  readonly url: string;
  /** An API key, sent as a bearer token. */
  readonly token?: string;
  /** Whose things the calls are about; left out: the server's own namespace. */
  readonly namespace?: string;
  /** More headers, asked for with every call: a place in a trace, for one. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** For one request with its answer; 30 s by default. */
  readonly timeoutMs?: number;
  /**
   * Waits, until the signal at most. With one, calls are tried again when the server asks for it by Retry-After: any call that is over
   * its quota (429), and those that read or have an idempotency key when the server cannot serve them (503). Without, never.
   */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long a call may wait for its quota altogether; 30 s by default. What would take longer fails at once. */
  readonly patienceMs?: number;
  /** Told before each wait. */
  readonly onWait?: (waitMs: number, reason: ApiError) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** Told the status of a good answer: 201 where something was made, 200 where it was there. */
  readonly onStatus?: (status: number) => void;
}

export interface MakeOptions extends CallOptions {
  /** Names this call for a day: sent again with the same request it is answered as the first time, and nothing is done twice. */
  readonly idempotencyKey?: string;
}

/** Of calls that make a run. */
export interface RunOptions extends MakeOptions {
  /** Answers when the run has ended, or after this time: 10s. */
  readonly wait?: string;
}

export interface ChangeOptions extends MakeOptions {
  /** The version that the change is meant for; if the job has another one by then, the call is refused with 412. */
  readonly ifVersion?: number;
}

interface WireCall extends ChangeOptions {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | Readonly<Record<string, string>> | undefined>>;
  readonly body?: unknown;
  /** Statuses whose body is an answer, not a refusal, although they are not 2xx. */
  readonly alsoGood?: readonly number[];
}

export type Transport = <Answer>(call: WireCall) => Promise<Answer>;

interface StreamCall {
  readonly path: string;
  readonly query?: WireCall["query"];
  readonly signal?: AbortSignal;
  readonly lastId: string | undefined;
}

/** Opens an answer that has no end. */
export type Streaming = (call: StreamCall) => Promise<ReadableStream<Uint8Array>>;

const defaultTimeoutMs = 30_000;
const defaultPatienceMs = 30_000;
/** The most that a server waits for a run. */
const longestServerWaitMs = 60_000;

export function createTransport(options: ClientOptions): Transport {
  const send = options.fetch ?? fetch;
  const base = options.url.replace(/\/+$/, "");
  const once = async <Answer>(call: WireCall): Promise<Answer> => {
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
  return async <Answer>(call: WireCall): Promise<Answer> => {
    const { sleep, onWait, patienceMs = defaultPatienceMs } = options;
    for (let tries = 1, waitedMs = 0; ; tries++) {
      try {
        return await once<Answer>(call);
      } catch (error) {
        const waitMs = waitBeforeNext(error, { call, spent: { tries, waitedMs }, patienceMs });
        if (waitMs === null || sleep === undefined) throw error;
        if (error instanceof ApiError) onWait?.(waitMs, error);
        await sleep(waitMs, call.signal);
        call.signal?.throwIfAborted();
        waitedMs += waitMs;
      }
    }
  };
}

/** A call that asks the server to wait for a run is given that time on top. */
function timeoutOf(call: WireCall, options: ClientOptions): number {
  const usual = options.timeoutMs ?? defaultTimeoutMs;
  return call.timeoutMs ?? (call.query?.["wait"] === undefined ? usual : usual + longestServerWaitMs);
}

export function createStreaming(options: ClientOptions): Streaming {
  const send = options.fetch ?? fetch;
  const base = options.url.replace(/\/+$/, "");
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

function headersOf({ token, namespace, headers }: ClientOptions): Record<string, string> {
  return {
    ...headers?.(),
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(namespace !== undefined && { "carillon-namespace": namespace }),
  };
}

function requestOf(call: WireCall, options: ClientOptions): RequestInit {
  const headers = headersOf(options);
  if (call.ifVersion !== undefined) headers["if-match"] = `"v${call.ifVersion}"`;
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (call.body === undefined) return { method: call.method, headers };
  headers["content-type"] = "application/json";
  return { method: call.method, headers, body: JSON.stringify(call.body) };
}

function queryText(query: WireCall["query"] = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== "object") {
      if (value !== undefined) given.set(name, String(value));
    } else for (const [member, text] of Object.entries(value)) given.set(`${name}.${member}`, text);
  }
  return given.size === 0 ? "" : `?${given.toString()}`;
}
