import { type DurationMs, fingerprintOf, plainMessage } from "@carillon/core";
import type { FailureStore, SeenErrors } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { FailedRun } from "../events.js";

type Context = Pick<EngineContext, "now"> & { readonly store: { readonly failures: Pick<FailureStore, "count"> } };

const flushEveryMs: DurationMs = 2_000;
/** Groups between two writes; errors of further groups are not counted. */
const maxGroups = 1_000;
const maxTextLength = 300;

/**
 * Counts the errors of runs on this node and adds the counts to the error groups every few seconds, so that no run's transaction
 * waits for a row that others write. A node that is killed loses at most the counts of that time; the runs and their errors
 * are in history.
 */
export class ErrorTally {
  readonly #context: Context;
  #seen = new Map<string, SeenErrors>();

  constructor(context: Context) {
    this.#context = context;
  }

  add({ namespaceId, runId, task, error }: FailedRun): void {
    const fingerprint = error.fingerprint ?? fingerprintOf(error);
    const key = `${namespaceId} ${fingerprint} ${task}`;
    const at = this.#context.now();
    const known = this.#seen.get(key);
    if (known !== undefined) this.#seen.set(key, { ...known, count: known.count + 1, lastAt: at, runId });
    else if (this.#seen.size < maxGroups) {
      const [type, message] = [error.type.slice(0, maxTextLength), plainMessage(error.message).slice(0, maxTextLength)];
      this.#seen.set(key, { namespaceId, fingerprint, type, message, task, count: 1, firstAt: at, lastAt: at, runId });
    }
  }

  /** Writes the counts and returns after how long the next tick is due. Counts whose write fails are written by the next tick. */
  async tick(): Promise<DurationMs> {
    if (this.#seen.size === 0) return flushEveryMs;
    const seen = this.#seen;
    this.#seen = new Map();
    try {
      await this.#context.store.failures.count([...seen.values()]);
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
