import type { DurationMs } from "@carillon/core";
import type { ClaimedRun } from "@carillon/store";

/** The payloads of one answer together, as characters of JSON. */
export const maxAnswerChars = 8 * 1_048_576;
/** Runs of an answer as long as the size of payloads is unknown. */
const firstBatch = 128;

/**
 * The number of runs that one statement claims, by the size of payloads. A claim does not read payloads before it has them, so the
 * next answer is expected to be as large as the last, or half as large as was expected of the last, whichever is more.
 */
export class PayloadBatchSize {
  #charsPerRun = maxAnswerChars / firstBatch;

  get size(): number {
    return Math.max(1, Math.floor(maxAnswerChars / this.#charsPerRun));
  }

  record(runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) return;
    let chars = 0;
    for (const run of runs) chars += run.payload.length;
    this.#charsPerRun = Math.max(1, chars / runs.length, this.#charsPerRun / 2);
  }
}

/** No statement is meant to take longer. */
const targetMs: DurationMs = 30;
/** For fewer runs the fixed cost of the statement outweighs theirs. */
const minSize = 50;

/**
 * The number of runs that one statement ends and claims where namespaces share workers, by the time that statements take. A namespace
 * with its first run waits for the statements under way: on a slow or busy machine they have to be small.
 */
export class TimedBatchSize {
  readonly #max: number;
  #size: number;

  constructor(max: number) {
    this.#max = max;
    this.#size = max;
  }

  get size(): number {
    return this.#size;
  }

  /** A statement took so long for so many runs. */
  record(runs: number, durationMs: DurationMs): void {
    if (runs < Math.min(minSize, this.#size)) return;
    const fitting = Math.floor((runs * targetMs) / Math.max(1, durationMs));
    const size = fitting < this.#size ? fitting : Math.min(fitting, this.#size * 2);
    this.#size = Math.max(Math.min(minSize, this.#max), Math.min(size, this.#max));
  }
}
