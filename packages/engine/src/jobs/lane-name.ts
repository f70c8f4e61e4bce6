import type { RunPolicy } from "@carillon/core";
import type { LaneName } from "../store/entities/lanes.js";

/** The lane of a run. One that may be begun at most once is never handed out ahead: who is given it begins it. */
export function laneNameOf(run: {
  readonly queue: string;
  readonly task: string;
  readonly policy: RunPolicy;
}): LaneName {
  const { queue, task, policy } = run;
  return { queue, task, kind: policy.guarantee === "at_most_once" ? "solo" : "plain" };
}
