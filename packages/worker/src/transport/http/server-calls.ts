import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type DurationMs, type ErrorItem, pending } from "@carillon/core";

/** The server refused a request. */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused";
  readonly status: number;
  readonly code: string;
  /** The invalid fields of the request. */
  readonly items: readonly ErrorItem[];

  constructor(status: number, code: string, detail: string, items: readonly ErrorItem[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.items = items;
  }

  /** Whether the same request would be refused again. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

/** The server no longer knows the session. */
export class SessionGone extends Error {
  override readonly name = "SessionGone";
}

const sessionLost = "session_lost";

/** Posts to the nodes of a cluster. Uses one node until it fails or stops, then the next of the list. */
export class ServerCalls {
  readonly #poster: Poster;
  readonly #urls: readonly string[];
  #urlIndex = 0;

  constructor(poster: Poster, urls: readonly string[]) {
    if (urls.length === 0) throw new Error("a worker needs the address of a server");
    this.#poster = poster;
    this.#urls = urls.map((url) => url.replace(/\/+$/, ""));
  }

  get nodeCount(): number {
    return this.#urls.length;
  }

  async post<Answer>(path: string, json: string, options: PostOptions): Promise<Answer> {
    const url = this.#urls[this.#urlIndex] ?? "";
    let reply: Reply;
    try {
      reply = await this.#poster.post(`${url}${path}`, json, options);
    } catch (error) {
      if (options.signal?.aborted !== true) this.#leaveNode(url);
      throw error;
    }
    const { status, text } = reply;
    if (status >= 200 && status < 300) return (text === "" ? undefined : JSON.parse(text)) as Answer;
    const { code, detail, items } = readProblem(text);
    if (status === 410 && code === sessionLost) throw new SessionGone(detail);
    // While the database is down, all nodes fail.
    if (status >= 500 && code !== "outcome_unknown" && !code.startsWith("database_")) this.#leaveNode(url);
    throw new ServerRefused(status, code, `${url} answered ${status} ${code}: ${detail}`, items);
  }

  /** Switches to the next node, unless another call has switched already. */
  #leaveNode(url: string): void {
    if (url === this.#urls[this.#urlIndex]) this.#urlIndex = (this.#urlIndex + 1) % this.#urls.length;
  }
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly items: readonly ErrorItem[];
}

function readProblem(text: string): Problem {
  try {
    const { code, detail, errors } = JSON.parse(text) as { code?: unknown; detail?: unknown; errors?: unknown };
    return { code: textOrEmpty(code), detail: textOrEmpty(detail), items: readItems(errors) };
  } catch {
    return { code: "", detail: text.slice(0, 200), items: [] };
  }
}

const textOrEmpty = (value: unknown): string => (typeof value === "string" ? value : "");

function readItems(errors: unknown): ErrorItem[] {
  if (!Array.isArray(errors)) return [];
  return (errors as readonly Partial<Record<keyof ErrorItem, unknown>>[]).map((one) => ({
    pointer: textOrEmpty(one?.pointer),
    code: textOrEmpty(one?.code),
    detail: textOrEmpty(one?.detail),
  }));
}

const firstDelayMs = 100;
const maxDelayMs = 5_000;

/** The delay after so many failures in a row: doubles each time, with jitter. */
export function backoffMs(failures: number, random: number): DurationMs {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 16)) * (0.5 + random / 2);
}

export interface PostOptions {
  /** How long the connection may be idle until the answer is complete. */
  readonly timeoutMs: DurationMs;
  readonly signal?: AbortSignal;
  /** In place of the caller's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends JSON. Resolves for every status, and rejects if there is no answer. */
export interface Poster {
  post(url: string, json: string, options: PostOptions): Promise<Reply>;
  /** Closes the connections. */
  close(): void;
}

/** The identity that requests carry. */
export interface Caller {
  /** An API key, sent as a bearer token. */
  readonly token?: string;
  /** Left out: the server's own. */
  readonly namespace?: string;
}

/** Copies only the identity out of a larger object. */
export function pickCaller({ token, namespace }: Caller): Caller {
  return { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
}

/** Keeps its connections open: a worker has few of them and uses them all the time. */
export function createPoster({ token, namespace }: Caller = {}): Poster {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const callerHeaders = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(namespace !== undefined && { "carillon-namespace": namespace }),
  };
  return {
    post(url, json, { timeoutMs, signal, headers: more }) {
      const body = Buffer.from(json);
      const headers = { "content-type": "application/json", "content-length": body.length, ...callerHeaders, ...more };
      const options = { method: "POST", headers, timeout: timeoutMs, ...(signal !== undefined && { signal }) };
      const request = url.startsWith("https:")
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
      request.end(body);
      return awaitReply(request, timeoutMs);
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function awaitReply(request: ClientRequest, timeoutMs: DurationMs): Promise<Reply> {
  const { promise, resolve, reject } = pending<Reply>();
  request.on("error", reject);
  request.on("timeout", () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  request.on("response", (response) => {
    readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
  });
  return promise;
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (!response.complete) throw new Error("the answer was broken off");
  return chunks.length === 1 && chunks[0] !== undefined
    ? chunks[0].toString("utf8")
    : Buffer.concat(chunks).toString("utf8");
}
