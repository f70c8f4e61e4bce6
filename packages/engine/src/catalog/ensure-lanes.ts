import type { RunPolicy } from "@carillon/core";
import type { LaneStore } from "@carillon/store";
import { laneNameOf } from "./lane-name.js";
import type { QueueCache } from "./queues.js";

interface LaneSpec {
  readonly queue: string;
  readonly task: string;
  readonly policy: RunPolicy;
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
