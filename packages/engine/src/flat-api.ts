import type { Backfills } from "./backfills/backfills.js";
import type { DeadLetters } from "./dead-letters/dead-letters.js";
import type { Explanations } from "./explain/explanations.js";
import type { Forecasts } from "./forecast/forecasts.js";
import type { Operations } from "./operations/operations.js";
import type { CallbackSecrets } from "./webhooks/callback-secrets.js";
import type { Webhooks } from "./webhooks/webhooks.js";
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

export interface BackfillCalls {
  readonly countBackfill: Backfills["count"];
  readonly startBackfill: Backfills["start"];
  readonly getBackfill: Backfills["get"];
  readonly listBackfills: Backfills["list"];
  readonly abortBackfill: Backfills["abort"];
}

export const backfillCalls = (backfills: Backfills): BackfillCalls => ({
  countBackfill: (...args) => backfills.count(...args),
  startBackfill: (...args) => backfills.start(...args),
  getBackfill: (...args) => backfills.get(...args),
  listBackfills: (...args) => backfills.list(...args),
  abortBackfill: (...args) => backfills.abort(...args),
});

export interface ExplanationCalls {
  readonly explainRun: Explanations["run"];
  readonly explain: Explanations["runView"];
  readonly explainJob: Explanations["job"];
}

export const explanationCalls = (explanations: Explanations): ExplanationCalls => ({
  explainRun: (...args) => explanations.run(...args),
  explain: (...args) => explanations.runView(...args),
  explainJob: (...args) => explanations.job(...args),
});

export interface ForecastCalls {
  readonly forecast: Forecasts["get"];
  readonly firesAt: Forecasts["firesAt"];
}

export const forecastCalls = (forecasts: Forecasts): ForecastCalls => ({
  forecast: (...args) => forecasts.get(...args),
  firesAt: (...args) => forecasts.firesAt(...args),
});

export interface OperationCalls {
  readonly startBulk: Operations["start"];
  readonly countBulk: Operations["count"];
  readonly purgeQueue: Operations["purgeQueue"];
  readonly countPurge: Operations["countPurge"];
  readonly getOperation: Operations["get"];
  readonly listOperations: Operations["list"];
  readonly abortOperation: Operations["abort"];
}

export const operationCalls = (operations: Operations): OperationCalls => ({
  startBulk: (...args) => operations.start(...args),
  countBulk: (...args) => operations.count(...args),
  purgeQueue: (...args) => operations.purgeQueue(...args),
  countPurge: (...args) => operations.countPurge(...args),
  getOperation: (...args) => operations.get(...args),
  listOperations: (...args) => operations.list(...args),
  abortOperation: (...args) => operations.abort(...args),
});

export interface DeadLetterCalls {
  readonly listDeadLetters: DeadLetters["list"];
  readonly redrivesOf: DeadLetters["redrivesOf"];
  readonly redrive: DeadLetters["redrive"];
  readonly discard: DeadLetters["discard"];
  readonly discardRun: DeadLetters["discardRun"];
  readonly retryRun: DeadLetters["retryRun"];
  readonly replayRun: DeadLetters["replayRun"];
  readonly listErrorGroups: DeadLetters["listErrorGroups"];
  readonly getErrorGroup: DeadLetters["getErrorGroup"];
}

export const deadLetterCalls = (deadLetters: DeadLetters): DeadLetterCalls => ({
  listDeadLetters: (...args) => deadLetters.list(...args),
  redrivesOf: (...args) => deadLetters.redrivesOf(...args),
  redrive: (...args) => deadLetters.redrive(...args),
  discard: (...args) => deadLetters.discard(...args),
  discardRun: (...args) => deadLetters.discardRun(...args),
  retryRun: (...args) => deadLetters.retryRun(...args),
  replayRun: (...args) => deadLetters.replayRun(...args),
  listErrorGroups: (...args) => deadLetters.listErrorGroups(...args),
  getErrorGroup: (...args) => deadLetters.getErrorGroup(...args),
});

export interface WebhookCalls {
  readonly createWebhook: Webhooks["create"];
  readonly getWebhook: Webhooks["get"];
  readonly listWebhooks: Webhooks["list"];
  readonly changeWebhook: Webhooks["change"];
  readonly rotateWebhookSecret: Webhooks["rotateSecret"];
  readonly deleteWebhook: Webhooks["delete"];
  readonly testWebhook: Webhooks["test"];
  readonly listDeliveries: Webhooks["deliveries"];
  readonly getDelivery: Webhooks["getDelivery"];
  readonly redeliver: Webhooks["redeliver"];
  readonly webhookTarget: Webhooks["target"];
  readonly noteDelivery: Webhooks["noteDelivery"];
  readonly getCallbackSecret: CallbackSecrets["get"];
  readonly rotateCallbackSecret: CallbackSecrets["rotate"];
  readonly callbackSecrets: CallbackSecrets["signing"];
}

export const webhookCalls = (webhooks: Webhooks, secrets: CallbackSecrets): WebhookCalls => ({
  createWebhook: (...args) => webhooks.create(...args),
  getWebhook: (...args) => webhooks.get(...args),
  listWebhooks: (...args) => webhooks.list(...args),
  changeWebhook: (...args) => webhooks.change(...args),
  rotateWebhookSecret: (...args) => webhooks.rotateSecret(...args),
  deleteWebhook: (...args) => webhooks.delete(...args),
  testWebhook: (...args) => webhooks.test(...args),
  listDeliveries: (...args) => webhooks.deliveries(...args),
  getDelivery: (...args) => webhooks.getDelivery(...args),
  redeliver: (...args) => webhooks.redeliver(...args),
  webhookTarget: (...args) => webhooks.target(...args),
  noteDelivery: (...args) => webhooks.noteDelivery(...args),
  getCallbackSecret: (...args) => secrets.get(...args),
  rotateCallbackSecret: (...args) => secrets.rotate(...args),
  callbackSecrets: (...args) => secrets.signing(...args),
});
