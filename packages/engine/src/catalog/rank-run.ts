import { type DurationMs, type Instant, type QueueOrder, type RankedRun, rankOf } from "@carillon/core";
import type { ExpectedDuration, TaskOfQueue } from "@carillon/store";

/** The properties of a run that decide its place in its queue. */
export interface RunToRank {
  readonly namespaceId: number;
  readonly queue: string;
  readonly task: string;
  readonly dueMs: Instant;
  readonly priority: number;
  readonly deadlineMs?: Instant | undefined;
}

/** The rank of a run that is about to be queued. */
export type RankRun = (run: RunToRank) => number;

/** The rank in a queue with the default order. */
export const rankByPriority: RankRun = ({ dueMs, priority }) => rankOf({ dueMs, priority });

export interface RankSources {
  /** null: the default order. */
  readonly orderOf: (namespaceId: number, queue: string) => QueueOrder | null;
  readonly expectedMs: (namespaceId: number, queue: string, task: string) => DurationMs | null;
}

/** Ranks runs by the order of their queues, as this node knows them. */
export function rankRunBy({ orderOf, expectedMs }: RankSources): RankRun {
  return (run) => {
    const order = orderOf(run.namespaceId, run.queue);
    if (order === null) return rankByPriority(run);
    const { dueMs, priority, deadlineMs } = run;
    const ranked: RankedRun = { dueMs, priority };
    if (order.kind === "edf" && deadlineMs !== undefined) return rankOf({ ...ranked, deadlineMs }, order);
    if (order.kind !== "sjf") return rankOf(ranked, order);
    const expected = expectedMs(run.namespaceId, run.queue, run.task);
    return rankOf(expected === null ? ranked : { ...ranked, expectedMs: expected }, order);
  };
}

/** The class in which due jobs of a priority are read and fired: 0 is the first. */
export function priorityClass(priority: number): 0 | 1 | 2 {
  if (priority >= 7) return 0;
  return priority >= 3 ? 1 : 2;
}

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
