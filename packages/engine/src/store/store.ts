import type { Database } from "./db/database.js";
import { type BreakerStore, breakerStore } from "./entities/breakers.js";
import { type BackfillStore, backfillStore } from "./entities/backfills.js";
import { type CalendarLinks, calendarLinks } from "./entities/calendar-links.js";
import { type CalendarStore, calendarStore } from "./entities/calendars.js";
import { type CallbackSecrets, callbackSecrets } from "./entities/callback-secrets.js";
import { type CallbackStore, callbackStore } from "./entities/callbacks.js";
import { type CatalogueReads, catalogueReads } from "./entities/catalogue-reads.js";
import { type ClaimStore, claimStore } from "./entities/claims.js";
import { type DependencyStore, dependencyStore } from "./entities/dependencies.js";
import { type DedupeStore, dedupeStore } from "./entities/dedupes.js";
import { type DayPartitions, dayPartitions } from "./entities/day-partitions.js";
import { type ExplainReads, explainReads } from "./entities/explain-reads.js";
import { type HandedRunStore, handedRunStore } from "./entities/handed-runs.js";
import { HistoryDays } from "./entities/history-days.js";
import { jobHistory } from "./entities/job-history.js";
import { type ForecastReads, forecastReads } from "./entities/forecast-reads.js";
import { type FailureStore, failureStore } from "./entities/failures.js";
import type { FireStore } from "../scheduler/fire-store.js";
import { fireStore } from "./entities/fire-store.js";
import { type JobChangeStore, jobChangeStore } from "./entities/job-changes.js";
import { type LaterStore, laterStore } from "./entities/later.js";
import { type JobStore, jobStore } from "./entities/jobs.js";
import { type LaneStore, laneStore } from "./entities/lanes.js";
import { limitOwners } from "./entities/limit-owners.js";
import { type LimitStore, limitStore } from "./entities/limits.js";
import { type NamespaceStore, namespaceStore } from "./entities/namespaces.js";
import { type NodeStore, nodeStore } from "./entities/nodes.js";
import { type PastRuns, pastRuns } from "./entities/past-runs.js";
import { type OperationStore, operationStore } from "./entities/operations.js";
import { type RunChangeStore, runChangeStore } from "./entities/run-changes.js";
import { type ReceiptStore, receiptStore } from "./entities/receipts.js";
import { type QueueStore, queueStore } from "./entities/queues.js";
import { type RunSearch, runSearch } from "./entities/run-search.js";
import { type RunReads, runReads } from "./entities/run-reads.js";
import { type RecordSweeps, recordSweeps } from "./entities/record-sweeps.js";
import { type RetentionSweeps, retentionSweeps } from "./entities/retention-sweeps.js";
import { type RunLogStore, runLogStore } from "./entities/run-logs.js";
import { type RunRecords, runRecords } from "./entities/run-records.js";
import { type RunStore, runStore } from "./entities/runs.js";
import { type SecretStore, secretStore } from "./entities/secrets.js";
import { type SearchPaths, searchPaths } from "./entities/search-paths.js";
import { type SessionStore, sessionStore } from "./entities/sessions.js";
import { type ShardStore, shardStore } from "./entities/shards.js";
import { UpstreamLinks } from "./entities/upstream-links.js";
import { taskStore } from "./entities/tasks.js";
import { type UpstreamReads, upstreamReads } from "./entities/upstream-reads.js";
import { type WebhookStore, webhookStore } from "./entities/webhooks.js";
import { type WindowStore, windowStore } from "./entities/window-store.js";
import { makingMissingDay } from "./entities/missing-day.js";
import { settlementReads } from "./entities/settlement.js";
import { settlementWrites } from "./entities/settlement-writes.js";
import { LimitOwners } from "../limits/limit-owners.js";
import { NamespaceBook } from "../namespaces/namespace-book.js";
import { QueueBook } from "../queues/queue-book.js";
import { TaskBook } from "../tasks/task-book.js";
import { type RankRun, rankRunBy } from "../queues/rank-run.js";
import { TaskDurations } from "../queues/task-durations.js";
import { Settler } from "../settlement/settler.js";
import type { Queryable } from "./db/queryable.js";
import { loadStatements } from "./sql/load-statements.js";

export interface Store {
  readonly jobs: JobStore;
  readonly due: FireStore;
  readonly runs: RunStore;
  /** The same inside a transaction. */
  readonly runsOver: (tx: Queryable) => RunStore;
  /** Runs that workers offered to take. */
  readonly handed: HandedRunStore;
  readonly later: LaterStore;
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
  /** Who has limits of its own, as this node knows it. */
  readonly limitOwners: LimitOwners;
  readonly namespaces: NamespaceStore;
  readonly breakers: BreakerStore;
  /** The namespaces as this node knows them. */
  readonly namespaceBook: NamespaceBook;
  readonly queues: QueueStore;
  /** The queues as this node knows them. */
  readonly queueBook: QueueBook;
  /** What workers say about runs of their tasks, as this node knows it. */
  readonly taskBook: TaskBook;
  readonly durations: TaskDurations;
  /** By the order of the run's queue. */
  readonly rank: RankRun;
  readonly shards: ShardStore;
  /** On the reserved connection: a heartbeat waits for nobody. */
  readonly nodes: NodeStore;
  readonly sessions: SessionStore;
  readonly historyDays: DayPartitions;
  readonly logDays: DayPartitions;
  /** Locks jobs, reads them into drafts and writes the drafts back, inside `settle`. */
  readonly settler: Settler;
  readonly changes: JobChangeStore;
  readonly calendars: CalendarStore;
  readonly calendarLinks: CalendarLinks;
  /** Which jobs wait for which. */
  readonly dependencies: DependencyStore;
  readonly upstreamLinks: UpstreamLinks;
  readonly upstream: UpstreamReads;
  /** What decides over runs beside themselves. */
  readonly explainReads: ExplainReads;
  readonly forecastReads: ForecastReads;
  readonly windows: WindowStore;
  readonly webhooks: WebhookStore;
  readonly catalogue: CatalogueReads;
  readonly callbackSecrets: CallbackSecrets;
  readonly backfills: BackfillStore;
  readonly failures: FailureStore;
  readonly past: PastRuns;
  /** What handlers leave behind. */
  readonly records: RunRecords;
  readonly logs: RunLogStore;
  readonly sweeps: RecordSweeps;
  /** What is on record about jobs. */
  readonly retention: RetentionSweeps;
  /** Calls that may be repeated. */
  readonly receipts: ReceiptStore;
  readonly operations: OperationStore;
  readonly runChanges: RunChangeStore;
  /** A transaction that may end runs: a missing day of history is made and the work done again. */
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

/** Every statement of the engine, bound to the connection that suits it. */
export function createStore(db: Database): Store {
  const statements = loadStatements(db.schema);
  const now = (): number => db.clock.now();
  const days = dayPartitions(db, statements, "run_history");
  const historyDays = new HistoryDays({ db, statements, schema: db.schema, now });
  const logDays = dayPartitions(db, statements, "run_log");
  const runs = runStore(db, statements);
  const claims = claimStore(db.hot, statements, db);
  const dedupes = dedupeStore(db, statements);
  const namespaces = namespaceStore(db, statements);
  const queues = queueStore(db, statements);
  const queueBook = new QueueBook(queues);
  const durations = new TaskDurations();
  const rank = rankRunBy({
    orderOf: (namespaceId, queue) => queueBook.orderOf(namespaceId, queue),
    expectedMs: (namespaceId, queue, task) => durations.expectedMs(namespaceId, queue, task),
  });
  const settlement = settlementReads(statements);
  const settler = new Settler(settlement, settlementWrites(statements), rank);
  const withDay = <Result>(write: () => Promise<Result>): Promise<Result> => makingMissingDay(days, now, write);
  const settle: Store["settle"] = (work) => withDay(() => db.transaction(work));
  const links = calendarLinks(db, statements);
  const dependencies = dependencyStore(statements);
  const upstreamLinks = new UpstreamLinks(dependencies, settlement);
  const ofJobs = jobHistory(db, statements, historyDays);
  const runChanges = runChangeStore(db, statements, ofJobs);
  const records = runRecords(db, statements, ofJobs);
  return {
    jobs: jobStore(db, statements, { calendars: links, upstreams: upstreamLinks, dependencies }),
    due: fireStore(db, statements, { runs, settler, transaction: settle }),
    runs: {
      ...runs,
      buryLost: (...args) => withDay(() => runs.buryLost(...args)),
      expire: (limit) => withDay(() => runs.expire(limit)),
      endStopped: (ids) => withDay(() => runs.endStopped(ids)),
    },
    runsOver: (tx) => runStore(tx, statements),
    handed: handedRunStore(db, statements, db.hot),
    later: laterStore(db, statements),
    dedupes: { ...dedupes, insert: (...args) => withDay(() => dedupes.insert(...args)) },
    claims: {
      ...claims,
      exchange: (exchange) => withDay(() => claims.exchange(exchange)),
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
    limitOwners: new LimitOwners(limitOwners(db, statements)),
    breakers: breakerStore(db, statements),
    namespaces,
    namespaceBook: new NamespaceBook(namespaces),
    queues,
    queueBook,
    taskBook: new TaskBook(taskStore(db, statements)),
    durations,
    rank,
    shards: shardStore(db, statements),
    nodes: nodeStore(db.reserved, statements),
    sessions: sessionStore(db.reserved, statements),
    historyDays: days,
    logDays,
    settler,
    changes: jobChangeStore(statements),
    calendars: calendarStore(db, statements),
    calendarLinks: links,
    dependencies,
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
    settle,
  };
}
