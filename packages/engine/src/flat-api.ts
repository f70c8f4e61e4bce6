import type { Calendars } from "./calendars/calendars.js";
import type { MaintenanceWindows } from "./calendars/maintenance-windows.js";
import type { Breakers } from "./breakers/breakers.js";
import type { Namespaces } from "./catalog/namespaces.js";
import type { Queues } from "./catalog/queues.js";
import type { Tasks } from "./catalog/tasks.js";
import type { ClusterStatus } from "./cluster/cluster-status.js";
import type { Enqueueing } from "./enqueue/enqueue.js";
import type { Enqueuer } from "./enqueue/enqueuer.js";
import type { Workers } from "./dispatch/sessions/workers.js";
import type { Jobs } from "./jobs/jobs.js";
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

/** Jobs and reads of runs. */
export type EngineApi = JobCalls &
  Pick<RunCalls, "getRun" | "awaitRun" | "listRuns" | "totalRuns"> & {
    /** The id of a namespace in events. Throws not_found. */
    namespaceId(name: string): Promise<number>;
  };

/** Creating and reading jobs. */
export interface JobCalls {
  readonly createJob: Jobs["create"];
  readonly createJobs: Jobs["createMany"];
  readonly getJob: Jobs["get"];
  readonly listJobs: Jobs["list"];
  readonly totalJobs: Jobs["total"];
  readonly jobsOfKeys: Jobs["byKeys"];
}

export interface JobChangeCalls {
  readonly editJob: Jobs["edit"];
  readonly upsertJob: Jobs["upsert"];
  readonly rollbackJob: Jobs["rollback"];
  readonly pauseJob: Jobs["pause"];
  readonly resumeJob: Jobs["resume"];
  readonly countMissed: Jobs["countMissed"];
  readonly cancelJob: Jobs["cancel"];
  readonly runNow: Jobs["runNow"];
  readonly listVersions: Jobs["versions"];
  readonly listOccurrences: Jobs["occurrences"];
  readonly upcoming: Jobs["upcoming"];
}

export interface JobStatsCalls {
  readonly jobStats: Jobs["stats"];
}

export const jobCalls = (jobs: Jobs): JobCalls & JobChangeCalls & JobStatsCalls => ({
  createJob: (...args) => jobs.create(...args),
  createJobs: (...args) => jobs.createMany(...args),
  getJob: (...args) => jobs.get(...args),
  listJobs: (...args) => jobs.list(...args),
  totalJobs: (...args) => jobs.total(...args),
  jobsOfKeys: (...args) => jobs.byKeys(...args),
  editJob: (...args) => jobs.edit(...args),
  upsertJob: (...args) => jobs.upsert(...args),
  rollbackJob: (...args) => jobs.rollback(...args),
  pauseJob: (...args) => jobs.pause(...args),
  resumeJob: (...args) => jobs.resume(...args),
  countMissed: (...args) => jobs.countMissed(...args),
  cancelJob: (...args) => jobs.cancel(...args),
  runNow: (...args) => jobs.runNow(...args),
  listVersions: (...args) => jobs.versions(...args),
  listOccurrences: (...args) => jobs.occurrences(...args),
  upcoming: (...args) => jobs.upcoming(...args),
  jobStats: (...args) => jobs.stats(...args),
});

export interface CalendarCalls {
  readonly putCalendar: Calendars["put"];
  readonly getCalendar: Calendars["get"];
  readonly listCalendars: Calendars["list"];
  readonly deleteCalendar: Calendars["delete"];
  readonly calendarSet: Calendars["set"];
  readonly putWindow: MaintenanceWindows["put"];
  readonly getWindow: MaintenanceWindows["get"];
  readonly listWindows: MaintenanceWindows["list"];
  readonly deleteWindow: MaintenanceWindows["delete"];
}

export const calendarCalls = (calendars: Calendars, windows: MaintenanceWindows): CalendarCalls => ({
  putCalendar: (...args) => calendars.put(...args),
  getCalendar: (...args) => calendars.get(...args),
  listCalendars: (...args) => calendars.list(...args),
  deleteCalendar: (...args) => calendars.delete(...args),
  calendarSet: (...args) => calendars.set(...args),
  putWindow: (...args) => windows.put(...args),
  getWindow: (...args) => windows.get(...args),
  listWindows: (...args) => windows.list(...args),
  deleteWindow: (...args) => windows.delete(...args),
});

export const enqueueCalls = (enqueuer: Enqueuer): Enqueueing => ({
  enqueue: (...args) => enqueuer.enqueue(...args),
  enqueueShown: (...args) => enqueuer.enqueueAndRead(...args),
  enqueueIn: (...args) => enqueuer.enqueueIn(...args),
  enqueueMany: (...args) => enqueuer.enqueueMany(...args),
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

export type RunChanges = Pick<RunCalls, "cancelRun" | "rescheduleRun"> & JobStatsCalls;
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
