import {
  CarillonError,
  checkLimits,
  isLimited,
  keyedLimits,
  type QueueOrder,
  requirementText,
  type RunPolicy,
} from "@carillon/core";
import type { LaneName, LaneStore } from "@carillon/store";
import type { QueueCache } from "./queues.js";

interface LaneSpec {
  readonly queue: string;
  readonly task: string;
  readonly policy: RunPolicy;
}

/**
 * The lane of a run. An at-most-once run has a lane that is never claimed ahead: the worker that gets the run starts it. Runs of a strict
 * queue have lanes of their own; whether a queue is strict never changes, so a node that knows the queue cannot be wrong. Runs with limits
 * wait in a gated lane, which no gateway claims from, until they are admitted.
 */
export function laneNameOf(run: LaneSpec, order: QueueOrder | null): LaneName {
  const { queue, task, policy } = run;
  const requires = requirementText(policy.requires);
  const isOnce = policy.guarantee === "at_most_once";
  if (order?.kind === "strict") return { queue, task, kind: isOnce ? "strict_once" : "strict", requires };
  if (isLimited(policy)) return { queue, task, kind: "gated", requires };
  return { queue, task, kind: isOnce ? "solo" : "plain", requires };
}

/** Refuses names that Carillon reserves, and limits that cannot be evaluated for a run of this definition. */
export function refuseUnusable(
  run: LaneSpec & {
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

export interface LaneSources {
  readonly lanes: Pick<LaneStore, "ensure">;
  readonly queues: Pick<QueueCache, "ensure" | "orderOf">;
}

/** Creates the queues and lanes of new jobs or runs that do not exist yet; returns the lane of each spec. */
export async function ensureLanes(
  { lanes, queues }: LaneSources,
  namespaceId: number,
  specs: readonly LaneSpec[],
): Promise<readonly number[]> {
  const firsts = specs.filter((spec, index) => !sharesLane(spec, specs[index - 1]));
  await queues.ensure(
    namespaceId,
    firsts.map((spec) => spec.queue),
  );
  const ids = await lanes.ensure(firsts.map((spec) => laneNameOf(spec, queues.orderOf(namespaceId, spec.queue))));
  let at = -1;
  return specs.map((spec) => {
    if (spec === firsts[at + 1]) at++;
    return ids[at] ?? 0;
  });
}

/** The specs of one call mostly differ only in the payload, so their lane is looked up once. */
function sharesLane(spec: LaneSpec, before: LaneSpec | undefined): boolean {
  return spec.task === before?.task && spec.queue === before.queue && spec.policy === before.policy;
}
