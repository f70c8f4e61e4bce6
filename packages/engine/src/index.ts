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
export type {
  DueJob,
  Fired,
  FireRow,
  FireStore,
  HoldRow,
  LedgerRange,
  ParkRow,
  PassRow,
  Terms,
} from "./scheduler/fire-store.js";
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
  RunFilter,
  Total,
  TotalRequest,
  WaitRequest,
} from "./model/api.js";
export type { EnqueuedRun, Enqueueing, TransactionQuery } from "./model/enqueueing.js";
export type { BegunCall, Effect, KeptAnswer, KeyedCall, OwnCall, Receipt, Receipts } from "./model/receipts.js";
export type { Catalogue, ClusterView, NodeView, ShardView, TaskDefaults, TaskView } from "./model/catalogue.js";
export type { Breakers, BreakerState, BreakerView } from "./model/breakers.js";
export type { NamespaceChange, Namespaces, NamespaceView } from "./model/namespaces.js";
export type { LimitChange, LimitFilter, Limits, LimitView, ListedLimit, RunLimitsView } from "./model/limits.js";
export type {
  BulkAction,
  BulkCount,
  BulkRequest,
  BulkTarget,
  OperationFailure,
  Operations,
  OperationView,
} from "./model/operations.js";
export type { JobStats, RunChanges } from "./model/run-changes.js";
export type {
  QueueChange,
  QueueLimits,
  QueuePause,
  QueuePauseSpec,
  Queues,
  QueueStats,
  QueueView,
} from "./model/queues.js";
export type { BackfillRequest, Backfills, BackfillView } from "./model/backfills.js";
export type {
  DeadLetterFilter,
  ErrorGroupView,
  Failures,
  RedriveResult,
  RedriveView,
  RepeatRequest,
} from "./model/failures.js";
export type { Callbacks, CallbackTaken } from "./model/callbacks.js";
export type { Calendars, CalendarView, WindowView } from "./model/calendars.js";
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
export type { RunToServe, Unserved, Workers, WorkerState, WorkerView } from "./model/workers.js";
export type {
  CallbackSecretView,
  WebhookChange,
  WebhookDelivery,
  WebhookMessage,
  Webhooks,
  WebhookSpec,
  WebhookTarget,
  WebhookView,
} from "./model/webhooks.js";
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
export type { Neighbour } from "./store/entities/dependencies.js";
export type { LinePlace, LogPage, LogRequest, RunLine, RunLogs } from "./model/run-logs.js";
export type { AttemptRecord, RunProgress, RunView, TriggerKind } from "./model/run-view.js";
export { classifyPgError, sqlStateOf, type PgErrorClass } from "./store/db/classify.js";
export type { Capabilities, Database, DatabaseLoad, Listening } from "./store/db/database.js";
export type { DatabaseClock } from "./store/db/database-clock.js";
export type { DatabaseEvent } from "./store/db/events.js";
export { openDatabase } from "./store/db/open-database.js";
export type { DatabaseOptions, Timeouts } from "./store/db/options.js";
export type { QueryResult, Queryable, SqlText } from "./store/db/queryable.js";
export { serverWarnings, type ServerWarning } from "./store/db/server-warnings.js";
export { waitForDatabase, type WaitOptions } from "./store/db/wait-for-database.js";
export { writeProbe } from "./store/write-probe.js";
export type { Fence } from "./store/entities/fence.js";
export type { DueRun } from "./store/entities/runs.js";
export type { DueState } from "./store/entities/settlement.js";
export { type Audit, audits, runAudit, type Violation } from "./store/entities/audits.js";
export { dropSchema } from "./store/migrate/drop-schema.js";
export {
  allMigrations,
  checkSchema,
  migrate,
  type MigrateOptions,
  type MigrateReport,
} from "./store/migrate/migrate.js";
export { loadStatements } from "./store/sql/load-statements.js";
export type { Statement, Statements } from "./store/sql/statement.js";
export { loadHolidays } from "./calendar/holidays-date-holidays.js";
export { IMPORT_LIMITS, importICalendar, type ImportedDates, type ImportOptions } from "./calendar/icalendar.js";
