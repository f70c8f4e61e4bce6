import type { DurationMs } from "@carillon/core";

/**
 * Staleness is observed, not subtracted: who is silent is known only to one that saw the same heartbeat for the whole
 * limit on its own monotonic clock, with all its own reads succeeding. A gap in the reads starts every count again, so
 * that a database that was away for a while makes nobody look dead.
 */
export class SilenceWatch {
  readonly #limitMs: DurationMs;
  readonly #longestGapMs: DurationMs;
  readonly #seen = new Map<string, { heartbeat: string; since: DurationMs }>();
  #lastRead = Number.NEGATIVE_INFINITY;

  constructor(limits: { limitMs: DurationMs; longestGapMs: DurationMs }) {
    this.#limitMs = limits.limitMs;
    this.#longestGapMs = limits.longestGapMs;
  }

  /**
   * Takes a successful read with the monotonic times at which it was answered and asked for; answers who has been silent
   * for the whole limit. What an answer shows may be as old as its question, so silence counts from an answer to a question.
   */
  observe<Watched extends { id: string; heartbeat: string }>(
    read: readonly Watched[],
    answered: DurationMs,
    asked: DurationMs = answered,
  ): Watched[] {
    if (answered - this.#lastRead > this.#longestGapMs) this.#seen.clear();
    this.#lastRead = answered;
    const present = new Set(read.map((one) => one.id));
    for (const id of this.#seen.keys()) if (!present.has(id)) this.#seen.delete(id);
    return read.filter((one) => {
      const before = this.#seen.get(one.id);
      if (before?.heartbeat === one.heartbeat) return asked - before.since >= this.#limitMs;
      this.#seen.set(one.id, { heartbeat: one.heartbeat, since: answered });
      return false;
    });
  }

  /** One's own reads failed: every count starts again. */
  forget(): void {
    this.#seen.clear();
  }
}
