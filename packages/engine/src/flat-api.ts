import type { Breakers } from "./breakers/breakers.js";
import type { Namespaces } from "./catalog/namespaces.js";
import type { Queues } from "./catalog/queues.js";
import type { Tasks } from "./catalog/tasks.js";
import type { ClusterStatus } from "./cluster/cluster-status.js";
import type { Workers } from "./dispatch/sessions/workers.js";
import type { JobStatsApi } from "./jobs/engine-api.js";
import type { Limits } from "./limits/limits.js";
import type { Runs } from "./runs/runs.js";

// The calls of the noun classes under the flat names by which server and SDK still call them.

export interface QueueCalls {
  readonly listQueues: Queues["list"];
  readonly getQueue: Queues["get"];
  readonly changeQueue: Queues["change"];
  readonly pauseQueue: Queues["pause"];
  readonly resumeQueue: Queues["resume"];
  readonly queueStats: Queues["stats"];
  readonly manyQueueStats: Queues["statsOfMany"];
}

export const queueCalls = (queues: Queues): QueueCalls => ({
  listQueues: (...args) => queues.list(...args),
  getQueue: (...args) => queues.get(...args),
  changeQueue: (...args) => queues.change(...args),
  pauseQueue: (...args) => queues.pause(...args),
  resumeQueue: (...args) => queues.resume(...args),
  queueStats: (...args) => queues.stats(...args),
  manyQueueStats: (...args) => queues.statsOfMany(...args),
});

export interface NamespaceCalls {
  readonly listNamespaces: Namespaces["list"];
  readonly getNamespace: Namespaces["get"];
  readonly createNamespace: Namespaces["create"];
  readonly changeNamespace: Namespaces["change"];
}

export const namespaceCalls = (namespaces: Namespaces): NamespaceCalls => ({
  listNamespaces: (...args) => namespaces.list(...args),
  getNamespace: (...args) => namespaces.get(...args),
  createNamespace: (...args) => namespaces.create(...args),
  changeNamespace: (...args) => namespaces.change(...args),
});

export interface TaskCalls {
  readonly listTasks: Tasks["list"];
  readonly getTask: Tasks["get"];
  readonly defaultsOf: Tasks["defaultsOf"];
  readonly cluster: ClusterStatus["get"];
}

export const taskCalls = (tasks: Tasks, cluster: ClusterStatus): TaskCalls => ({
  listTasks: (...args) => tasks.list(...args),
  getTask: (...args) => tasks.get(...args),
  defaultsOf: (...args) => tasks.defaultsOf(...args),
  cluster: () => cluster.get(),
});

export interface WorkerCalls {
  readonly listWorkers: Workers["list"];
  readonly getWorker: Workers["get"];
  readonly askWorker: Workers["requestState"];
  readonly whyUnserved: Workers["whyUnserved"];
}

export const workerCalls = (workers: Workers): WorkerCalls => ({
  listWorkers: (...args) => workers.list(...args),
  getWorker: (...args) => workers.get(...args),
  askWorker: (...args) => workers.requestState(...args),
  whyUnserved: (...args) => workers.whyUnserved(...args),
});

export interface RunCalls {
  readonly getRun: Runs["get"];
  readonly awaitRun: Runs["wait"];
  readonly listRuns: Runs["list"];
  readonly totalRuns: Runs["total"];
  readonly cancelRun: Runs["cancel"];
  readonly rescheduleRun: Runs["reschedule"];
  readonly readLogs: Runs["logs"];
}

export type RunChanges = Pick<RunCalls, "cancelRun" | "rescheduleRun"> & JobStatsApi;
export type RunLogs = Pick<RunCalls, "readLogs">;

export const runCalls = (runs: Runs): RunCalls => ({
  getRun: (...args) => runs.get(...args),
  awaitRun: (...args) => runs.wait(...args),
  listRuns: (...args) => runs.list(...args),
  totalRuns: (...args) => runs.total(...args),
  cancelRun: (...args) => runs.cancel(...args),
  rescheduleRun: (...args) => runs.reschedule(...args),
  readLogs: (...args) => runs.logs(...args),
});

export interface LimitCalls {
  readonly listLimits: Limits["list"];
  readonly getLimit: Limits["get"];
  readonly changeLimit: Limits["change"];
  readonly resumeLimit: Limits["resume"];
  readonly limitsOf: Limits["ofRun"];
}

export const limitCalls = (limits: Limits): LimitCalls => ({
  listLimits: (...args) => limits.list(...args),
  getLimit: (...args) => limits.get(...args),
  changeLimit: (...args) => limits.change(...args),
  resumeLimit: (...args) => limits.resume(...args),
  limitsOf: (...args) => limits.ofRun(...args),
});

export interface BreakerCalls {
  readonly listBreakers: Breakers["list"];
  readonly getBreaker: Breakers["get"];
  readonly resetBreaker: Breakers["reset"];
}

export const breakerCalls = (breakers: Breakers): BreakerCalls => ({
  listBreakers: (...args) => breakers.list(...args),
  getBreaker: (...args) => breakers.get(...args),
  resetBreaker: (...args) => breakers.reset(...args),
});
