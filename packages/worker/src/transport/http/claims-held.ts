import type { Assignment, Completion } from "@carillon/core";
import type { ClaimName } from "./wire.js";

/** How many ended runs are remembered, in case one is told of again by an answer that was under way. */
const mostRemembered = 50_000;

/** Which claims this worker has, so that what it is told twice is done once. */
export class ClaimsHeld {
  /** Waiting here, at work, or ended with a result that is not answered for: fences by run. */
  readonly #held = new Map<string, number>();
  readonly #ended = new Map<string, number>();

  get size(): number {
    return this.#held.size;
  }

  /** Those that were not known yet. */
  take(runs: readonly Assignment[]): Assignment[] {
    return runs.filter(({ runId, fence }) => {
      if (this.#held.get(runId) === fence || this.#ended.get(runId) === fence) return false;
      this.#held.set(runId, fence);
      return true;
    });
  }

  /** These are over here: their results were answered, or they were given back. */
  drop(runs: readonly (ClaimName | Completion)[]): void {
    for (const { runId, fence } of runs) {
      if (this.#held.get(runId) === fence) this.#held.delete(runId);
      this.#ended.delete(runId);
      this.#ended.set(runId, fence);
    }
    for (const runId of this.#ended.keys()) {
      if (this.#ended.size <= mostRemembered) break;
      this.#ended.delete(runId);
    }
  }

  *[Symbol.iterator](): Iterator<ClaimName> {
    for (const [runId, fence] of this.#held) yield { runId, fence };
  }
}
