import { CarillonError } from "@carillon/core";
import type { Store } from "@carillon/store";
import type { InNamespace } from "../context.js";
import { searchByLabels } from "../runs/run-lister.js";
import type { JobCreator } from "./create-job.js";
import type { EngineApi, JobFilter, JobStatsApi } from "./engine-api.js";
import type { JobReader } from "./job-reader.js";

type JobApi = Omit<EngineApi, "getRun" | "awaitRun" | "listRuns" | "totalRuns"> & JobStatsApi;

export interface JobsAndRunsOptions {
  readonly store: Pick<Store, "searchPaths" | "runChanges">;
  readonly creator: JobCreator;
  readonly jobs: JobReader;
  readonly within: InNamespace;
}

/** The newest runs of a job that its statistics cover. */
const maxStatsRuns = 1_000;

/** The engine as callers see it: names of namespaces in, views out. */
export function jobsAndRunsApi({ store, creator, jobs, within }: JobsAndRunsOptions): JobApi {
  const byLabels = (namespaceId: number, filter: JobFilter) => searchByLabels(filter, namespaceId, store.searchPaths);
  return {
    namespaceId: (namespace) => within(namespace, async (id) => id),
    createJob: (namespace, spec, receipt) =>
      within(namespace, async (id) => {
        const jobId = await creator.create(id, spec, receipt);
        const job = await jobs.find(id, { id: jobId });
        if (job === null) throw new Error(`job ${jobId} was stored and cannot be found`);
        return job;
      }),
    createJobs: (namespace, specs, receipt) => within(namespace, (id) => creator.createMany(id, specs, receipt)),
    getJob: (namespace, ref) => within(namespace, (id) => jobs.find(id, ref)),
    listJobs: (namespace, filter, page) =>
      within(namespace, async (id) => jobs.list(id, await byLabels(id, filter), page)),
    jobsOfKeys: (namespace, keys) => within(namespace, (id) => jobs.ofKeys(id, keys)),
    totalJobs: (namespace, filter, request) =>
      within(namespace, async (id) => jobs.total(id, await byLabels(id, filter), request)),
    jobStats: (namespace, ref) =>
      within(namespace, async (namespaceId) => {
        const job = await jobs.find(namespaceId, ref);
        if (job === null) throw new CarillonError("not_found", "There is no such job.");
        return store.runChanges.jobStats(namespaceId, job.id, maxStatsRuns);
      }),
  };
}
