import { askedOf, hasLabels, hasVersion, requirementText, type RunPolicy } from "@carillon/core";
import type { SessionKind } from "@carillon/store";

/** Why no worker can take a run, however many slots become free. */
export interface Unserved {
  readonly code:
    | "no_worker_for_task"
    | "no_worker_for_queue"
    | "no_worker_for_version"
    | "no_worker_with_labels"
    | "only_spot_workers"
    | "workers_cordoned";
  /** One sentence for people. */
  readonly detail: string;
  /** A served task whose name is similar, if no worker serves the task. */
  readonly similarTask?: string;
}

/** The workers that can take a run. */
export interface Served {
  readonly workers: number;
  readonly slots: number;
}

/** What decides which workers can take a run. */
export interface RunToServe {
  readonly task: string;
  readonly queue: string;
  readonly policy: Pick<RunPolicy, "requires">;
}

/** Null: some worker can take the run. */
export function whyUnserved(run: RunToServe, kinds: readonly SessionKind[]): Unserved | null {
  const served = whoServes(run, kinds);
  return "code" in served ? served : null;
}

/** Of workers that have the run's task: those that can take it, or the first requirement that none of those left meets. */
export function whoServes({ task, queue, policy }: RunToServe, kinds: readonly SessionKind[]): Served | Unserved {
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
  const active = lasting.filter(({ state }) => state === "active");
  if (active.length > 0) return { workers: sumOf(active, "count"), slots: sumOf(active, "slots") };
  const count = sumOf(lasting, "count");
  const who = count === 1 ? "the worker that" : `all ${count} workers that`;
  return {
    code: "workers_cordoned",
    detail: `${who} could take it ${count === 1 ? "is" : "are"} cordoned or draining`,
  };
}

function sumOf(kinds: readonly SessionKind[], what: "count" | "slots"): number {
  return kinds.reduce((sum, kind) => sum + kind[what], 0);
}
