export { type Audit, type Violation, audits, runAudit } from "./audit/audits.js";
export {
  type BackfillRequest,
  type BackfillStep,
  type BackfillStore,
  type BackfillView,
  type DueBackfill,
  type HeldBackfill,
  mostBackfilled,
} from "./backfills/backfill-store.js";
export type { PastCalendar, PastRuns } from "./backfills/past-runs.js";
export type { CalendarLinks, SeenCalendar } from "./calendars/calendar-links.js";
export type { CalendarEdition, CalendarStore, CalendarView, StoredCalendar } from "./calendars/calendar-store.js";
export type { WindowStore, WindowView } from "./calendars/window-store.js";
export type { NamespaceWindows, WindowsInForce } from "./calendars/windows.js";
export type { NodeView, ShardView, TaskView } from "./catalog/catalog-reads.js";
export { type Lane, type LaneKind, type LaneName, type LaneStore, isStrict } from "./catalog/lane-store.js";
export type { KnownNamespace, NamespaceChange, NamespaceStore, NamespaceView } from "./catalog/namespace-store.js";
export type {
  ExpectedDuration,
  KnownQueue,
  NewQueueState,
  QueueLimits,
  QueueName,
  QueuePause,
  QueueStats,
  QueueStore,
  QueueView,
  TaskOfQueue,
} from "./catalog/queue-store.js";
export type { SearchPaths } from "./catalog/search-path-store.js";
export { type StoredPause, readPause } from "./catalog/stored-pause.js";
export type { KnownTask, TaskDefaults, TaskStore } from "./catalog/task-store.js";
export {
  type NodeLockStatements,
  type NodeReport,
  type NodeRow,
  type NodeStore,
  nodeLockStatements,
} from "./cluster/node-store.js";
export type { HeldShard, LineageRow, ShardRow, ShardStore } from "./cluster/shard-store.js";
export type { Random } from "./db/backoff.js";
export { type PgErrorClass, classifyPgError, sqlStateOf } from "./db/classify.js";
export { Coalescer, type CoalescerOptions, type Outcome } from "./db/coalescer.js";
export { DatabaseClock } from "./db/database-clock.js";
export type { Capabilities, Database, DatabaseLoad, Listening } from "./db/database.js";
export type { DatabaseEvent } from "./db/events.js";
export { isFaultOfRows } from "./db/fault-of-rows.js";
export type { Hint } from "./db/notifier.js";
export { openDatabase } from "./db/open-database.js";
export type { DatabaseOptions, Timeouts } from "./db/options.js";
export { jsonParam, timestampParam } from "./db/params.js";
export type { QueryResult, Queryable, SqlText } from "./db/queryable.js";
export { type ServerWarning, serverWarnings } from "./db/server-warnings.js";
export { type WaitOptions, waitForDatabase } from "./db/wait-for-database.js";
export { writeProbe } from "./db/write-probe.js";
export type {
  AwaitedEnd,
  Dependency,
  DependencyStore,
  Neighbour,
  UntoldEnds,
  UpstreamEnd,
} from "./dependencies/dependency-store.js";
export { UpstreamLinks, UpstreamUnknown, namesIn } from "./dependencies/upstream-links.js";
export type { UpstreamReads, UpstreamRun } from "./dependencies/upstream-reads.js";
export type { CallbackSecretView, CallbackSecrets } from "./dispatch/callback-secrets.js";
export type { AwaitingRun, CallbackStore, CalledRun } from "./dispatch/callback-store.js";
export type { ClaimStore, DeferredRun, RetriedRun, StrictClaim, WaitingRun } from "./dispatch/claim-store.js";
export type { ClaimName, ClaimedRun, FinishedRun } from "./dispatch/claimed-run.js";
export { type Demand, type Exchange, type Exchanged, type LaneRead, exchangeOver } from "./dispatch/exchange.js";
export {
  type HandedNotices,
  type HandedPlace,
  type HandedRunStore,
  type Offer,
  offerMs,
} from "./dispatch/handed-runs.js";
export { jsonOrNull } from "./dispatch/parameters.js";
export type {
  DeadSession,
  SessionKind,
  SessionStore,
  WorkerSkills,
  WorkerState,
  WorkerView,
} from "./dispatch/session-store.js";
export type { ExplainReads, RunSurroundings } from "./explain/explain-reads.js";
export type { ForecastJob, ForecastReads } from "./explain/forecast-reads.js";
export { type DayPartitions, dayPartitions } from "./history/day-partitions.js";
export { HistoryDays, mostDaysAtOnce } from "./history/history-days.js";
export type { JobStats } from "./history/job-stats.js";
export { type ListDirection, mostScanned } from "./history/list-direction.js";
export type { JobChangeStore, JobTouch, LedgerPlace, LedgerRow, ReplacedDefinition } from "./jobs/job-change-store.js";
export type { LedgerKey, RetentionSweeps } from "./jobs/job-retention-store.js";
export type { JobRow } from "./jobs/job-row.js";
export type { JobStore, NewJob, StoredJob } from "./jobs/job-store.js";
export type {
  EndedWaiting,
  LedgerEntry,
  MadeJobRun,
  NewJobRun,
  RunEnd,
  RunOverrides,
  SettlementWrites,
} from "./jobs/settlement-writes.js";
export type { DueState, ExpectedDue, LiveRunOfJob, LockedJob, SettlementReads } from "./jobs/settlement.js";
export type {
  BreakerName,
  BreakerState,
  BreakerStore,
  BreakerView,
  OpenBreaker,
  Opening,
} from "./limits/breaker-store.js";
export type { Held, LimitAdmissions, OrderHolder, ReleasedHold } from "./limits/limit-admissions.js";
export type { LaneCursor } from "./limits/limit-counts.js";
export type { ArrivedRun, BlockedRun, LimitIntake, LimitedLane, RefusedRun } from "./limits/limit-intake.js";
export type { KnownOwners, LimitOwner } from "./limits/limit-owners.js";
export type { LimitChange, LimitFilter, LimitReads, WaitingGroup } from "./limits/limit-reads.js";
export { type LimitRow, type NamedLimit, type OwnLimits, type WaitingHead, ownLimitsOf } from "./limits/limit-rows.js";
export type { LimitStore } from "./limits/limit-store.js";
export { dropSchema } from "./migrations/drop-schema.js";
export { type MigrateOptions, type MigrateReport, allMigrations, checkSchema, migrate } from "./migrations/migrate.js";
export type {
  BulkAction,
  BulkTarget,
  NewOperation,
  OperationAction,
  OperationFailure,
  OperationStore,
  OperationView,
  StoredOperation,
} from "./operations/operation-store.js";
export { alikeRuns } from "./runs/alike-runs.js";
export {
  type DedupeAnswer,
  type DedupeStore,
  type DedupedRun,
  type OnReplaced,
  dedupeStore,
} from "./runs/dedupe-store.js";
export { type EndedLate, type EndedRun, type EndedRuns, freedBy, freedJobs } from "./runs/ended-runs.js";
export type {
  DeadLetterFilter,
  ErrorGroupView,
  FailureStore,
  GroupPlace,
  RedriveView,
  SeenErrors,
} from "./runs/failure-store.js";
export type { Fence } from "./runs/fence.js";
export type { NewRun } from "./runs/new-run.js";
export type { Effect, KeptAnswer, KeyUse, KeyedCall, ReceiptStore } from "./runs/receipt-store.js";
export type { RecordSweeps } from "./runs/record-sweeps.js";
export type { EndingOfRuns, RunChangeStore } from "./runs/run-change-store.js";
export type { RunListFilter, TriggerKind } from "./runs/run-filter-params.js";
export type { LinePlace, RunLine, RunLogStore } from "./runs/run-log-store.js";
export type { AttemptRecord, RunProgress, RunReads, RunRow } from "./runs/run-reads.js";
export type { Kept, RunRecords } from "./runs/run-record-store.js";
export { type CountedParts, type RunFilter, type RunSearch, runSearch } from "./runs/run-search.js";
export {
  type DueRun,
  type LostRun,
  type Notice,
  type PromotedRun,
  type Queued,
  type RunStore,
  type StoredRun,
  horizonMs,
  runStore,
} from "./runs/run-store.js";
export {
  type DueDefinition,
  type DueJob,
  type FireRow,
  type Fired,
  type HoldRow,
  type LedgerRange,
  type NextTime,
  type ParkRow,
  type PassRow,
  type Terms,
  fireColumns,
} from "./scheduler/due-store.js";
export { type LaterStore, type MovedRun, type ShardFrom, laterStore } from "./scheduler/later-store.js";
export { loadStatements } from "./sql/load-statements.js";
export type { Statement, Statements } from "./sql/statement.js";
export { type Store, createStore } from "./store.js";
export type {
  RunNotice,
  WebhookSpec,
  WebhookState,
  WebhookStore,
  WebhookTarget,
  WebhookView,
  WebhookWish,
} from "./webhooks/webhook-store.js";
