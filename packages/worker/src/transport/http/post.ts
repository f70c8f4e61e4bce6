import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { type DurationMs, pending } from "@carillon/core";

export interface PostOptions {
  /** For the request with its answer, from one sign of the server to the next. */
  readonly timeoutMs: DurationMs;
  readonly signal?: AbortSignal;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Sends JSON; resolves with whatever is answered, throws if nothing is. */
export interface Poster {
  post(url: string, json: string, options: PostOptions): Promise<Answered>;
  /** Closes what is open. */
  close(): void;
}

/** On whose behalf requests are sent. */
export interface Caller {
  /** An API key, sent as a bearer token. */
  readonly token?: string;
  /** Left out: the server's own. */
  readonly namespace?: string;
}

/** What of this says who calls. */
export function callerOf({ token, namespace }: Caller): Caller {
  return { ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }) };
}

/** Over connections that are kept: a worker has at most a few, and asks again and again. */
export function createPoster({ token, namespace }: Caller = {}): Poster {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  const caller = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(namespace !== undefined && { "carillon-namespace": namespace }),
  };
  return {
    post(url, json, { timeoutMs, signal }) {
      const body = Buffer.from(json);
      const headers = { "content-type": "application/json", "content-length": body.length, ...caller };
      const options = { method: "POST", headers, timeout: timeoutMs, ...(signal !== undefined && { signal }) };
      const request = url.startsWith("https:")
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
      request.end(body);
      return answerOf(request, timeoutMs);
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function answerOf(request: ClientRequest, timeoutMs: DurationMs): Promise<Answered> {
  const { promise, resolve, reject } = pending<Answered>();
  request.on("error", reject);
  request.on("timeout", () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  request.on("response", (response) => {
    textOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
  });
  return promise;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (!response.complete) throw new Error("the answer was broken off");
  return chunks.length === 1 && chunks[0] !== undefined
    ? chunks[0].toString("utf8")
    : Buffer.concat(chunks).toString("utf8");
}
