import { abortBackfill, backfillJob, getBackfill, listJobBackfills } from "./resources/backfill.js";
import { getBreaker, listBreakers, resetBreaker } from "./resources/breaker.js";
import { abortOperation, bulkRuns, getOperation, listOperations } from "./resources/bulk-operation.js";
import { deleteCalendar, getCalendar, listCalendars, putCalendar } from "./resources/calendar.js";
import { answerCallback } from "./resources/callback.js";
import { getCluster, listClusterShards } from "./resources/cluster.js";
import {
  discardDeadLetter,
  discardDeadLetters,
  getDeadLetter,
  getErrorGroup,
  listDeadLetters,
  listErrorGroups,
  redriveDeadLetters,
} from "./resources/dead-letter.js";
import { streamEvents } from "./resources/event.js";
import { getForecast } from "./resources/forecast.js";
import { createJob, createJobs } from "./resources/job-create.js";
import {
  explainJob,
  getJobStats,
  listJobOccurrences,
  listJobRuns,
  listJobUpcoming,
  listJobVersions,
  previewJob,
} from "./resources/job-history.js";
import { putJob, updateJob } from "./resources/job-patch.js";
import { cancelJob, deleteJob, pauseJob, resumeJob, retryJob, rollbackJob, runJobNow } from "./resources/job-verbs.js";
import { getJob, listJobs } from "./resources/job.js";
import { getLimit, listLimits, resumeLimit, updateLimit } from "./resources/limit.js";
import { getMail, listMails } from "./resources/mail.js";
import { deleteWindow, getWindow, listWindows, putWindow } from "./resources/maintenance-window.js";
import { getDocs, getLivez, getMetrics, getOpenApi, getReadyz, getVersion } from "./resources/meta.js";
import { createNamespace, getNamespace, listNamespaces, updateNamespace } from "./resources/namespace.js";
import {
  getQueue,
  getQueueStats,
  listQueues,
  pauseQueue,
  purgeQueue,
  resumeQueue,
  updateQueue,
} from "./resources/queue.js";
import { createRun, createRuns, importRuns } from "./resources/run-create.js";
import { listRunLogs } from "./resources/run-log.js";
import { replayRun, retryRun } from "./resources/run-retry.js";
import {
  cancelRun,
  explainRun,
  getRun,
  listRunAttempts,
  listRunEvents,
  listRuns,
  rescheduleRun,
} from "./resources/run.js";
import { getTask, listTasks } from "./resources/task.js";
import {
  createWebhook,
  deleteWebhook,
  getCallbackSecret,
  getDelivery,
  getWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  rotateCallbackSecret,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from "./resources/webhook.js";
import { exchangeState } from "./resources/worker-state.js";
import { pollWorker } from "./resources/worker-poll.js";
import { closeWorker, heartbeatWorker, registerWorker, releaseRuns } from "./resources/worker-protocol.js";
import {
  cordonWorker,
  drainWorker,
  getWorker,
  listWorkerRuns,
  listWorkers,
  uncordonWorker,
} from "./resources/worker.js";

/** Every operation of the API by its operationId, in the order in which the documents list them. */
export const operations = {
  createJob,
  listJobs,
  createJobs,
  previewJob,
  getJob,
  putJob,
  updateJob,
  deleteJob,
  cancelJob,
  pauseJob,
  resumeJob,
  rollbackJob,
  runJobNow,
  listJobRuns,
  listJobVersions,
  listJobOccurrences,
  listJobUpcoming,
  getJobStats,
  retryJob,
  explainJob,
  getForecast,
  createRun,
  createRuns,
  importRuns,
  listRuns,
  getRun,
  listRunLogs,
  listRunAttempts,
  listRunEvents,
  cancelRun,
  rescheduleRun,
  bulkRuns,
  listOperations,
  getOperation,
  abortOperation,
  explainRun,
  retryRun,
  replayRun,
  answerCallback,
  listDeadLetters,
  redriveDeadLetters,
  discardDeadLetters,
  getDeadLetter,
  discardDeadLetter,
  listErrorGroups,
  getErrorGroup,
  backfillJob,
  listJobBackfills,
  getBackfill,
  abortBackfill,
  listLimits,
  getLimit,
  updateLimit,
  resumeLimit,
  listQueues,
  getQueue,
  updateQueue,
  pauseQueue,
  resumeQueue,
  purgeQueue,
  getQueueStats,
  listBreakers,
  getBreaker,
  resetBreaker,
  listNamespaces,
  createNamespace,
  getNamespace,
  updateNamespace,
  listCalendars,
  getCalendar,
  putCalendar,
  deleteCalendar,
  listWindows,
  getWindow,
  putWindow,
  deleteWindow,
  streamEvents,
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  getDelivery,
  redeliver,
  getCallbackSecret,
  rotateCallbackSecret,
  listWorkers,
  getWorker,
  listWorkerRuns,
  cordonWorker,
  uncordonWorker,
  drainWorker,
  listTasks,
  getTask,
  getCluster,
  listClusterShards,
  registerWorker,
  pollWorker,
  heartbeatWorker,
  exchangeState,
  releaseRuns,
  closeWorker,
  listMails,
  getMail,
  getLivez,
  getReadyz,
  getMetrics,
  getVersion,
  getOpenApi,
  getDocs,
} as const;

export type OperationId = keyof typeof operations;
