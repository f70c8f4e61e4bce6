export { type Audit, type Violation, audits, runAudit } from "./audit/audits.js";
export {
  type BackfillRequest,
  type BackfillStep,
  type BackfillStore,
  type BackfillView,
  type DueBackfill,
  type HeldBackfill,
  type PastCalendar,
  type PastRuns,
  maxBackfilled,
} from "./backfills/backfill-store.js";
export type {
  CalendarEdition,
  CalendarLinks,
  CalendarStore,
  CalendarView,
  SeenCalendar,
  StoredCalendar,
} from "./calendars/calendar-store.js";
export type { NamespaceWindows, WindowStore, WindowView, WindowsInForce } from "./calendars/window-store.js";
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
export type { KnownTask, TaskDefaults, TaskStore } from "./catalog/task-store.js";
export {
  type NodeLockStatements,
  type NodeReport,
  type NodeRow,
  type NodeStore,
  nodeLockStatements,
  readClusterLevel,
} from "./cluster/node-store.js";
export type { Fence, HeldShard, OtherTimeline, TimelineRow, ShardRow, ShardStore } from "./cluster/shard-store.js";
export { shardStore } from "./cluster/shard-store.js";
export { Coalescer, type CoalescerOptions, type Outcome } from "./db/coalescer.js";
export { DatabaseClock } from "./db/database-clock.js";
export type { Capabilities, Database, DatabaseLoad, Listening } from "./db/database.js";
export { type PgErrorClass, classifyPgError, isDatabaseAway, isFaultOfRows, sqlStateOf } from "./db/errors.js";
export type { Hint } from "./db/listen-notify.js";
export { pause } from "./db/health.js";
export { type WaitOptions, openDatabase, waitForDatabase, writeProbe } from "./db/open-database.js";
export type { DatabaseEvent, DatabaseOptions, Random, Timeouts } from "./db/options.js";
export { jsonOrNull, jsonParam, timestampParam } from "./db/parameters.js";
export type { QueryResult, Queryable, SqlText } from "./db/queryable.js";
export { type ServerWarning, serverWarnings } from "./db/server-warnings.js";
export type {
  AwaitedEnd,
  Dependency,
  DependencyStore,
  Neighbour,
  PendingEnds,
  UpstreamEnd,
  UpstreamReads,
  UpstreamRun,
} from "./dependencies/dependency-store.js";
export { UpstreamLinks, UpstreamUnknown, namesIn } from "./dependencies/upstream-links.js";
export type { AwaitingRun, CallbackStore, CalledRun } from "./dispatch/callback-store.js";
export type {
  ClaimStore,
  DeferredRun,
  EndedClaims,
  RetriedRun,
  StrictClaim,
  WaitingRun,
} from "./dispatch/claim-store.js";
export {
  type ClaimName,
  type ClaimedRun,
  type Demand,
  type CompleteAndClaim,
  type CompletedAndClaimed,
  type FinishedRun,
  type LaneRead,
  completeAndClaimOver,
} from "./dispatch/complete-and-claim.js";
export {
  type DirectNotices,
  type DirectRunPlace,
  type DirectRunStore,
  type SlotOffer,
  offerLifetimeMs,
} from "./dispatch/direct-run-store.js";
export type {
  DeadSession,
  SessionKind,
  SessionStore,
  WorkerSkills,
  WorkerState,
  WorkerView,
} from "./dispatch/session-store.js";
export type { ExplainReads, ForecastJob, ForecastReads, RunSurroundings } from "./explain/explain-reads.js";
export { type DayPartitions, dayPartitions } from "./history/day-partitions.js";
export { HistoryDays, type ListDirection, type ListPart, maxDaysAtOnce, maxScanned } from "./history/history-days.js";
export type { JobStats } from "./history/job-history.js";
export type { JobChangeStore, JobTouch, LedgerPlace, LedgerRow, ReplacedDefinition } from "./jobs/job-change-store.js";
export type { LedgerKey, RetentionSweeps } from "./jobs/job-retention-store.js";
export type { JobRow, JobStore, NewJob, StoredJob } from "./jobs/job-store.js";
export {
  type DueState,
  type EndedWaiting,
  type ExpectedDue,
  type JobTransactionReads,
  type JobTransactionWrites,
  type LedgerCut,
  type LedgerEntry,
  type LedgerEntryKey,
  type LiveRunOfJob,
  type LockedJob,
  type MadeJobRun,
  type NewJobRun,
  type RunEnd,
  type RunOverrides,
  type StoredPause,
  readPause,
} from "./jobs/job-transaction-store.js";
export type {
  BreakerName,
  BreakerState,
  BreakerStore,
  BreakerView,
  OpenBreaker,
  Opening,
} from "./limits/breaker-store.js";
export type {
  ArrivedRun,
  BlockedRun,
  Held,
  LimitAdmissions,
  LimitIntake,
  LimitedLane,
  OrderHolder,
  RefusedRun,
  ReleasedHold,
} from "./limits/limit-admissions.js";
export type { KnownOwners, LimitOwner } from "./limits/limit-owners.js";
export { type LimitRow, type NamedLimit, type OwnLimits, type WaitingHead, ownLimitsOf } from "./limits/limit-rows.js";
export type {
  LaneCursor,
  LimitChange,
  LimitFilter,
  LimitReads,
  LimitStore,
  WaitingGroup,
} from "./limits/limit-store.js";
export {
  type MigrateOptions,
  type MigrateReport,
  allMigrations,
  checkSchema,
  dropSchema,
  migrate,
} from "./migrations/migrate.js";
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
export {
  type DedupeAnswer,
  type DedupeStore,
  type DedupedRun,
  type OnReplaced,
  dedupeStore,
} from "./runs/dedupe-store.js";
export type {
  DeadLetterFilter,
  ErrorGroupView,
  FailureStore,
  GroupPlace,
  RedriveView,
  SeenErrors,
} from "./runs/failure-store.js";
export type { Effect, KeptAnswer, KeyUse, KeyedCall, ReceiptStore } from "./runs/receipt-store.js";
export type { EndingOfRuns, RunChangeStore } from "./runs/run-change-store.js";
export { clockSlackMs, type RunListFilter, type TriggerKind } from "./runs/run-filter.js";
export type { AttemptRecord, RunProgress, RunReads, RunRow } from "./runs/run-reads.js";
export type { Kept, LinePlace, RecordSweeps, RunLine, RunLogStore, RunRecords } from "./runs/run-record-store.js";
export { type CountedParts, type RunFilter, type RunSearch, runSearch } from "./runs/run-search.js";
export {
  type DueRun,
  type EndedLate,
  type EndedRun,
  type EndedRuns,
  type LostRun,
  type NewRun,
  type Notice,
  type PromotedRun,
  type Queued,
  type RunStore,
  type StoredRun,
  toRunBatch,
  freedBy,
  freedJobs,
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
  type QuarantineRow,
  type PassRow,
  type Terms,
  fireColumns,
} from "./scheduler/due-store.js";
export {
  type FarFutureStore,
  type FarFutureRun,
  type ShardFrom,
  farFutureStore,
} from "./scheduler/far-future-store.js";
export { type Statement, type Statements, loadStatements } from "./sql/statements.js";
export { type Store, createStore } from "./store.js";
export type { CallbackSecretView, CallbackSecrets } from "./webhooks/callback-secret-store.js";
export type {
  RunNotice,
  WebhookSpec,
  WebhookState,
  WebhookStore,
  WebhookTarget,
  WebhookView,
  WebhookWish,
} from "./webhooks/webhook-store.js";
