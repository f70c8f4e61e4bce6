import { type DurationMs, noteLimits } from "@carillon/core";
import { NonRetryableError, SnoozeError } from "./errors.js";
import { checkName, keptJson } from "./kept-value.js";
import type { RunNotes } from "./run-notes.js";
import type { Work } from "./task.js";

/** While another run is at what is to be done once, this one comes back after so long. */
const busyMs: DurationMs = 5_000;

/** Parts of a run that are done at most once more after they were recorded. Calls of the same name share one outcome. */
export class Memo {
  readonly #notes: RunNotes;
  /** Nobody had the run before: nothing can be kept of it. */
  readonly #isFirst: boolean;
  readonly #steps = new Map<string, Promise<unknown>>();
  readonly #onces = new Map<string, Promise<unknown>>();

  constructor(notes: RunNotes, isFirst: boolean) {
    this.#notes = notes;
    this.#isFirst = isFirst;
  }

  async step(name: string, work: Work<unknown>): Promise<unknown> {
    checkName("the name of a step", name);
    if (!this.#steps.has(name) && this.#steps.size >= noteLimits.steps) {
      throw new NonRetryableError(`a run may have ${noteLimits.steps} steps`);
    }
    return shared(this.#steps, name, () => this.#step(name, work));
  }

  async once(key: string, work: Work<unknown>, keepMs: DurationMs): Promise<unknown> {
    checkName("the key of a once", key);
    if (!(keepMs > 0 && keepMs <= noteLimits.maxOnceKeepMs)) {
      throw new NonRetryableError(`the result of a once is kept for up to ${noteLimits.maxOnceKeepMs} ms`);
    }
    return shared(this.#onces, key, () => this.#once(key, work, keepMs));
  }

  async #step(name: string, work: Work<unknown>): Promise<unknown> {
    if (!this.#isFirst) {
      const known = await this.#notes.ask({ kind: "step_load", name });
      if (known.kind === "value") return JSON.parse(known.valueJson);
    }
    const result = await work();
    const valueJson = keptJson(`the result of the step ${JSON.stringify(name)}`, result);
    await this.#notes.ask({ kind: "step", name, valueJson });
    return JSON.parse(valueJson);
  }

  async #once(key: string, work: Work<unknown>, keepMs: DurationMs): Promise<unknown> {
    const begun = await this.#notes.ask({ kind: "once_begin", key, keepMs });
    if (begun.kind === "value") return JSON.parse(begun.valueJson);
    if (begun.kind === "busy") throw new SnoozeError(busyMs, `another run is at ${JSON.stringify(key)}`);
    const result = await work();
    const valueJson = keptJson(`the result of ${JSON.stringify(key)}`, result);
    await this.#notes.ask({ kind: "once_end", key, valueJson });
    return JSON.parse(valueJson);
  }
}

/** One that failed may be tried again. */
function shared(known: Map<string, Promise<unknown>>, name: string, begin: () => Promise<unknown>): Promise<unknown> {
  const twin = known.get(name);
  if (twin !== undefined) return twin;
  const outcome = begin();
  known.set(name, outcome);
  outcome.catch(() => known.delete(name));
  return outcome;
}
