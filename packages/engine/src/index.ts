export { Gateway } from "./dispatch/gateway.js";
export { SessionLost } from "./dispatch/session-lost.js";
export type { WorkerRegistration } from "./dispatch/worker-registration.js";
export type { Assigned } from "./dispatch/assignment-of.js";
export type { ClaimName, PollAnswer, PollRequest, RemoteRegistration, SignOfLife } from "./dispatch/remote/protocol.js";
export type { WorkerDoor } from "./dispatch/remote/worker-door.js";
export { etcdStatus, type EtcdStatus } from "./coordinator/etcd/etcd-status.js";
export type { Coordinator, Membership, ShardChange } from "./coordinator/port.js";
export { createEngine } from "./node/engine.js";
export type { Engine, EngineLimits, EngineLoad, EngineOptions, EtcdOptions } from "./node/options.js";
export type { ClassName, EngineEvent, JobChange, OnEngineEvent } from "./events.js";
export type { FireStore } from "./scheduler/fire-store.js";
export { type VirtualRun, VirtualSchedule, type VirtualScheduleOptions } from "./scheduler/memory/virtual-schedule.js";
export { checkConditions } from "./after/conditions.js";
export { jobStatus } from "./jobs/job-status.js";
export type {
  CreatedJob,
  EngineApi,
  JobFilter,
  JobRef,
  Page,
  PageRequest,
  Total,
  TotalRequest,
  WaitRequest,
} from "./model/api.js";
export type { EnqueuedRun, Enqueueing, TransactionQuery } from "./model/enqueueing.js";
export type { BegunCall, OwnCall, Receipt, Receipts } from "./model/receipts.js";
export type { Catalogue, ClusterView } from "./model/catalogue.js";
export type { Breakers } from "./model/breakers.js";
export type { Namespaces } from "./model/namespaces.js";
export type { Limits, LimitView, ListedLimit, RunLimitsView } from "./model/limits.js";
export type { BulkCount, BulkRequest, Operations } from "./model/operations.js";
export type { RunChanges } from "./model/run-changes.js";
export type { QueueChange, QueuePauseSpec, Queues } from "./model/queues.js";
export type { Backfills } from "./model/backfills.js";
export type { Failures, RedriveResult, RepeatRequest } from "./model/failures.js";
export type { Callbacks, CallbackTaken } from "./model/callbacks.js";
export type { Calendars } from "./model/calendars.js";
export type {
  CancelRequest,
  ChangeContext,
  JobChanges,
  JobVersionView,
  OccurrenceView,
  PauseRequest,
  Resumed,
  ResumeRequest,
  RunNowRequest,
} from "./model/job-changes.js";
export type { RunToServe, Unserved, Workers } from "./model/workers.js";
export type { WebhookChange, WebhookDelivery, WebhookMessage, Webhooks } from "./model/webhooks.js";
export type {
  Explanation,
  Explanations,
  JobExplanation,
  JobWaitCode,
  RunExplanation,
  RunWaitCode,
} from "./model/explanations.js";
export type { CrowdedSecond, Forecast, Forecasts, JitterProposal } from "./model/forecasts.js";
export type { JobView } from "./model/job-view.js";
export type { Neighbour, RunFilter } from "@carillon/store";
export type { LogPage, LogRequest, RunLogs } from "./model/run-logs.js";
export type { RunView } from "./model/run-view.js";
export { classifyPgError, sqlStateOf, type PgErrorClass } from "@carillon/store";
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
export { loadHolidays } from "./calendar/holidays-date-holidays.js";
export { IMPORT_LIMITS, importICalendar, type ImportedDates, type ImportOptions } from "./calendar/icalendar.js";
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
  ParkRow,
  Fired,
  Terms,
} from "@carillon/store";
