import type { ClaimedRun } from "../store/entities/claimed-run.js";

/** What the payloads of one answer are to weigh together, as characters of JSON. */
export const mostChars = 8 * 1_048_576;
/** Runs of an answer of whose payloads nothing is known. */
const first = 32;

/**
 * How many runs one statement claims, so that its answer does not weigh too much. No claim looks at payloads before it has them, so the
 * last answers say what the next may weigh: as many runs as fit if they are as heavy, and at most twice as many as the last. Where
 * fewer are claimed than may be, that was not tried, and becomes less: of runs that come all at once and are heavy few are claimed at first.
 */
export class AnswerWeight {
  #size = first;

  /** Runs that the next answer may bring. */
  get size(): number {
    return this.#size;
  }

  took(runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) {
      this.#size = Math.max(Math.min(this.#size, first), Math.floor(this.#size / 2));
      return;
    }
    let chars = 0;
    for (const run of runs) chars += run.payload.length;
    const fitting = Math.max(1, Math.floor((runs.length * mostChars) / Math.max(1, chars)));
    const tried = runs.length * 2 >= this.#size ? this.#size * 2 : Math.max(first, runs.length * 2);
    this.#size = Math.min(fitting, tried);
  }
}
