import type { ClaimedRun } from "@carillon/store";

/** What the payloads of one answer are to weigh together, as characters of JSON. */
export const mostChars = 8 * 1_048_576;
/** Runs of an answer of whose payloads nothing is known. */
const first = 128;

/**
 * How many runs one statement claims, so that its answer does not weigh too much. No claim looks at payloads before it has them: the next
 * answer is taken to be as heavy as the last, or half as heavy as was expected of the last, whichever is more.
 */
export class AnswerWeight {
  #charsPerRun = mostChars / first;

  /** Runs that the next answer may bring. */
  get size(): number {
    return Math.max(1, Math.floor(mostChars / this.#charsPerRun));
  }

  took(runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) return;
    let chars = 0;
    for (const run of runs) chars += run.payload.length;
    this.#charsPerRun = Math.max(1, chars / runs.length, this.#charsPerRun / 2);
  }
}
