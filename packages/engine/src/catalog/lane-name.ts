import {
  CarillonError,
  checkLimits,
  isLimited,
  keyedLimits,
  type QueueOrder,
  requirementText,
  type RunPolicy,
} from "@carillon/core";
import type { LaneName } from "@carillon/store";

/**
 * The lane of a run. One that may be begun at most once is never handed out ahead: who is given it begins it. Runs of a strict
 * queue lie apart from others; whether a queue is strict never changes, so a node that knows the queue is sure of it. Runs with
 * limits lie where nobody is served from, until they are admitted.
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
  if (isLimited(policy)) return { queue, task, kind: "gated", requires };
  return { queue, task, kind: isOnce ? "solo" : "plain", requires };
}

/** Refuses names that are the product's own, and limits that no run of this definition could ever be held to. */
export function refuseUnusable(
  run: {
    readonly queue: string;
    readonly task: string;
    readonly policy: RunPolicy;
    readonly payload: unknown;
    /** Manual and dependent jobs may get a payload per run, so template values are checked at run time, not here. */
    readonly hasRunPayload?: boolean;
  },
  order: QueueOrder | null,
): void {
  const { queue, task, policy, payload } = run;
  refuseOwnName("/task", task);
  refuseOwnName("/queue", queue);
  if (!isLimited(policy)) return;
  checkLimits(policy);
  if (run.hasRunPayload !== true) keyedLimits(policy, { task, jobId: null, payload });
  if (order?.kind !== "strict") return;
  const detail = `the queue ${JSON.stringify(queue)} is strict: it has one run at a time, in order, and takes no other limits; use another queue`;
  throw new CarillonError("limit_invalid", detail);
}

/** Runs under these names do the product's own work: nobody else may ask for it. */
function refuseOwnName(pointer: string, name: string): void {
  if (!name.startsWith("carillon:")) return;
  const detail = `${JSON.stringify(name)} begins with carillon:, as the product's own names do; take another`;
  throw new CarillonError("field_invalid", `${pointer}: ${detail}`, {
    items: [{ pointer, code: "field_invalid", detail }],
  });
}
