import type { DurationMs } from "@carillon/core";
import type { ExpectedDuration, TaskOfQueue } from "@carillon/store";
/** How much the newest run counts. */
const weight = 0.1;
/** What differs by less from what was written is not written again. */
const tolerance = 0.1;
/** Tasks that are remembered; further ones count as short. */
const mostTasks = 10_000;

interface Average extends TaskOfQueue {
  ms: DurationMs;
  written: DurationMs | null;
}

/** How long runs of tasks take, as seen by this node and, more seldom, by others. Only an estimate: it may be forgotten. */
export class TaskDurations {
  readonly #averages = new Map<string, Average>();

  expectedMs(namespaceId: number, queue: string, task: string): DurationMs | null {
    return this.#averages.get(keyOf(namespaceId, queue, task))?.ms ?? null;
  }

  /** A run took so long. */
  note({ namespaceId, queue, task }: TaskOfQueue, durationMs: DurationMs): void {
    const key = keyOf(namespaceId, queue, task);
    const known = this.#averages.get(key);
    if (known !== undefined) known.ms += weight * (durationMs - known.ms);
    else if (this.#averages.size < mostTasks)
      this.#averages.set(key, { namespaceId, queue, task, ms: durationMs, written: null });
  }

  /** What is worth writing down; from now on it counts as written. */
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

  /** What all nodes together found. */
  learn(durations: readonly ExpectedDuration[]): void {
    for (const { namespaceId, queue, task, expectedMs } of durations) {
      const key = keyOf(namespaceId, queue, task);
      if (!this.#averages.has(key) && this.#averages.size >= mostTasks) continue;
      this.#averages.set(key, { namespaceId, queue, task, ms: expectedMs, written: expectedMs });
    }
  }
}

const keyOf = (namespaceId: number, queue: string, task: string): string => `${namespaceId} ${queue}\n${task}`;
