import type { DurationMs } from "@carillon/core";

/** When each node was last seen to have moved; kept a while for those that are gone, to say how long a takeover took. */
export class SignsOfLife {
  readonly #keepMs: DurationMs;
  readonly #last = new Map<string, { sign: string; at: DurationMs }>();

  constructor(keepMs: DurationMs) {
    this.#keepMs = keepMs;
  }

  see(nodes: readonly { id: string; sign: string }[], at: DurationMs): void {
    for (const { id, sign } of nodes) if (this.#last.get(id)?.sign !== sign) this.#last.set(id, { sign, at });
    for (const [id, last] of this.#last) if (at - last.at > this.#keepMs) this.#last.delete(id);
  }

  of(id: string): DurationMs | undefined {
    return this.#last.get(id)?.at;
  }
}
