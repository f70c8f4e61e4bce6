import { abortBackfill, backfillJob, getBackfill, listJobBackfills } from "./backfills.js";
import {
  deleteCalendar,
  deleteWindow,
  getCalendar,
  getWindow,
  listCalendars,
  listWindows,
  putCalendar,
  putWindow,
} from "./calendars.js";
import {
  discardDeadLetter,
  discardDeadLetters,
  getDeadLetter,
  getErrorGroup,
  listDeadLetters,
  listErrorGroups,
  redriveDeadLetters,
  replayRun,
  retryRun,
} from "./dead-letters.js";
import { streamEvents } from "./events.js";
import { abortOperation, bulkRuns, getOperation, listOperations } from "./bulk.js";
import { answerCallback } from "./callbacks.js";
import { explainJob, explainRun, getForecast } from "./explanations.js";
import { createJobs } from "./job-batch.js";
import { cancelJob, deleteJob, pauseJob, putJob, resumeJob, rollbackJob, updateJob } from "./job-changes.js";
import { listJobOccurrences, listJobUpcoming, listJobVersions, previewJob } from "./job-history.js";
import { listJobRuns, runJobNow } from "./job-runs.js";
import { createJob, getJob, listJobs } from "./jobs.js";
import { getDocs, getLivez, getMetrics, getOpenApi, getReadyz, getVersion } from "./meta.js";
import { createNamespace, getNamespace, listNamespaces, updateNamespace } from "./namespaces.js";
import { cancelRun, getJobStats, listRunAttempts, listRunEvents, rescheduleRun, retryJob } from "./run-changes.js";
import { createRun, createRuns, getRun, listRunLogs, listRuns } from "./runs.js";
import { closeWorker, heartbeatWorker, noteRuns, pollWorker, registerWorker, releaseRuns } from "./worker-protocol.js";
import { getLimit, listLimits, resumeLimit, updateLimit } from "./limits.js";
import { getQueue, getQueueStats, listQueues, pauseQueue, purgeQueue, resumeQueue, updateQueue } from "./queues.js";
import { cordonWorker, drainWorker, getWorker, listWorkerRuns, listWorkers, uncordonWorker } from "./workers.js";

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
  listWorkers,
  getWorker,
  listWorkerRuns,
  cordonWorker,
  uncordonWorker,
  drainWorker,
  registerWorker,
  pollWorker,
  heartbeatWorker,
  noteRuns,
  releaseRuns,
  closeWorker,
  getLivez,
  getReadyz,
  getMetrics,
  getVersion,
  getOpenApi,
  getDocs,
} as const;

export type OperationId = keyof typeof operations;
