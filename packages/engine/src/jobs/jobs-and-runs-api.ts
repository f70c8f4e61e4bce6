import type { RunFilter, Store } from "@carillon/store";
import type { InNamespace } from "../context.js";
import type { JobCreator } from "./create-job.js";
import type { JobReader } from "./job-reader.js";
import type { RunLister } from "../runs/run-lister.js";
import type { RunReader } from "../runs/run-reader.js";
import type { RunWaiters } from "../runs/run-waiters.js";
import { searchByLabels } from "../runs/search-by-labels.js";
import { LogReader, type LogReaderOptions } from "../runs/log-reader.js";
import type { EngineApi, JobFilter } from "./engine-api.js";
import type { RunLogs } from "../runs/run-logs.js";

export interface JobsAndRunsOptions extends Pick<LogReaderOptions, "timers" | "clock"> {
  readonly store: Pick<Store, "logs" | "searchPaths">;
  readonly creator: JobCreator;
  readonly jobs: JobReader;
  readonly runs: RunReader;
  readonly lister: RunLister;
  readonly waiters: RunWaiters;
  readonly within: InNamespace;
}

/** The engine as callers see it: names of namespaces in, views out. */
export function jobsAndRunsApi(options: JobsAndRunsOptions): EngineApi & RunLogs {
  const { store, creator, jobs, runs, lister, waiters, within, timers, clock } = options;
  const logs = new LogReader({ logs: store.logs, runs, timers, clock });
  const byLabels = <Filter extends JobFilter | RunFilter>(namespaceId: number, filter: Filter) =>
    searchByLabels(filter, namespaceId, store.searchPaths);
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
    getRun: (namespace, runId) => within(namespace, (id) => runs.find(id, runId)),
    awaitRun: (namespace, runId, request) => within(namespace, (id) => waiters.wait(id, runId, request)),
    listRuns: (namespace, filter, page) =>
      within(namespace, async (id) => lister.list(id, await byLabels(id, filter), page)),
    totalRuns: (namespace, filter, request) =>
      within(namespace, async (id) => lister.total(id, await byLabels(id, filter), request)),
    totalJobs: (namespace, filter, request) =>
      within(namespace, async (id) => jobs.total(id, await byLabels(id, filter), request)),
    readLogs: (namespace, runId, request) => within(namespace, (id) => logs.read(id, runId, request)),
  };
}
