import { askedOf, hasLabels, hasVersion, requirementText } from "@carillon/core";
import type { RunToServe, Unserved } from "../model/workers.js";
import type { SessionKind } from "../store/entities/sessions.js";

/** Of workers that have the run's task: the first thing that none of those left has. Null: one can take the run. */
export function whyUnserved({ task, queue, policy }: RunToServe, kinds: readonly SessionKind[]): Unserved | null {
  const { labels, version, allowsSpot } = askedOf(policy.requires);
  if (kinds.length === 0) return { code: "no_worker_for_task", detail: `no worker serves task ${task}` };
  const there = kinds.filter(({ queues }) => queues.includes(queue) || queues.includes("*"));
  if (there.length === 0)
    return { code: "no_worker_for_queue", detail: `no worker that has task ${task} serves queue ${queue}` };
  const able = there.filter((kind) => hasVersion(kind, task, version));
  if (able.length === 0)
    return { code: "no_worker_for_version", detail: `no worker has version ${version} of task ${task}` };
  const labelled = able.filter((kind) => hasLabels(kind, labels));
  if (labelled.length === 0) {
    const wanted = requirementText(labels).replaceAll("\n", ", ");
    return { code: "no_worker_with_labels", detail: `no worker that has task ${task} has the labels ${wanted}` };
  }
  const lasting = labelled.filter((kind) => allowsSpot || kind.isSpot !== true);
  if (lasting.length === 0) {
    const detail = `task ${task} has only spot workers, which the run does not allow`;
    return { code: "only_spot_workers", detail };
  }
  if (lasting.some(({ state }) => state === "active")) return null;
  const count = lasting.reduce((sum, kind) => sum + kind.count, 0);
  const who = count === 1 ? "the worker that" : `all ${count} workers that`;
  return {
    code: "workers_cordoned",
    detail: `${who} could take it ${count === 1 ? "is" : "are"} cordoned or draining`,
  };
}
