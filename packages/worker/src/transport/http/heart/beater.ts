import type { DurationMs, Timers } from "@carillon/core";
import { Endpoints } from "../endpoints.js";
import type { Poster } from "../post.js";
import { ServerCalls, SessionGone } from "../server-calls.js";

export interface BeaterOptions {
  readonly urls: readonly string[];
  readonly path: string;
  readonly everyMs: DurationMs;
  /** While nothing is held. */
  readonly idleEveryMs: DurationMs;
  readonly poster: Poster;
  readonly timers: Timers;
  /** The worker has runs. */
  readonly isHolding: () => boolean;
  /** How many polls were answered so far: one that has no runs is heard of by the next poll as well. */
  readonly polls: () => number;
  /** How long the worker's main loop has been busy with one thing. */
  readonly lagMs: () => DurationMs;
  readonly onAcknowledged: () => void;
  readonly onLost: () => void;
}

const leastTimeoutMs = 1_000;

/**
 * One sign of life after the other, to whichever node answers. A worker that has no runs gives them seldom; when it gets some, or when
 * nobody answered, the next comes within the time of one that has some.
 */
export class Beater {
  readonly #options: BeaterOptions;
  readonly #calls: ServerCalls;
  readonly #over = new AbortController();
  #timer: unknown = null;
  /** How long ago the last one was, or a poll that counts as one. */
  #quietMs: DurationMs = 0;
  #polls = 0;
  #isAnswered = true;

  constructor(options: BeaterOptions) {
    this.#options = options;
    this.#calls = new ServerCalls(options.poster, new Endpoints(options.urls));
  }

  start(): void {
    const { timers, everyMs, idleEveryMs } = this.#options;
    const delayMs = Math.min(everyMs, Math.max(everyMs, idleEveryMs) - this.#quietMs);
    this.#timer = timers.setTimeout(() => void this.#look(delayMs).finally(() => this.start()), delayMs);
    if (this.#over.signal.aborted) timers.clearTimeout(this.#timer);
  }

  stop(): void {
    this.#over.abort();
    this.#options.timers.clearTimeout(this.#timer);
  }

  /** Looks so long after the last look whether it is time for another. */
  async #look(sinceMs: DurationMs): Promise<void> {
    const { idleEveryMs, isHolding, polls } = this.#options;
    const isPolled = polls() !== this.#polls;
    this.#polls = polls();
    // That poll may have been right after the last look.
    this.#quietMs = isPolled ? sinceMs : this.#quietMs + sinceMs;
    if (!isHolding() && this.#isAnswered && this.#quietMs < idleEveryMs) return;
    this.#quietMs = 0;
    this.#isAnswered = await this.#beat();
  }

  /** Says whether it was answered. If one node does not answer, the others are asked at once. */
  async #beat(): Promise<boolean> {
    const { path, everyMs, lagMs, onAcknowledged, onLost } = this.#options;
    const json = JSON.stringify({ lag_ms: Math.max(0, Math.round(lagMs())) });
    const how = { timeoutMs: Math.max(leastTimeoutMs, everyMs), signal: this.#over.signal };
    for (let tries = 0; tries < this.#calls.nodes && !this.#over.signal.aborted; tries++) {
      try {
        await this.#calls.post(path, json, how);
        onAcknowledged();
        return true;
      } catch (error) {
        if (!(error instanceof SessionGone)) continue;
        this.stop();
        onLost();
        return true;
      }
    }
    return false;
  }
}
