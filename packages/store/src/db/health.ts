import { CarillonError, type Clock, type DurationMs, type Timers } from "@carillon/core";
import type { OnDatabaseEvent, Random } from "./options.js";

export type DatabaseState = "up" | "down";

export interface HealthOptions {
  /** Resolves when the database can serve. */
  readonly probe: () => Promise<void>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly onEvent: OnDatabaseEvent;
}

/**
 * Whether the database can be reached. A failed connection starts a probe; a failed probe makes the state "down", and calls
 * then fail at once instead of each waiting for its own timeout. While down, probes continue with growing, jittered pauses.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #closing = new AbortController();
  #state: DatabaseState = "up";
  #watch: Promise<void> | undefined;
  #reason: unknown;
  #waiters: (() => void)[] = [];
  #isInterrupted = false;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  get state(): DatabaseState {
    return this.#state;
  }

  assertUp(): void {
    if (this.#closing.signal.aborted) throw new CarillonError("shutting_down", "The database is closed.");
    if (this.#state === "up") return;
    const detail = this.#reason instanceof Error ? this.#reason.message : String(this.#reason);
    throw new CarillonError("database_unavailable", `The database cannot be reached: ${detail}`, {
      cause: this.#reason,
    });
  }

  /** A connection failed: probes whether the database is down. */
  suspect(): void {
    if (this.#closing.signal.aborted) return;
    this.#watch ??= this.#probeUntilUp().finally(() => {
      this.#watch = undefined;
    });
  }

  /** The database may not be used until the next probe that begins from now on succeeds. */
  interrupt(reason: unknown): void {
    this.#isInterrupted = true;
    this.#fail(reason);
    this.suspect();
  }

  /** Resolves when the state is "up", or at close. */
  async waitUntilUp(): Promise<void> {
    if (this.#state === "up" || this.#closing.signal.aborted) return;
    await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake();
    await this.#watch;
  }

  async #probeUntilUp(): Promise<void> {
    const { probe, clock, timers, random, onEvent } = this.#options;
    const since = clock.monotonic();
    for (let attempt = 1; !this.#closing.signal.aborted; attempt++) {
      try {
        this.#isInterrupted = false;
        await probe();
        if (this.#isInterrupted) continue;
        const wasDown = this.#state === "down";
        this.#state = "up";
        this.#wake();
        if (wasDown) onEvent({ type: "database.up", downMs: clock.monotonic() - since });
        return;
      } catch (error) {
        this.#fail(error);
      }
      await pause(backoffMs(attempt, random), timers, this.#closing.signal);
    }
  }

  #fail(reason: unknown): void {
    this.#reason = reason;
    if (this.#state === "down") return;
    this.#state = "down";
    this.#options.onEvent({ type: "database.down", reason });
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

const firstMs = 50;
/** Well below a lease: a node that finds the database again declares nodes dead that need longer than a lease for it. */
const maxMs = 1_000;

/** The wait before try `attempt` (from 1): doubling, capped, and spread over its upper half so that nodes do not try at the same moments. */
export function backoffMs(attempt: number, random: Random): DurationMs {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(attempt - 1, 16));
  return full / 2 + random() * (full / 2);
}

/** Resolves after the delay, or at once when the signal fires. */
export function pause(delayMs: DurationMs, timers: Timers, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      timers.clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = timers.setTimeout(done, delayMs);
    signal?.addEventListener("abort", done);
  });
}
