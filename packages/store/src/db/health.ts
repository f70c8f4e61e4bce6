import { CarillonError, type Clock, type Timers } from "@carillon/core";
import { backoffMs, pause } from "./backoff.js";
import type { Random, OnDatabaseEvent } from "./options.js";

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
        await probe();
        if (this.#state === "down") onEvent({ type: "database.up", downMs: clock.monotonic() - since });
        this.#state = "up";
        this.#wake();
        return;
      } catch (error) {
        this.#reason = error;
        if (this.#state === "up") {
          this.#state = "down";
          onEvent({ type: "database.down", reason: error });
        }
      }
      await pause(backoffMs(attempt, random), timers, this.#closing.signal);
    }
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
