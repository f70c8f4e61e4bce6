import { type DurationMs, fingerprintOf, type Instant, plainMessage } from "@carillon/core";
import type { FailureStore, SeenErrors } from "@carillon/store";
import type { FailedRun } from "../events.js";

export interface ErrorTallyOptions {
  readonly failures: Pick<FailureStore, "count">;
  /** The database's clock. */
  readonly now: () => Instant;
}

const flushEveryMs: DurationMs = 2_000;
/** Kinds that are kept between two writes; what is beyond them is not counted. */
const mostKinds = 1_000;
const longestText = 300;

/**
 * Counts the errors that this node has seen and adds them to the kinds of errors every few seconds, so that no run's transaction
 * waits for a row that others write. A node that is killed takes at most the counts of that time with it; the runs and their errors
 * are in history.
 */
export class ErrorTally {
  readonly #options: ErrorTallyOptions;
  #seen = new Map<string, SeenErrors>();

  constructor(options: ErrorTallyOptions) {
    this.#options = options;
  }

  add({ namespaceId, runId, task, error }: FailedRun): void {
    const fingerprint = error.fingerprint ?? fingerprintOf(error);
    const key = `${namespaceId} ${fingerprint} ${task}`;
    const at = this.#options.now();
    const known = this.#seen.get(key);
    if (known !== undefined) this.#seen.set(key, { ...known, count: known.count + 1, lastAt: at, runId });
    else if (this.#seen.size < mostKinds) {
      const [type, message] = [error.type.slice(0, longestText), plainMessage(error.message).slice(0, longestText)];
      this.#seen.set(key, { namespaceId, fingerprint, type, message, task, count: 1, firstAt: at, lastAt: at, runId });
    }
  }

  /** Writes what was seen; answers after how long to come again. What could not be written is written the next time. */
  async tick(): Promise<DurationMs> {
    if (this.#seen.size === 0) return flushEveryMs;
    const seen = this.#seen;
    this.#seen = new Map();
    try {
      await this.#options.failures.count([...seen.values()]);
    } catch (error) {
      for (const [key, one] of seen) this.#putBack(key, one);
      throw error;
    }
    return flushEveryMs;
  }

  #putBack(key: string, old: SeenErrors): void {
    const newer = this.#seen.get(key);
    const both = newer === undefined ? old : { ...newer, count: newer.count + old.count, firstAt: old.firstAt };
    this.#seen.set(key, both);
  }
}
