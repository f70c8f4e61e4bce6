import type { TaskInfo } from "@carillon/contract";
import { renderFields } from "../table.js";

/** One task for people. */
export function renderTask(task: TaskInfo): string {
  const { name, workers, slots, queues, has_jobs: hasJobs, expected_ms: expectedMs, defaults } = task;
  return renderFields([
    ["name", name],
    ["workers", `${workers}, with ${slots} slots`],
    ["queues", queues.length === 0 ? null : queues.join(",")],
    ["jobs", hasJobs ? "yes" : null],
    ...(expectedMs === null ? [] : [["expected", `${Math.round(expectedMs)} ms`] as const]),
    ...Object.entries(defaults ?? {}).map(([field, value]) => [`default ${field}`, value] as const),
  ]);
}
