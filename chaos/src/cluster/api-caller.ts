import type { Cluster } from "./cluster.js";

export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly body?: object;
  /** The version that the caller has read; the server refuses the call after any other change. */
  readonly ifMatch?: string | null;
}

export interface Answer {
  readonly status: number;
  /** The error code of a refusal. */
  readonly code: string | null;
  readonly etag: string | null;
  readonly id: string | null;
  /** The state of a job, such as `paused`. */
  readonly jobState: string | null;
}

const callLimitMs = 6_000;

/** Calls the public API of the nodes in turn. */
export class ApiCaller {
  readonly #cluster: Cluster;
  #calls = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Whether at least one node listens. */
  get isReachable(): boolean {
    return this.#urls().length > 0;
  }

  /**
   * Returns null if the outcome is unknown: the server may have done the request, may still do it, or may never do it.
   */
  async call({ method, path, body, ifMatch = null }: ApiCall): Promise<Answer | null> {
    const urls = this.#urls();
    const url = urls[this.#calls++ % Math.max(1, urls.length)];
    if (url === undefined) return null;
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { "content-type": "application/json", ...(ifMatch === null ? {} : { "if-match": ifMatch }) },
        signal: AbortSignal.timeout(callLimitMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      // A failover may lose what this answer says.
      if (this.#cluster.losesAnswers) return null;
      return response.status >= 500 ? null : answerOf(response, text);
    } catch {
      return null;
    }
  }

  #urls(): string[] {
    return this.#cluster.members.flatMap(({ node }) => node.url ?? []);
  }
}

function answerOf(response: Response, text: string): Answer {
  const parsed: unknown = text === "" ? {} : JSON.parse(text);
  const fields = typeof parsed === "object" && parsed !== null ? new Map(Object.entries(parsed)) : new Map();
  const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return {
    status: response.status,
    code: textOf(fields.get("code")),
    etag: response.headers.get("etag"),
    id: textOf(fields.get("id")),
    jobState: textOf(fields.get("state")),
  };
}
