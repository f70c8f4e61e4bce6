import type { Agent } from "node:http";
import type { DurationMs } from "@carillon/core";
import { type HttpAnswer, httpCall, NonRetryableError, type WorkerTimers } from "@carillon/worker";

/**
 * Where an API is. It comes from the settings of the worker, never from a payload, and is often private (a socket, the API server of
 * a cluster): the rules of which addresses jobs may reach do not apply to it.
 */
export interface ApiAddress {
  /** Paths of calls are appended to it. */
  readonly base: string;
  /** A socket of this machine instead of the host of `base`. */
  readonly socketPath?: string;
  readonly agent?: Agent;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Statuses that are results; any other is an error. */
  readonly expected: readonly number[];
  readonly accept?: string;
  readonly totalMs?: DurationMs;
  readonly maxBytes?: number;
}

/** Calls of the HTTP API of another system, each bounded in time and size. */
export class RemoteApi {
  readonly #system: string;
  readonly #address: () => Promise<ApiAddress>;
  readonly #timers: WorkerTimers;

  /** `address` is asked before each call, because credentials expire. */
  constructor(system: string, address: () => Promise<ApiAddress>, timers: WorkerTimers) {
    this.#system = system;
    this.#address = address;
    this.#timers = timers;
  }

  /** Throws a NonRetryableError for a status that another try would get again. */
  async call(call: ApiCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { method, path, body, expected, accept = "application/json", totalMs, maxBytes } = call;
    const { base, headers, ...connection } = await this.#address();
    const answer = await httpCall({
      ...connection,
      url: new URL(`${base.replace(/\/+$/, "")}${path}`),
      method,
      headers: { accept, ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(totalMs !== undefined && { totalMs, firstByteMs: totalMs }),
      ...(maxBytes !== undefined && { maxBytes }),
      signal,
      timers: this.#timers,
    });
    if (expected.includes(answer.status)) return answer;
    const message = `${this.#system} answered ${answer.status} to ${method} ${path.split("?")[0] ?? path}: ${messageOf(answer)}`;
    throw answer.status >= 500 || answer.status === 429 ? new Error(message) : new NonRetryableError(message);
  }

  async json<Body>(call: ApiCall, signal: AbortSignal): Promise<Body> {
    const { body } = await this.call(call, signal);
    return JSON.parse(body.toString("utf8")) as Body;
  }
}

/** Docker and Kubernetes put it into `message`, Airflow into `detail`. */
function messageOf({ body }: HttpAnswer): string {
  const text = body.toString("utf8");
  try {
    const parsed = JSON.parse(text) as { message?: unknown; detail?: unknown } | null;
    const message = parsed?.message ?? parsed?.detail;
    if (typeof message === "string") return message.slice(0, 500);
  } catch {
    // Not JSON: the text itself.
  }
  return text.slice(0, 500);
}
