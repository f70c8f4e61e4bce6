import { type DurationMs, type Instant, type QueueOrder, type RankedRun, rankOf } from "@carillon/core";

/** What the place of a run in its queue depends on. */
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

/** As in a queue of which nothing else was said. */
export const rankByPriority: RankRun = ({ dueMs, priority }) => rankOf({ dueMs, priority });

export interface RankSources {
  /** null: the usual order. */
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
