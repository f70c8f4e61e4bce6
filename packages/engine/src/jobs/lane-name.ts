import { type QueueOrder, requirementText, type RunPolicy } from "@carillon/core";
import type { LaneName } from "../store/entities/lanes.js";

/**
 * The lane of a run. One that may be begun at most once is never handed out ahead: who is given it begins it. Runs of a strict
 * queue lie apart from others; whether a queue is strict never changes, so a node that knows the queue is sure of it.
 */
export function laneNameOf(
  run: {
    readonly queue: string;
    readonly task: string;
    readonly policy: RunPolicy;
  },
  order: QueueOrder | null,
): LaneName {
  const { queue, task, policy } = run;
  const requires = requirementText(policy.requires);
  const isOnce = policy.guarantee === "at_most_once";
  if (order?.kind === "strict") return { queue, task, kind: isOnce ? "strict_once" : "strict", requires };
  return { queue, task, kind: isOnce ? "solo" : "plain", requires };
}
