export { checkValue } from "./check/check-value.js";
export { Findings } from "./check/findings.js";
export { checkJsonValue } from "./check/json-value.js";
export { type BackfillRequest, readBackfill } from "./normalise/backfill.js";
export type { CheckPayload } from "./normalise/check-payload.js";
export { readCallback } from "./normalise/callback.js";
export {
  type DeadLetterActionRequest,
  readDeadLetterAction,
  readDeadLetterQuery,
  readRunRepeat,
  type RunRepeatRequest,
} from "./normalise/dead-letter.js";
export { type BulkFilter, type BulkRequest, readBulk } from "./normalise/bulk.js";
export { readReschedule } from "./normalise/run-reschedule.js";
export { readCalendarPut } from "./normalise/calendar.js";
export { readWindowPut } from "./normalise/window.js";
export { readNamespaceCreate, readNamespacePatch } from "./normalise/namespace.js";
export { type LimitChange, readLimitPatch } from "./normalise/limit.js";
export { type QueueChange, readQueuePatch, readQueuePause, readQueuePurge } from "./normalise/queue.js";
export {
  type HeartbeatBody,
  type PollBody,
  readHeartbeat,
  readPoll,
  readRegistration,
  readRelease,
  readWorkerDrain,
} from "./normalise/worker-protocol.js";
export type { DefaultsOf } from "./normalise/task-defaults.js";
export { queryInstant } from "./normalise/query-instant.js";
export { readNotes } from "./normalise/worker-notes.js";
export { readJobBatch } from "./normalise/job-batch.js";
export { type ApplyJobPatch, readJobPatch, refuseOtherKey } from "./normalise/job-patch.js";
export { plainDefinition, plainRequest } from "./normalise/plain-definition.js";
export { slaRequest } from "./normalise/request-of-job.js";
export { isForeignRequest, type JobRequest, type Moment, normaliseJobRequest } from "./normalise/job-request.js";
export {
  type PauseRequest,
  readCancel,
  readPause,
  readResume,
  readRollback,
  readRunNow,
  type ResumeRequest,
  type RunNowRequest,
} from "./normalise/job-verbs.js";
export { readRunBatch, readRunCreate, refuseUnsoundPayload } from "./normalise/run-create.js";
export { openApiDocument } from "./openapi/document.js";
export { apiSurface, breachesOf } from "./openapi/surface.js";
export type { Json } from "./openapi/schema-components.js";
export {
  type Answer,
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
  takesKey,
} from "./operations/operation.js";
export { type OperationId, operations } from "./operations/operations.js";
export type { Backfill, BackfillCount, BackfillList, JobBackfill } from "./schema/backfill.js";
export type { BulkCount, BulkOperation, OperationList, RunBulk } from "./schema/bulk.js";
export type { JobStats, RunAttempts, RunEvents, RunReschedule } from "./schema/run-course.js";
export type { Calendar, CalendarList, CalendarPut } from "./schema/calendar.js";
export type { Breaker, BreakerList, BreakerRequest } from "./schema/breaker.js";
export type { Namespace, NamespaceCreate, NamespaceList, NamespacePatch } from "./schema/namespace.js";
export type { Limit, LimitList, LimitPatch, LimitQuery } from "./schema/limit.js";
export type {
  Queue,
  QueueList,
  QueueListQuery,
  QueuePatch,
  QueuePauseRequest,
  QueuePurged,
  QueuePurgeRequest,
  QueueStats,
} from "./schema/queue.js";
export type {
  DeadLetterAction,
  DeadLetterActionDone,
  DeadLetterList,
  DeadLetterQuery,
  DeadLetterResult,
  ErrorGroup,
  ErrorGroupList,
  ErrorGroupQuery,
  RunRepeat,
  RunRetried,
  RunWithRedrives,
} from "./schema/dead-letter.js";
export type { Window, WindowList, WindowPut } from "./schema/window.js";
export { type Event, type EventQuery, type EventReset, type EventType, eventTypes } from "./schema/event.js";
export type { RefuseTarget } from "./normalise/end-callback.js";
export { readWebhookCreate, readWebhookPatch, readWebhookRotate } from "./normalise/webhook.js";
export type { Callback } from "./schema/end-callback.js";
export type { Cluster, ClusterShards, TaskInfo, TaskInfoList } from "./schema/catalogue.js";
export type { TaskDefaults } from "./schema/task-defaults.js";
export type {
  CallbackSecret,
  CallbackSecretMade,
  Delivery,
  DeliveryList,
  Webhook,
  WebhookCreate,
  WebhookList,
  WebhookPatch,
  WebhookRotate,
  WebhookWithSecret,
} from "./schema/webhook.js";
export type { Alive, Readiness, Version } from "./schema/health.js";
export type { BatchResult, JobBatch, JobBatchCreated } from "./schema/job-batch.js";
export type { JobCreate } from "./schema/job-create.js";
export type {
  JobPreview,
  JobVersion,
  JobVersionList,
  OccurrenceList,
  Occurrences,
  PageQuery,
  Upcoming,
  UpcomingFire,
  UpcomingQuery,
} from "./schema/job-history.js";
export type { JobPatch } from "./schema/job-patch.js";
export type {
  JobCancel,
  JobDeleteQuery,
  JobPause,
  JobResume,
  JobResumed,
  JobRollback,
  JobRunNow,
} from "./schema/job-verbs.js";
export type { Job, JobDefinition, JobStatus, JobWarning } from "./schema/job.js";
export {
  backfillLimits,
  keyPattern,
  mostKeys,
  limits,
  anyNamePattern,
  namePattern,
  namespaceNameLength,
  plainNameLength,
  plainNamePattern,
  workerLimits,
} from "./schema/limits.js";
export type { JobList, JobListQuery, JobRunListQuery, RunList, RunListQuery } from "./schema/page.js";
export { errorCodes, type Finding, Problem } from "./schema/problem.js";
export type { Retry, RetryRequest } from "./schema/retry.js";
export type { RunBatch, RunBatchCreated, RunBatchResult, RunCreate, RunCreated } from "./schema/run-create.js";
export type { Forecast, ForecastQuery } from "./schema/forecast.js";
export type { JobExplanation, RunExplanation } from "./schema/explanation.js";
export type { Run, RunError, RunStatus, RunSummary, WaitingOn } from "./schema/run.js";
export type { Schedule, ScheduleRequest } from "./schema/schedule.js";
export type {
  HeldRun,
  WorkerHeard,
  WorkerHeartbeat,
  WorkerPoll,
  WorkerPolled,
  WorkerRegister,
  WorkerRegistered,
  WorkerRelease,
  WorkerResult,
} from "./schema/worker-protocol.js";
export type { RunLog, RunLogLine, RunLogQuery } from "./schema/run-log.js";
export type { WorkerNote, WorkerNoted } from "./schema/worker-notes.js";
export type { Worker, WorkerDrain, WorkerList, WorkerListQuery } from "./schema/worker.js";
