import type { DurationMs, Instant } from "@carillon/core";

const askEveryMs: DurationMs = 1_000;

/**
 * A claim that failed may have been done all the same, or may still be on its way to the database: its session then holds runs
 * that no worker knows of. For as long as that can be, the session's owner asks which ones it holds.
 */
export class ClaimDoubt {
  readonly #lastsMs: DurationMs;
  #until: Instant = Number.NEGATIVE_INFINITY;
  #askAt: Instant = 0;
  /** When it was last answered what the session holds. */
  answeredAt: Instant = Number.NEGATIVE_INFINITY;

  constructor(lastsMs: DurationMs) {
    this.#lastsMs = lastsMs;
  }

  raise(now: Instant): void {
    this.#until = now + this.#lastsMs;
    this.#askAt = now;
  }

  isToAsk(now: Instant): boolean {
    return this.#askAt <= this.#until && now >= this.#askAt;
  }

  /** It was answered what the session holds. */
  answered(now: Instant): void {
    this.answeredAt = now;
    this.#askAt = now + askEveryMs;
  }
}
