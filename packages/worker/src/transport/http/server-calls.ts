import type { DurationMs } from "@carillon/core";
import type { Endpoints } from "./endpoints.js";
import type { Answered, Poster, PostOptions } from "./post.js";

/** The server answered, and said no. */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused";
  readonly status: number;
  readonly code: string;
  /** Where the request is at fault. */
  readonly pointers: readonly string[];

  constructor(status: number, code: string, detail: string, pointers: readonly string[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.pointers = pointers;
  }

  /** Asking again as it is would end the same way. */
  get isFinal(): boolean {
    return this.status >= 400 && this.status < 500 && this.status !== 408 && this.status !== 429;
  }
}

/** The server does not know the session any more. */
export class SessionGone extends Error {
  override readonly name = "SessionGone";
}

const sessionLost = "session_lost";

/** Calls to whichever node is in use. One that cannot be reached, or stops, is left for the next. */
export class ServerCalls {
  readonly #poster: Poster;
  readonly #endpoints: Endpoints;

  constructor(poster: Poster, endpoints: Endpoints) {
    this.#poster = poster;
    this.#endpoints = endpoints;
  }

  get nodes(): number {
    return this.#endpoints.count;
  }

  async post<Answer>(path: string, json: string, options: PostOptions): Promise<Answer> {
    const url = this.#endpoints.current;
    let answered: Answered;
    try {
      answered = await this.#poster.post(`${url}${path}`, json, options);
    } catch (error) {
      if (options.signal?.aborted !== true) this.#endpoints.failed(url);
      throw error;
    }
    const { status, text } = answered;
    if (status >= 200 && status < 300) return (text === "" ? undefined : JSON.parse(text)) as Answer;
    const { code, detail, pointers } = problemOf(text);
    if (status === 410 && code === sessionLost) throw new SessionGone(detail);
    // Without a database no other node would do better.
    if (status >= 500 && !code.startsWith("database_")) this.#endpoints.failed(url);
    throw new ServerRefused(status, code, `${url} answered ${status} ${code}: ${detail}`, pointers);
  }
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly pointers: readonly string[];
}

function problemOf(text: string): Problem {
  try {
    const { code, detail, errors } = JSON.parse(text) as { code?: unknown; detail?: unknown; errors?: unknown };
    return { code: textOf(code), detail: textOf(detail), pointers: pointersOf(errors) };
  } catch {
    return { code: "", detail: text.slice(0, 200), pointers: [] };
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function pointersOf(errors: unknown): string[] {
  if (!Array.isArray(errors)) return [];
  return (errors as readonly ({ pointer?: unknown } | null)[]).map((one) => textOf(one?.pointer));
}

const firstWaitMs = 100;
const longestWaitMs = 5_000;

/** How long to wait after so many failures in a row, each wait twice as long as the one before, with jitter. */
export function backoffMs(failures: number, random: number): DurationMs {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(failures - 1, 16)) * (0.5 + random / 2);
}
