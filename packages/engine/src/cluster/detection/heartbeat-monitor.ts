import type { DurationMs } from "@carillon/core";

/**
 * Staleness is observed, not subtracted: a node is dead only to an observer that saw the same heartbeat for the whole
 * limit on its own monotonic clock, with all its own reads succeeding. A gap in the reads starts every count again, so
 * that no node is taken for dead because the database was unavailable for a while.
 */
export class HeartbeatMonitor {
  readonly #limitMs: DurationMs;
  readonly #maxGapMs: DurationMs;
  readonly #seen = new Map<string, { heartbeat: string; since: DurationMs }>();
  #lastRead = Number.NEGATIVE_INFINITY;

  constructor(limits: { limitMs: DurationMs; maxGapMs: DurationMs }) {
    this.#limitMs = limits.limitMs;
    this.#maxGapMs = limits.maxGapMs;
  }

  /**
   * Takes a successful read with the monotonic times of its response and its request; returns the nodes whose heartbeat did not
   * change for the whole limit. A response may be as old as its request, so the time counts from a response to a request.
   */
  observe<Watched extends { id: string; heartbeat: string }>(
    read: readonly Watched[],
    answered: DurationMs,
    asked: DurationMs = answered,
  ): Watched[] {
    if (answered - this.#lastRead > this.#maxGapMs) this.#seen.clear();
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

  /** This node's reads failed: every count starts again. */
  forget(): void {
    this.#seen.clear();
  }
}

/** When each node's heartbeat last changed; kept for a while after the node is gone, to measure how long a takeover took. */
export class HeartbeatHistory {
  readonly #keepMs: DurationMs;
  readonly #last = new Map<string, { heartbeat: string; at: DurationMs }>();

  constructor(keepMs: DurationMs) {
    this.#keepMs = keepMs;
  }

  record(nodes: readonly { id: string; heartbeat: string }[], at: DurationMs): void {
    for (const { id, heartbeat } of nodes) {
      if (this.#last.get(id)?.heartbeat !== heartbeat) this.#last.set(id, { heartbeat, at });
    }
    for (const [id, last] of this.#last) if (at - last.at > this.#keepMs) this.#last.delete(id);
  }

  lastChangeAt(id: string): DurationMs | undefined {
    return this.#last.get(id)?.at;
  }
}
