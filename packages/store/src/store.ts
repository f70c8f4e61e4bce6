import { type BackfillStore, type PastRuns, backfillStore, pastRuns } from "./backfills/backfill-store.js";
import { type CalendarLinks, type CalendarStore, calendarLinks, calendarStore } from "./calendars/calendar-store.js";
import { type WindowStore, type WindowsInForce, windowStore, windowsInForce } from "./calendars/window-store.js";
import { type CatalogueReads, catalogueReads } from "./catalog/catalog-reads.js";
import { type LaneStore, laneStore } from "./catalog/lane-store.js";
import { type NamespaceStore, namespaceStore } from "./catalog/namespace-store.js";
import { type QueueStore, queueStore } from "./catalog/queue-store.js";
import { type SearchPaths, searchPaths } from "./catalog/search-path-store.js";
import { type TaskStore, taskStore } from "./catalog/task-store.js";
import { type NodeStore, nodeStore } from "./cluster/node-store.js";
import { type ShardStore, shardStore } from "./cluster/shard-store.js";
import type { Database } from "./db/database.js";
import type { Queryable } from "./db/queryable.js";
import {
  type DependencyStore,
  type UpstreamEndStore,
  upstreamEndStore,
  type UpstreamReads,
  dependencyStore,
  upstreamReads,
} from "./dependencies/dependency-store.js";
import { UpstreamLinks } from "./dependencies/upstream-links.js";
import { type CallbackStore, callbackStore } from "./dispatch/callback-store.js";
import { type ClaimStore, claimStore } from "./dispatch/claim-store.js";
import { type DirectRunStore, type SecretStore, directRunStore, secretStore } from "./dispatch/direct-run-store.js";
import { type SessionStore, sessionStore } from "./dispatch/session-store.js";
import { type ExplainReads, type ForecastReads, explainReads, forecastReads } from "./explain/explain-reads.js";
import { type DayPartitions, dayPartitions, makingMissingDay } from "./history/day-partitions.js";
import { HistoryDays } from "./history/history-days.js";
import { jobHistory } from "./history/job-history.js";
import { type JobChangeStore, jobChangeStore } from "./jobs/job-change-store.js";
import { type RetentionSweeps, retentionSweeps } from "./jobs/job-retention-store.js";
import { type JobStore, jobStore } from "./jobs/job-store.js";
import {
  type JobTransactionReads,
  type JobTransactionWrites,
  jobTransactionReads,
  jobTransactionWrites,
} from "./jobs/job-transaction-store.js";
import { type BreakerStore, breakerStore } from "./limits/breaker-store.js";
import { type KnownOwners, limitOwners } from "./limits/limit-owners.js";
import { type LimitStore, limitStore } from "./limits/limit-store.js";
import { type OperationStore, operationStore } from "./operations/operation-store.js";
import { type DedupeStore, dedupeStore } from "./runs/dedupe-store.js";
import { type FailureStore, failureStore } from "./runs/failure-store.js";
import { type ReceiptStore, receiptStore } from "./runs/receipt-store.js";
import { type RunChangeStore, runChangeStore } from "./runs/run-change-store.js";
import { type RunReads, runReads } from "./runs/run-reads.js";
import {
  type RecordSweeps,
  type RunLogStore,
  type RunRecords,
  recordSweeps,
  runLogStore,
  runRecords,
} from "./runs/run-record-store.js";
import { type RunSearch, runSearch } from "./runs/run-search.js";
import { type RunStore, runStore } from "./runs/run-store.js";
import { type DueStore, dueStore } from "./scheduler/due-store.js";
import { type FarFutureStore, farFutureStore } from "./scheduler/far-future-store.js";
import { loadStatements } from "./sql/statements.js";
import { type WebhookStore, webhookStore } from "./webhooks/webhook-store.js";
import { type CallbackSecrets, callbackSecrets } from "./webhooks/callback-secret-store.js";

export interface Store {
  readonly jobs: JobStore;
  readonly due: DueStore;
  /** The maintenance windows of all namespaces, as the scheduler reads them. */
  readonly windowsInForce: () => Promise<WindowsInForce>;
  readonly runs: RunStore;
  /** The same inside a transaction. */
  readonly runsOver: (tx: Queryable) => RunStore;
  /** Runs that are stored for offered slots. */
  readonly directRuns: DirectRunStore;
  readonly farFuture: FarFutureStore;
  readonly dedupes: DedupeStore;
  readonly claims: ClaimStore;
  readonly callbacks: CallbackStore;
  readonly reads: RunReads;
  readonly search: RunSearch;
  readonly searchPaths: SearchPaths;
  readonly secrets: SecretStore;
  /** The same inside a transaction. */
  readonly readsOver: (tx: Queryable) => RunReads;
  readonly lanes: LaneStore;
  readonly limits: LimitStore;
  readonly namespaces: NamespaceStore;
  readonly breakers: BreakerStore;
  readonly queues: QueueStore;
  readonly shards: ShardStore;
  /** On the reserved connection: a heartbeat never waits for another call. */
  readonly nodes: NodeStore;
  readonly sessions: SessionStore;
  readonly historyDays: DayPartitions;
  readonly logDays: DayPartitions;
  /** The queues and namespaces that have limits. */
  readonly knownLimitOwners: () => Promise<KnownOwners>;
  readonly tasks: TaskStore;
  readonly jobTransactionReads: JobTransactionReads;
  readonly jobTransactionWrites: JobTransactionWrites;
  readonly changes: JobChangeStore;
  readonly calendars: CalendarStore;
  readonly calendarLinks: CalendarLinks;
  readonly dependencies: DependencyStore;
  readonly upstreamEnds: UpstreamEndStore;
  readonly upstreamLinks: UpstreamLinks;
  readonly upstream: UpstreamReads;
  /** The state around runs that decides whether they start. */
  readonly explainReads: ExplainReads;
  readonly forecastReads: ForecastReads;
  readonly windows: WindowStore;
  readonly webhooks: WebhookStore;
  readonly catalogue: CatalogueReads;
  readonly callbackSecrets: CallbackSecrets;
  readonly backfills: BackfillStore;
  readonly failures: FailureStore;
  readonly past: PastRuns;
  /** Checkpoints, steps, progress and logs of handlers. */
  readonly records: RunRecords;
  readonly logs: RunLogStore;
  readonly sweeps: RecordSweeps;
  /** Deletes old records of jobs. */
  readonly retention: RetentionSweeps;
  /** Idempotency keys and stored responses. */
  readonly receipts: ReceiptStore;
  readonly operations: OperationStore;
  readonly runChanges: RunChangeStore;
  /** A transaction that may end runs: a missing day of history is created and the work is done again. */
  readonly historyTransaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

/** Every statement of the engine, bound to the connection that it uses. */
export function createStore(db: Database): Store {
  const statements = loadStatements(db.schema);
  const now = (): number => db.clock.now();
  const days = dayPartitions(db, statements, "run_history");
  const historyDays = new HistoryDays({ db, statements, schema: db.schema, now });
  const logDays = dayPartitions(db, statements, "run_log");
  const runs = runStore(db, statements);
  const claims = claimStore(db.hot, statements, db);
  const dedupes = dedupeStore(db, statements);
  const transactionReads = jobTransactionReads(statements);
  const withDay = <Result>(write: () => Promise<Result>): Promise<Result> => makingMissingDay(days, now, write);
  const historyTransaction: Store["historyTransaction"] = (work) => withDay(() => db.transaction(work));
  const links = calendarLinks(db, statements);
  const dependencies = dependencyStore(statements);
  const upstreamLinks = new UpstreamLinks(dependencies, transactionReads);
  const ofJobs = jobHistory(db, statements, historyDays);
  const runChanges = runChangeStore(db, statements, ofJobs);
  const records = runRecords(db, statements, ofJobs);
  return {
    jobs: jobStore(db, statements, { calendars: links, upstreams: upstreamLinks, dependencies }),
    due: dueStore(db, statements),
    windowsInForce: windowsInForce(db, statements),
    runs: {
      ...runs,
      buryLost: (...args) => withDay(() => runs.buryLost(...args)),
      expire: (limit) => withDay(() => runs.expire(limit)),
      endStopped: (ids) => withDay(() => runs.endStopped(ids)),
    },
    runsOver: (tx) => runStore(tx, statements),
    directRuns: directRunStore(db, statements, db.hot),
    farFuture: farFutureStore(db, statements),
    dedupes: { ...dedupes, insert: (...args) => withDay(() => dedupes.insert(...args)) },
    claims: {
      ...claims,
      completeAndClaim: (request) => withDay(() => claims.completeAndClaim(request)),
      finish: (ended) => withDay(() => claims.finish(ended)),
      finishNoticed: (ended) => withDay(() => claims.finishNoticed(ended)),
    },
    callbacks: callbackStore(db, statements),
    reads: runReads(db, statements, historyDays),
    search: runSearch({ db, statements, days: historyDays, now }),
    searchPaths: searchPaths(db, statements),
    secrets: secretStore(db, statements),
    readsOver: (tx) => runReads(tx, statements, historyDays),
    lanes: laneStore(db, statements),
    limits: limitStore(db, statements),
    knownLimitOwners: limitOwners(db, statements),
    breakers: breakerStore(db, statements),
    namespaces: namespaceStore(db, statements),
    queues: queueStore(db, statements),
    tasks: taskStore(db, statements),
    jobTransactionReads: transactionReads,
    jobTransactionWrites: jobTransactionWrites(statements),
    shards: shardStore(db, statements),
    nodes: nodeStore(db.reserved, statements, db),
    sessions: sessionStore(db.reserved, statements),
    historyDays: days,
    logDays,
    changes: jobChangeStore(statements),
    calendars: calendarStore(db, statements),
    calendarLinks: links,
    dependencies,
    upstreamEnds: upstreamEndStore(statements),
    upstreamLinks,
    upstream: upstreamReads(db, statements),
    explainReads: explainReads(db, statements),
    forecastReads: forecastReads(db, statements),
    windows: windowStore(db, statements),
    webhooks: webhookStore(db, statements),
    catalogue: catalogueReads(db, statements, historyDays),
    callbackSecrets: callbackSecrets(db, statements),
    backfills: backfillStore(db, statements),
    failures: failureStore(db, statements, historyDays),
    past: pastRuns(statements),
    records: {
      ...records,
      log: (lines) => makingMissingDay(logDays, now, () => records.log(lines)),
    },
    logs: runLogStore(db, statements),
    sweeps: recordSweeps(db, statements),
    retention: retentionSweeps(db, statements),
    receipts: receiptStore(db, statements),
    operations: operationStore(db, statements),
    runChanges: { ...runChanges, cancel: (...args) => withDay(() => runChanges.cancel(...args)) },
    historyTransaction,
  };
}
