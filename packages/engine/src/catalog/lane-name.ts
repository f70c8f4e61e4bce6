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
 * The lane of a run. An at-most-once run has a lane that is never claimed ahead: the worker that gets the run starts it. Runs of a strict
 * queue have lanes of their own; whether a queue is strict never changes, so a node that knows the queue cannot be wrong. Runs with limits
 * wait in a gated lane, which no gateway claims from, until they are admitted.
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

/** Refuses names that Carillon reserves, and limits that cannot be evaluated for a run of this definition. */
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
  const detail = `The queue ${JSON.stringify(queue)} is strict: it runs one run at a time, in order, and takes no other limits. Use another queue.`;
  throw new CarillonError("limit_invalid", detail);
}

/** Runs with these names do Carillon's own work, so callers cannot create them. */
function refuseOwnName(pointer: string, name: string): void {
  if (!name.startsWith("carillon:")) return;
  const detail = `${JSON.stringify(name)} begins with carillon:, which is reserved. Use another name.`;
  throw new CarillonError("field_invalid", `${pointer}: ${detail}`, {
    items: [{ pointer, code: "field_invalid", detail }],
  });
}
