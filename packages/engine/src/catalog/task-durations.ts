import type { DurationMs } from "@carillon/core";
import type { ExpectedDuration, TaskOfQueue } from "@carillon/store";

/** The weight of the newest run in the average. */
const weight = 0.1;
/** An average that differs by less than this share from its written value is not written again. */
const tolerance = 0.1;
/** The number of tasks whose durations are kept. Runs of other tasks count as short. */
const maxTasks = 10_000;

interface Average extends TaskOfQueue {
  ms: DurationMs;
  written: DurationMs | null;
}

/** The average durations of tasks: of runs on this node at once, of runs on other nodes every minute. Only an estimate, which may be lost. */
export class TaskDurations {
  readonly #averages = new Map<string, Average>();

  expectedMs(namespaceId: number, queue: string, task: string): DurationMs | null {
    return this.#averages.get(keyOf(namespaceId, queue, task))?.ms ?? null;
  }

  /** Adds the duration of one run. */
  note({ namespaceId, queue, task }: TaskOfQueue, durationMs: DurationMs): void {
    const key = keyOf(namespaceId, queue, task);
    const known = this.#averages.get(key);
    if (known !== undefined) known.ms += weight * (durationMs - known.ms);
    else if (this.#averages.size < maxTasks)
      this.#averages.set(key, { namespaceId, queue, task, ms: durationMs, written: null });
  }

  /** Returns the averages that have changed enough to be written, and marks them as written. */
  takeChanged(): ExpectedDuration[] {
    const changed: ExpectedDuration[] = [];
    for (const average of this.#averages.values()) {
      const { ms, written, namespaceId, queue, task } = average;
      if (written !== null && Math.abs(ms - written) <= tolerance * Math.max(written, 1)) continue;
      average.written = ms;
      changed.push({ namespaceId, queue, task, expectedMs: ms });
    }
    return changed;
  }

  /** Takes over the averages of all nodes. */
  learn(durations: readonly ExpectedDuration[]): void {
    for (const { namespaceId, queue, task, expectedMs } of durations) {
      const key = keyOf(namespaceId, queue, task);
      if (!this.#averages.has(key) && this.#averages.size >= maxTasks) continue;
      this.#averages.set(key, { namespaceId, queue, task, ms: expectedMs, written: expectedMs });
    }
  }
}

const keyOf = (namespaceId: number, queue: string, task: string): string => `${namespaceId} ${queue}\n${task}`;
