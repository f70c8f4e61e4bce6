import { type HttpAnswer, type HttpCall, httpCall, NonRetryableError, type WorkerTimers } from "@carillon/worker";

export interface DockerCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Statuses that are answers, not failures. */
  readonly takes: readonly number[];
  readonly totalMs?: number;
  readonly mostBytes?: number;
}

/** The Engine API over its socket or its address. */
export class DockerApi {
  readonly #where: Pick<HttpCall, "url" | "socketPath">;
  readonly #timers: WorkerTimers;

  /** `host` is a DOCKER_HOST: unix:///var/run/docker.sock, tcp://127.0.0.1:2375, http://… or https://…. */
  constructor(host: string, timers: WorkerTimers) {
    this.#where = whereOf(host);
    this.#timers = timers;
  }

  async call(call: DockerCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { method, path, body, takes, totalMs, mostBytes } = call;
    const { url, ...rest } = this.#where;
    const answer = await httpCall({
      ...rest,
      url: new URL(`/v1.41${path}`, url),
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(totalMs !== undefined && { totalMs, firstByteMs: totalMs }),
      ...(mostBytes !== undefined && { mostBytes }),
      signal,
      timers: this.#timers,
    });
    if (takes.includes(answer.status)) return answer;
    throw failureOf(call, answer);
  }
}

export function jsonOf(answer: HttpAnswer): unknown {
  return JSON.parse(answer.body.toString("utf8"));
}

function whereOf(host: string): Pick<HttpCall, "url" | "socketPath"> {
  if (host.startsWith("unix://")) return { url: new URL("http://docker"), socketPath: host.slice("unix://".length) };
  const address = host.replace(/^tcp:/, "http:");
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new NonRetryableError("DOCKER_HOST must be unix:///path or tcp://host:port");
  return { url: new URL(address) };
}

function failureOf({ method, path }: DockerCall, { status, body }: HttpAnswer): Error {
  const message = `docker answered ${status} to ${method} ${path.split("?")[0] ?? path}: ${messageIn(body)}`;
  return status >= 500 || status === 429 ? new Error(message) : new NonRetryableError(message);
}

function messageIn(body: Buffer): string {
  const text = body.toString("utf8");
  try {
    const parsed = JSON.parse(text) as { message?: unknown } | null;
    if (typeof parsed?.message === "string") return parsed.message.slice(0, 500);
  } catch {
    // Not JSON: shown as it is.
  }
  return text.slice(0, 500);
}
