export { Gateway } from "./dispatch/gateway.js";
export { SessionLost } from "./dispatch/sessions/worker-session.js";
export type { Assigned, ClaimName, WorkerRegistration } from "./dispatch/sessions/worker-registration.js";
export type { Heartbeat, PollAnswer, PollRequest, RemoteRegistration } from "./dispatch/remote/remote-workers.js";
export type { NamespaceGuard } from "./dispatch/remote/namespace-guard.js";
export { etcdStatus, type EtcdStatus } from "./cluster/etcd/etcd-client.js";
export type { Coordinator, ShardChange } from "./cluster/shards.js";
export { Engine, type EngineLoad } from "./engine.js";
export { EngineHost, live } from "./engine-host.js";
export type { EngineLimits, EngineOptions, EtcdOptions } from "./options.js";
export type { DiagnosticEvent, EngineEvent, OnEngineEvent } from "./events.js";
export type { FireStore } from "./schedules/fire-store.js";
export { type VirtualRun, VirtualSchedule, type VirtualScheduleOptions } from "./scheduler/memory/virtual-schedule.js";
export { checkConditions } from "./dependencies/conditions.js";
export { type JobFilter, jobStatus, type JobView } from "./jobs/job-reader.js";
export type { CreatedJob } from "./jobs/job-requests.js";
export type { EnqueuedRun } from "./enqueue/run-enqueuer.js";
export type { BegunCall, IdempotencyKeys, OwnCall } from "./enqueue/idempotency/idempotency-keys.js";
export { supportedLevel } from "./cluster/cluster-level.js";
export { readClusterLevel } from "@carillon/store";
export type { ClusterStatus, ClusterView } from "./cluster/cluster-membership.js";
export type { Backfills } from "./backfills/backfills.js";
export type { Breakers } from "./breakers/breakers.js";
export type { Calendars } from "./calendars/calendars.js";
export type { MaintenanceWindows } from "./calendars/maintenance-windows.js";
export type { Namespaces } from "./catalog/namespaces.js";
export type { Tasks } from "./catalog/tasks.js";
export type { Workers } from "./dispatch/sessions/workers.js";
export type { Enqueuer, TransactionQuery } from "./enqueue/enqueuer.js";
export type { Explanations } from "./explain/explanations.js";
export type { Forecasts } from "./forecast/forecasts.js";
export type { Jobs } from "./jobs/jobs.js";
export type { Runs } from "./runs/runs.js";
export type { CallbackSecrets, WebhookChange, Webhooks } from "./webhooks/webhooks.js";
export type { LimitView, Limits, ListedLimit, RunLimitsView } from "./limits/limits.js";
export type { BulkCount, BulkRequest, Operations } from "./operations/operations.js";
export type { QueueChange, QueuePauseSpec, Queues } from "./catalog/queues.js";
export type { DeadLetters, RedriveResult } from "./dead-letters/dead-letters.js";
export type { RepeatRequest } from "./dead-letters/run-repeater.js";
export type { CallbackTaken, WaitingRuns } from "./dispatch/results/waiting-runs.js";
export type {
  CancelRequest,
  JobVersionView,
  OccurrenceView,
  PauseRequest,
  Resumed,
  ResumeRequest,
  RunNowRequest,
} from "./jobs/job-requests.js";
export type { RunToServe, Unserved } from "./dispatch/sessions/why-unserved.js";
export type { WebhookDelivery, WebhookMessage } from "./webhooks/message.js";
export type { Explanation, JobExplanation, JobWaitCode, RunExplanation, RunWaitCode } from "./explain/explanation.js";
export type { CrowdedSecond, Forecast, JitterProposal } from "./forecast/count-fires.js";
export type { Neighbour, RunFilter } from "@carillon/store";
export type { LogPage, LogRequest } from "./runs/run-logs.js";
export { type Attempt, attemptsOf, firstStartOf } from "./runs/attempts.js";
export type { RunView } from "./runs/run-reader.js";
export { classifyPgError, isDatabaseAway, sqlStateOf, type PgErrorClass } from "@carillon/store";
export type { Capabilities, Database, DatabaseLoad, Listening } from "@carillon/store";
export type { DatabaseClock } from "@carillon/store";
export type { DatabaseEvent } from "@carillon/store";
export { openDatabase } from "@carillon/store";
export type { DatabaseOptions, Timeouts } from "@carillon/store";
export type { QueryResult, Queryable, SqlText } from "@carillon/store";
export { serverWarnings, type ServerWarning } from "@carillon/store";
export { waitForDatabase, type WaitOptions } from "@carillon/store";
export { writeProbe } from "@carillon/store";
export type { Fence } from "@carillon/store";
export type { DueRun } from "@carillon/store";
export type { DueState } from "@carillon/store";
export { type Audit, audits, runAudit, type Violation } from "@carillon/store";
export { dropSchema } from "@carillon/store";
export { allMigrations, checkSchema, migrate, type MigrateOptions, type MigrateReport } from "@carillon/store";
export { loadStatements } from "@carillon/store";
export type { Statement, Statements } from "@carillon/store";
export { loadHolidays } from "./calendars/public-holidays.js";
export { IMPORT_LIMITS, importICalendar, type ImportedDates, type ImportOptions } from "./calendars/icalendar.js";
export type {
  BackfillRequest,
  BackfillView,
  BreakerState,
  BreakerView,
  CalendarView,
  WindowView,
  TaskDefaults,
  TaskView,
  NodeView,
  ShardView,
  DeadLetterFilter,
  RedriveView,
  ErrorGroupView,
  LimitFilter,
  LimitChange,
  NamespaceView,
  NamespaceChange,
  BulkAction,
  BulkTarget,
  OperationFailure,
  OperationView,
  QueuePause,
  QueueLimits,
  QueueView,
  QueueStats,
  Effect,
  KeptAnswer,
  KeyedCall,
  JobStats,
  LinePlace,
  RunLine,
  TriggerKind,
  AttemptRecord,
  RunProgress,
  WebhookSpec,
  WebhookView,
  WebhookTarget,
  CallbackSecretView,
  WorkerState,
  WorkerView,
  DueJob,
  LedgerRange,
  FireRow,
  PassRow,
  HoldRow,
  QuarantineRow,
  Fired,
  Terms,
} from "@carillon/store";
export type {
  JobRef,
  Page,
  PageRequest,
  Total,
  TotalRequest,
  WaitRequest,
  ChangeContext,
  Receipt,
} from "./requests.js";
export type { Membership } from "./context.js";
