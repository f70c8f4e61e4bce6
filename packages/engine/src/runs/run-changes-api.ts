import { CarillonError } from "@carillon/core";
import type { RunChangeStore } from "@carillon/store";
import type { InNamespace } from "../context.js";
import type { JobRef } from "../requests.js";
import type { RunChanger } from "./run-changer.js";
import type { RunChanges } from "./run-changes.js";

export interface RunChangesOptions {
  readonly changer: RunChanger;
  readonly jobs: { find(namespaceId: number, ref: JobRef): Promise<{ readonly id: string } | null> };
  readonly stats: Pick<RunChangeStore, "jobStats">;
  readonly within: InNamespace;
}

/** The newest runs of a job that its statistics cover. */
const maxStatsRuns = 1_000;

/** Changes of single runs as callers see them. */
export function runChangesApi({ changer, jobs, stats, within }: RunChangesOptions): RunChanges {
  return {
    cancelRun: (namespace, id) => within(namespace, (namespaceId) => changer.cancel(namespaceId, id)),
    rescheduleRun: (namespace, id, runAt) =>
      within(namespace, (namespaceId) => changer.reschedule(namespaceId, id, runAt)),
    jobStats: (namespace, ref) =>
      within(namespace, async (namespaceId) => {
        const job = await jobs.find(namespaceId, ref);
        if (job === null) throw new CarillonError("not_found", "There is no such job.");
        return stats.jobStats(namespaceId, job.id, maxStatsRuns);
      }),
  };
}
