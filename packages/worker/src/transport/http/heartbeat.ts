import type { DurationMs, Timers } from "@carillon/core";
import { type Caller, createPoster, type Poster, ServerCalls, SessionGone } from "./server-calls.js";

export interface HeartbeatOptions extends Caller {
  readonly urls: readonly string[];
  readonly path: string;
  readonly everyMs: DurationMs;
  /** The interval while the worker holds no runs. */
  readonly idleEveryMs: DurationMs;
  /** The server no longer knows the session. */
  readonly onLost: () => void;
}

/** The heartbeats of one session. */
export interface Heartbeat {
  /** How many heartbeats were acknowledged so far. */
  readonly acknowledged: number;
  setHolding(isHolding: boolean): void;
  /** A poll was answered and the next one begins, which the server counts as a heartbeat of a worker without runs. */
  pollAnswered(): void;
  stop(): void;
}

/** Starts the heartbeats of a session. */
export type StartHeartbeat = (options: HeartbeatOptions) => Heartbeat;

/** Sends heartbeats from the event loop of its caller: a caller that blocks the loop for too long loses the session. */
export function mainLoopHeartbeat(timers: Timers): StartHeartbeat {
  return (options) => {
    const poster = createPoster(options);
    let acknowledged = 0;
    let isHolding = false;
    let answeredPolls = 0;
    const loop = new HeartbeatLoop({
      ...options,
      poster,
      timers,
      isHolding: () => isHolding,
      answeredPolls: () => answeredPolls,
      lagMs: () => 0,
      onAcknowledged: () => void acknowledged++,
    });
    loop.start();
    return {
      get acknowledged() {
        return acknowledged;
      },
      pollAnswered() {
        answeredPolls++;
      },
      setHolding(is) {
        isHolding = is;
      },
      stop() {
        loop.stop();
        poster.close();
      },
    };
  };
}

export interface HeartbeatLoopOptions extends Omit<HeartbeatOptions, keyof Caller> {
  readonly poster: Poster;
  readonly timers: Timers;
  /** Whether the worker holds runs. */
  readonly isHolding: () => boolean;
  readonly answeredPolls: () => number;
  /** How long the worker's event loop has been blocked. */
  readonly lagMs: () => DurationMs;
  readonly onAcknowledged: () => void;
}

const minTimeoutMs = 1_000;

/**
 * Sends one heartbeat at a time, to any node that answers. A worker without runs sends them rarely; after it gets runs, or after a
 * heartbeat that was not answered, the next one follows within `everyMs`.
 */
export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions;
  readonly #calls: ServerCalls;
  readonly #over = new AbortController();
  #timer: unknown = null;
  /** Since the last heartbeat, or the last poll that counts as one. */
  #quietMs: DurationMs = 0;
  #seenPolls = 0;
  #isAnswered = true;

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options;
    this.#calls = new ServerCalls(options.poster, options.urls);
  }

  start(): void {
    const { timers, everyMs, idleEveryMs } = this.#options;
    const delayMs = Math.min(everyMs, Math.max(everyMs, idleEveryMs) - this.#quietMs);
    this.#timer = timers.setTimeout(() => void this.#tick(delayMs).finally(() => this.start()), delayMs);
    if (this.#over.signal.aborted) timers.clearTimeout(this.#timer);
  }

  stop(): void {
    this.#over.abort();
    this.#options.timers.clearTimeout(this.#timer);
  }

  /** Sends a heartbeat if one is due, `sinceMs` after the previous tick. */
  async #tick(sinceMs: DurationMs): Promise<void> {
    const { idleEveryMs, isHolding, answeredPolls } = this.#options;
    const wasPolled = answeredPolls() !== this.#seenPolls;
    this.#seenPolls = answeredPolls();
    // The poll may have been answered right after the previous tick.
    this.#quietMs = wasPolled ? sinceMs : this.#quietMs + sinceMs;
    if (!isHolding() && this.#isAnswered && this.#quietMs < idleEveryMs) return;
    this.#quietMs = 0;
    this.#isAnswered = await this.#send();
  }

  /** Returns whether a node answered. If one node fails, tries the others without a pause. */
  async #send(): Promise<boolean> {
    const { path, everyMs, lagMs, onAcknowledged, onLost } = this.#options;
    const json = JSON.stringify({ lag_ms: Math.max(0, Math.round(lagMs())) });
    const { signal } = this.#over;
    const timeoutMs = Math.max(minTimeoutMs, everyMs);
    for (let tries = 0; tries < this.#calls.nodeCount && !signal.aborted; tries++) {
      try {
        await this.#calls.post(path, json, { timeoutMs, signal });
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
