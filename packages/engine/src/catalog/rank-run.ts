import { type DurationMs, type Instant, type QueueOrder, type RankedRun, rankOf } from "@carillon/core";

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
