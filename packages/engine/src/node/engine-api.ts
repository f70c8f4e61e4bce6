import { CarillonError } from "@carillon/core";
import type { JobCreator } from "../jobs/create-job.js";
import { JobReader } from "../jobs/job-reader.js";
import { RunReader } from "../jobs/run-reader.js";
import { LogReader, type LogReaderOptions } from "../jobs/log-reader.js";
import type { EngineApi } from "../model/api.js";
import type { RunLogs } from "../model/run-logs.js";
import type { NamespaceStore } from "../store/entities/namespaces.js";
import type { Store } from "../store/store.js";

export type WithinNamespace = <Result>(name: string, work: (id: number) => Promise<Result>) => Promise<Result>;

export function withinNamespace(namespaces: Pick<NamespaceStore, "find">): WithinNamespace {
  return async (name, work) => {
    const id = await namespaces.find(name);
    if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
    return work(id);
  };
}

type LogPorts = Pick<LogReaderOptions, "timers" | "clock">;

/** The engine as callers see it: names of namespaces in, views out. */
export function engineApi(store: Store, creator: JobCreator, ports: LogPorts): EngineApi & RunLogs {
  const runs = new RunReader(store.reads);
  const jobs = new JobReader(store.jobs, runs);
  const logs = new LogReader({ logs: store.logs, runs, timers: ports.timers, clock: ports.clock });
  const within = withinNamespace(store.namespaces);
  return {
    createJob: (namespace, spec) =>
      within(namespace, async (id) => {
        const jobId = await creator.create(id, spec);
        const job = await jobs.find(id, { id: jobId });
        if (job === null) throw new Error(`job ${jobId} was stored and cannot be found`);
        return job;
      }),
    createJobs: (namespace, specs) => within(namespace, (id) => creator.createMany(id, specs)),
    getJob: (namespace, ref) => within(namespace, (id) => jobs.find(id, ref)),
    listJobs: (namespace, filter, page) => within(namespace, (id) => jobs.list(id, filter, page)),
    getRun: (namespace, runId) => within(namespace, (id) => runs.find(id, runId)),
    listRuns: (namespace, filter, page) => within(namespace, (id) => runs.list(id, filter, page)),
    readLogs: (namespace, runId, request) => within(namespace, (id) => logs.read(id, runId, request)),
  };
}
