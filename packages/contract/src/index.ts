export {
  anyNamePattern,
  backfillLimits,
  keyPattern,
  limits,
  maxKeys,
  namePattern,
  namespaceNameLength,
  plainNameLength,
  plainNamePattern,
  workerLimits,
} from "./bounds.js";
export { checkValue } from "./check/check-value.js";
export { Findings } from "./check/findings.js";
export { checkJsonValue } from "./check/read-body.js";
export { queryInstant } from "./fields.js";
export { type Json, openApiDocument } from "./openapi/document.js";
export {
  type Alias,
  type Answer,
  type AnswerOf,
  type BodyOf,
  commonErrors,
  errorsOf,
  type Operation,
  type ParamsOf,
  type Permission,
  type QueryOf,
  type QuotaClass,
  quotaClasses,
  quotaClassOf,
  type RateClass,
  isWrite,
  takesIdempotencyKey,
} from "./operation.js";
export { type OperationId, operations } from "./operations.js";
export type { PageQuery } from "./paging.js";
export {
  type Backfill,
  type BackfillCount,
  type BackfillList,
  type BackfillRequest,
  type JobBackfill,
  readBackfill,
} from "./resources/backfill.js";
export type { Mail, MailList, MailSummary } from "./resources/mail.js";
export type { Breaker, BreakerList, BreakerRequest } from "./resources/breaker.js";
export {
  type BulkCount,
  type BulkFilter,
  type BulkOperation,
  type BulkRequest,
  type OperationList,
  readBulk,
  type RunBulk,
} from "./resources/bulk-operation.js";
export { type Calendar, type CalendarList, type CalendarPut, readCalendarPut } from "./resources/calendar.js";
export { readCallback } from "./resources/callback.js";
export type { Cluster, ClusterShards } from "./resources/cluster.js";
export {
  type DeadLetterAction,
  type DeadLetterActionDone,
  type DeadLetterActionRequest,
  type DeadLetterList,
  type DeadLetterQuery,
  type DeadLetterResult,
  type ErrorGroup,
  type ErrorGroupList,
  type ErrorGroupQuery,
  readDeadLetterAction,
  readDeadLetterQuery,
  type RunWithRedrives,
} from "./resources/dead-letter.js";
export type { Callback, RefuseTarget } from "./resources/end-callback.js";
export type { Event, EventQuery, EventReset, EventType } from "./resources/event.js";
export type { Forecast, ForecastQuery } from "./resources/forecast.js";
export {
  type BatchResult,
  type JobBatch,
  type JobBatchCreated,
  type JobCreate,
  type JobPreviewRequest,
  type JobRequest,
  normaliseJobRequest,
  readJobBatch,
} from "./resources/job-create.js";
export { plainDefinition, plainRequest } from "./resources/job-definition.js";
export type {
  JobExplanation,
  JobPreview,
  JobRunListQuery,
  JobStats,
  JobVersion,
  JobVersionList,
  OccurrenceList,
  Occurrences,
  Upcoming,
  UpcomingFire,
  UpcomingQuery,
} from "./resources/job-history.js";
export { type ApplyJobPatch, type JobPatch, readJobPatch, refuseOtherKey } from "./resources/job-patch.js";
export type { Schedule, ScheduleRequest } from "./resources/job-schedule.js";
export {
  type JobCancel,
  type JobDeleteQuery,
  type JobPause,
  type JobResume,
  type JobResumed,
  type JobRollback,
  type JobRunNow,
  type PauseRequest,
  readCancel,
  readPause,
  readResume,
  readRollback,
  readRunNow,
  type ResumeRequest,
  type RunNowRequest,
} from "./resources/job-verbs.js";
export type { Job, JobDefinition, JobList, JobListQuery, JobStatus } from "./resources/job.js";
export {
  type Limit,
  type LimitChange,
  type LimitList,
  type LimitPatch,
  type LimitQuery,
  readLimitPatch,
} from "./resources/limit.js";
export { readWindowPut, type Window, type WindowList, type WindowPut } from "./resources/maintenance-window.js";
export type { Alive, Readiness, Version } from "./resources/meta.js";
export {
  type Namespace,
  type NamespaceCreate,
  type NamespaceList,
  type NamespacePatch,
  readNamespaceCreate,
  readNamespacePatch,
} from "./resources/namespace.js";
export { errorCodes, type Finding, Problem } from "./resources/problem.js";
export {
  type Queue,
  type QueueChange,
  type QueueList,
  type QueueListQuery,
  type QueuePatch,
  type QueuePauseRequest,
  type QueuePurged,
  type QueuePurgeRequest,
  type QueueStats,
  readQueuePatch,
  readQueuePause,
  readQueuePurge,
} from "./resources/queue.js";
export type { CheckPayload, DefaultsOf, RequestContext, TaskDefaults } from "./resources/request-context.js";
export {
  readRunBatch,
  readRunCreate,
  refuseUnsoundPayload,
  type RunBatch,
  type RunBatchCreated,
  type RunBatchResult,
  type RunCreate,
  type RunCreated,
  type RunImportLine,
  type RunImportSummary,
} from "./resources/run-create.js";
export type { RunLog, RunLogLine, RunLogQuery } from "./resources/run-log.js";
export { type Retry, type RetryRequest, slaRequest } from "./resources/run-policy.js";
export { readRunRepeat, type RunRepeat, type RunRepeatRequest, type RunRetried } from "./resources/run-retry.js";
export {
  readReschedule,
  type Run,
  type RunAttempts,
  type RunError,
  type RunEvents,
  type RunExplanation,
  type RunList,
  type RunListQuery,
  type RunReschedule,
  type RunStatus,
  type RunSummary,
  type WaitingOn,
} from "./resources/run.js";
export {
  addressRewrites,
  answerSpellings,
  bodyHints,
  type BodySpelling,
  bodySpellings,
  historyLength,
  inOtherSpelling,
  type JobInOtherSpelling,
  ownAddress,
  type PathSpelling,
  pathSpellings,
  priorityWords,
  queryHints,
  querySpellings,
} from "./spellings/table.js";
export { hasOtherSpelling, hintForParameter, inOurSpelling, translateQuery } from "./spellings/translate.js";
export type { TaskInfo, TaskInfoList } from "./resources/task.js";
export type { Warning } from "./resources/warning.js";
export {
  type CallbackSecret,
  type CallbackSecretMade,
  type Delivery,
  type DeliveryList,
  readWebhookCreate,
  readWebhookPatch,
  readWebhookRotate,
  type Webhook,
  type WebhookCreate,
  type WebhookList,
  type WebhookPatch,
  type WebhookRotate,
  type WebhookWithSecret,
} from "./resources/webhook.js";
export { readStateRequests, type StateRequest, type WorkerStateAnswer } from "./resources/worker-state.js";
export {
  type PollBody,
  readPoll,
  type WorkerPoll,
  type WorkerPollAnswer,
  type WorkerResult,
} from "./resources/worker-poll.js";
export {
  type HeartbeatBody,
  type HeldRun,
  readHeartbeat,
  readRegistration,
  readRelease,
  type WorkerHeartbeatAnswer,
  type WorkerHeartbeat,
  type WorkerRegister,
  type WorkerRegistered,
  type WorkerRelease,
} from "./resources/worker-protocol.js";
export {
  readWorkerDrain,
  type Worker,
  type WorkerDrain,
  type WorkerList,
  type WorkerListQuery,
} from "./resources/worker.js";
