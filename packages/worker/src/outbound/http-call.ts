import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from "node:http";
import { request as secureRequest } from "node:https";
import type { DurationMs } from "@carillon/core";
import type { WorkerTimers } from "../runtime/timers.js";
import type { HostAddress } from "./addresses.js";

export interface HttpCall {
  readonly url: URL;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
  readonly timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">;
  /** Addresses of the host; left out: the system resolves it. */
  readonly addresses?: readonly HostAddress[];
  /** A Unix socket to use instead of the host. */
  readonly socketPath?: string;
  /** Makes the connection, for example with a client certificate or through a proxy. */
  readonly agent?: Agent;
  readonly connectMs?: DurationMs;
  readonly firstByteMs?: DurationMs;
  readonly totalMs?: DurationMs;
  /** The body is cut after so many bytes. */
  readonly maxBytes?: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body was longer. */
  readonly isCut: boolean;
}

/** One step of the call exceeded its limit. */
export class HttpTimeoutError extends Error {
  override readonly name = "HttpTimeoutError";
}

const defaults = { connectMs: 10_000, firstByteMs: 60_000, totalMs: 300_000, maxBytes: 1_048_576 };

/** Sends one request on its own connection, with limits of time and size. Resolves for every status; rejects if there is no answer. */
export function httpCall(call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const limits = new StepTimer(call, (error) => end(() => reject(error)));
    const request = createRequest(call);
    const onAbort = (): void => end(() => reject(toError(call.signal.reason)));
    const end = (settle: () => void): void => {
      limits.stop();
      call.signal.removeEventListener("abort", onAbort);
      settle();
      request.destroy();
    };
    request.on("error", (error) => end(() => reject(error)));
    request.on("socket", (socket) => {
      if (!socket.connecting) return limits.connected();
      socket.once(call.url.protocol === "https:" ? "secureConnect" : "connect", () => limits.connected());
    });
    request.on("response", (response) => {
      limits.answered();
      readCapped(response, call.maxBytes ?? defaults.maxBytes).then(
        ({ body, isCut }) => {
          const { statusCode: status = 0 } = response;
          end(() => resolve({ status, headers: readHeaders(response), body, isCut }));
        },
        (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    if (call.signal.aborted) return onAbort();
    call.signal.addEventListener("abort", onAbort);
    request.end(call.body);
  });
}

function createRequest({ url, method, headers, body, addresses, socketPath, agent }: HttpCall): ClientRequest {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const options: RequestOptions = {
    method,
    headers: { ...length, ...headers },
    agent: agent ?? false,
    ...(socketPath !== undefined && { socketPath }),
    ...(addresses !== undefined && { lookup: fixedLookup(addresses) }),
  };
  return url.protocol === "https:" ? secureRequest(url, options) : plainRequest(url, options);
}

/** A lookup that returns the addresses that were resolved and checked before. */
function fixedLookup(addresses: readonly HostAddress[]): NonNullable<RequestOptions["lookup"]> {
  return (_host, { all = false }, answer) => {
    const [first] = addresses;
    if (all) answer(null, [...addresses]);
    else answer(null, first?.address ?? "", first?.family);
  };
}

/** Limits each step of a call, and the whole call. */
class StepTimer {
  readonly #call: HttpCall;
  readonly #onLate: (error: Error) => void;
  readonly #total: unknown;
  #step: unknown = null;

  constructor(call: HttpCall, onLate: (error: Error) => void) {
    this.#call = call;
    this.#onLate = onLate;
    this.#total = this.#limit("the whole request", call.totalMs ?? defaults.totalMs);
    this.#next("the connection", call.connectMs ?? defaults.connectMs);
  }

  connected(): void {
    this.#next("the first byte of the answer", this.#call.firstByteMs ?? defaults.firstByteMs);
  }

  answered(): void {
    this.#call.timers.clearTimeout(this.#step);
  }

  stop(): void {
    this.#call.timers.clearTimeout(this.#step);
    this.#call.timers.clearTimeout(this.#total);
  }

  #next(what: string, limitMs: DurationMs): void {
    this.#call.timers.clearTimeout(this.#step);
    this.#step = this.#limit(what, limitMs);
  }

  #limit(what: string, limitMs: DurationMs): unknown {
    return this.#call.timers.setTimeout(() => {
      this.#onLate(new HttpTimeoutError(`${what} took more than ${limitMs} ms`));
    }, limitMs);
  }
}

async function readCapped(response: IncomingMessage, maxBytes: number): Promise<{ body: Buffer; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early closes the connection, so that the server does not send the rest.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: size > maxBytes };
}

function readHeaders(response: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return headers;
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("stopped");
}
