import { type EnqueueSpec, deadlineOf, defaultFiringPolicy, storedLabels } from "@carillon/core";
import type { NewRun } from "@carillon/store";
import type { RankRun } from "../catalog/rank-run.js";
import { shardOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import { refuseLongPast } from "../schedules/past-instant.js";

export type RunPlanContext = Pick<EngineContext, "newId" | "now"> & { readonly shardCount: number };

export interface RunPlace {
  readonly namespaceId: number;
  readonly lane: number;
}

const { catchupWindowMs } = defaultFiringPolicy;

/** The row of a run without a job: a one-off job is that one row. */
export function planRun(
  { namespaceId, lane }: RunPlace,
  spec: EnqueueSpec,
  context: RunPlanContext,
  rank: RankRun,
): NewRun {
  const { task, queue, priority } = spec;
  const now = context.now();
  const runAt = spec.runAt ?? now;
  if (runAt !== now) refuseLongPast({ kind: "at", at: runAt }, {}, { now, catchupWindowMs });
  const id = context.newId();
  const deadline = deadlineOf(spec.policy, runAt);
  return {
    id,
    jobId: id,
    namespaceId,
    shard: shardOf(id, context.shardCount),
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
