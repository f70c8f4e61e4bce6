import { deadlineOf, type DurationMs, type EnqueueSpec, type Instant, storedLabels } from "@carillon/core";
import { refuseLongPast } from "../schedules/past-instant.js";
import { shardOf } from "../catalog/shard-of.js";
import type { RankRun } from "../catalog/rank-run.js";
import type { NewRun } from "@carillon/store";

export interface RunPlanner {
  readonly rank: RankRun;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly shards: number;
  readonly catchupWindowMs: DurationMs;
}

export interface RunPlace {
  readonly namespaceId: number;
  readonly lane: number;
}

/** A run that stands alone is a one-off job, one row. */
export function planRun({ namespaceId, lane }: RunPlace, spec: EnqueueSpec, planner: RunPlanner): NewRun {
  const { newId, shards, catchupWindowMs, rank } = planner;
  const { task, queue, priority } = spec;
  const now = planner.now();
  const runAt = spec.runAt ?? now;
  if (runAt !== now) refuseLongPast({ kind: "at", at: runAt }, {}, { now, catchupWindowMs });
  const id = newId();
  const deadline = deadlineOf(spec.policy, runAt);
  return {
    id,
    jobId: id,
    namespaceId,
    shard: shardOf(id, shards),
    lane,
    priority,
    rank: rank({ namespaceId, queue, task, dueMs: runAt, priority, deadlineMs: deadline ?? undefined }),
    runAt,
    nominal: runAt,
    trigger: "once",
    task,
    queue,
    payload: spec.payload,
    policy: spec.policy,
    labels: storedLabels(spec),
    owner: spec.owner ?? null,
    deadline,
  };
}
