import { CarillonError } from "@carillon/core";
import type { JobCreator } from "../jobs/create-job.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunLister } from "../runs/run-lister.js";
import { RunReader } from "../runs/run-reader.js";
import type { RunWaiters } from "../runs/run-waiters.js";
import { searchByLabels } from "../runs/search-by-labels.js";
import { LogReader, type LogReaderOptions } from "../runs/log-reader.js";
import type { EngineApi, JobFilter } from "../jobs/engine-api.js";
import type { RunLogs } from "../runs/run-logs.js";
import type { NamespaceStore, RunFilter } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";

export type WithinNamespace = <Result>(name: string, work: (id: number) => Promise<Result>) => Promise<Result>;

export function withinNamespace(namespaces: Pick<NamespaceStore, "find">): WithinNamespace {
  return async (name, work) => {
    const id = await namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
    return work(id);
  };
}

interface ApiPorts extends Pick<LogReaderOptions, "timers" | "clock"> {
  readonly waiters: RunWaiters;
}

/** The engine as callers see it: names of namespaces in, views out. */
export function engineApi(store: EngineStore, creator: JobCreator, ports: ApiPorts): EngineApi & RunLogs {
  const runs = new RunReader(store.reads);
  const lister = new RunLister(store.search, runs);
  const jobs = new JobReader(store.jobs, runs, lister);
  const logs = new LogReader({ logs: store.logs, runs, timers: ports.timers, clock: ports.clock });
  const within = withinNamespace(store.namespaces);
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
    awaitRun: (namespace, runId, request) => within(namespace, (id) => ports.waiters.wait(id, runId, request)),
    listRuns: (namespace, filter, page) =>
      within(namespace, async (id) => lister.list(id, await byLabels(id, filter), page)),
    totalRuns: (namespace, filter, request) =>
      within(namespace, async (id) => lister.total(id, await byLabels(id, filter), request)),
    totalJobs: (namespace, filter, request) =>
      within(namespace, async (id) => jobs.total(id, await byLabels(id, filter), request)),
    readLogs: (namespace, runId, request) => within(namespace, (id) => logs.read(id, runId, request)),
  };
}
