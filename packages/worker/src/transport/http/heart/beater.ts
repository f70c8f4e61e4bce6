import type { DurationMs, Timers } from "@carillon/core";
import { Endpoints } from "../endpoints.js";
import type { Poster } from "../post.js";
import { ServerCalls, SessionGone } from "../server-calls.js";

export interface BeaterOptions {
  readonly urls: readonly string[];
  readonly path: string;
  readonly everyMs: DurationMs;
  readonly poster: Poster;
  readonly timers: Timers;
  /** How long the worker's main loop has been busy with one thing. */
  readonly lagMs: () => DurationMs;
  readonly onAcknowledged: () => void;
  readonly onLost: () => void;
}

const leastTimeoutMs = 1_000;

/** One sign of life after the other, to whichever node answers. */
export class Beater {
  readonly #options: BeaterOptions;
  readonly #calls: ServerCalls;
  readonly #over = new AbortController();
  #timer: unknown = null;

  constructor(options: BeaterOptions) {
    this.#options = options;
    this.#calls = new ServerCalls(options.poster, new Endpoints(options.urls));
  }

  start(): void {
    const { timers, everyMs } = this.#options;
    this.#timer = timers.setTimeout(() => void this.#beat().finally(() => this.start()), everyMs);
    if (this.#over.signal.aborted) timers.clearTimeout(this.#timer);
  }

  stop(): void {
    this.#over.abort();
    this.#options.timers.clearTimeout(this.#timer);
  }

  /** If one node does not answer, the others are asked at once. */
  async #beat(): Promise<void> {
    const { path, everyMs, lagMs, onAcknowledged, onLost } = this.#options;
    const json = JSON.stringify({ lag_ms: Math.max(0, Math.round(lagMs())) });
    const how = { timeoutMs: Math.max(leastTimeoutMs, everyMs), signal: this.#over.signal };
    for (let tries = 0; tries < this.#calls.nodes && !this.#over.signal.aborted; tries++) {
      try {
        await this.#calls.post(path, json, how);
        return onAcknowledged();
      } catch (error) {
        if (!(error instanceof SessionGone)) continue;
        this.stop();
        return onLost();
      }
    }
  }
}
