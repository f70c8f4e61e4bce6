import type { FinalRunStatus, Instant, LiveRunStatus } from "@carillon/core";
import type {
  DueState,
  Fence,
  LedgerCut,
  LedgerEntry,
  LedgerEntryKey,
  LockedJob,
  NamespaceWindows,
  NewJob,
  NewRun,
  Terms,
} from "@carillon/store";

export interface MemoryTablesOptions {
  /** The database's clock. */
  readonly now: () => Instant;
  /** Whether a node owns a shard under this epoch. */
  readonly owns: (node: string, shard: { readonly id: number; readonly epoch: number }) => boolean;
}

/** How far a caller's clock may be ahead; the same as in `due.pass` and `due.hold`. */
const aheadMs = 1_000;

/** Replaces PostgreSQL for a scheduler in this process: rows, row locks and a clock. */
export class MemoryTables {
  readonly now: () => Instant;
  readonly jobs = new Rows<MemoryJob>((before, after) => this.#indexJob(before, after));
  /** Live runs. */
  readonly runs = new Rows<MemoryRun>((before, after) => this.#indexRun(before, after));
  readonly history = new Rows<EndedRun>();
  readonly ledger = new Rows<MemoryRange>();
  /** Ids of jobs and runs whose rows another transaction holds. */
  readonly locked = new Set<string>();
  /** Jobs whose runs cannot be stored: such a row makes its statement fail. */
  readonly poisoned = new Set<string>();
  windows: { revision: number; byNamespace: ReadonlyMap<number, NamespaceWindows> } = {
    revision: 0,
    byNamespace: new Map(),
  };

  readonly #owns: MemoryTablesOptions["owns"];
  readonly #jobsOfShard = new Map<number, Map<string, MemoryJob>>();
  readonly #delayedOfShard = new Map<number, Map<string, MemoryRun>>();
  readonly #queued = new Map<string, MemoryRun>();
  readonly #liveOfJob = new Map<string, Map<string, MemoryRun>>();
  /** The next due time of each shard. A shard whose jobs changed since it was computed is missing. */
  readonly #soonest = new Map<number, Instant>();
  #last: Promise<unknown> = Promise.resolve();

  constructor({ now, owns }: MemoryTablesOptions) {
    this.now = now;
    this.#owns = owns;
  }

  /** The shards of a fence that the node still owns. */
  fenced({ node, shards }: Fence): ReadonlySet<number> {
    return new Set(shards.filter((shard) => this.#owns(node, shard)).map((shard) => shard.id));
  }

  jobsOf(shard: number): Iterable<MemoryJob> {
    return this.#jobsOfShard.get(shard)?.values() ?? [];
  }

  /** Runs of a shard that wait for their time. */
  delayedOf(shard: number): Iterable<MemoryRun> {
    return this.#delayedOfShard.get(shard)?.values() ?? [];
  }

  liveOf(jobId: string): Iterable<MemoryRun> {
    return this.#liveOfJob.get(jobId)?.values() ?? [];
  }

  /** Runs that a worker may take. */
  queued(): readonly MemoryRun[] {
    return [...this.#queued.values()];
  }

  /** The next fire time or end of a pause in a shard; Infinity if there is none. */
  nextFireAt(shard: number): Instant {
    const known = this.#soonest.get(shard);
    if (known !== undefined) return known;
    let soonest = Number.POSITIVE_INFINITY;
    for (const { due } of this.jobsOf(shard)) {
      if (due.fireAt !== null && due.fireAt < soonest) soonest = due.fireAt;
    }
    this.#soonest.set(shard, soonest);
    return soonest;
  }

  /**
   * Returns the job if the caller's view of its next occurrence is current: no other transaction holds the row, it is due by the clock, and
   * definition, instant, windows and owner have not changed.
   */
  pick(
    fenced: ReadonlySet<number>,
    { windows }: Pick<Terms, "windows">,
    expected: { readonly jobId: string; readonly version: number; readonly nominal: Instant },
  ): MemoryJob | null {
    const job = this.jobs.get(expected.jobId);
    if (job === undefined || !fenced.has(job.shard) || this.locked.has(job.id)) return null;
    if (windows !== this.windows.revision) return null;
    const { state, version, nominal, fireAt, firedThrough } = job.due;
    const isCurrent = state === "active" && version === expected.version && nominal === expected.nominal;
    const isNew = firedThrough === null || expected.nominal > firedThrough;
    return isCurrent && isNew && fireAt !== null && fireAt <= this.now() ? job : null;
  }

  /** Whether this clock has reached the time by which the caller decided. */
  isTimeFor({ asOf }: Pick<Terms, "asOf">): boolean {
    return asOf === undefined || asOf <= this.now() + aheadMs;
  }

  move(job: MemoryJob, due: Partial<DueState>): void {
    this.jobs.set(job.id, { ...job, due: { ...job.due, ...due } });
  }

  /** Adds to a range that exists. Its detail is kept, or compared: then a different detail clears it. */
  note(entry: LedgerEntry, detail: "kept" | "compared"): void {
    const key = ledgerKey(entry);
    const known = this.ledger.get(key);
    const recordedAt = this.now();
    if (known === undefined) return this.ledger.set(key, { ...entry, recordedAt });
    const isKept = detail === "kept" || known.detail === entry.detail;
    this.ledger.set(key, {
      ...known,
      to: Math.max(known.to, entry.to),
      count: known.count + entry.count,
      detail: isKept ? known.detail : null,
      recordedAt,
    });
  }

  /** Shortens a range; removes it with a count of 0. */
  cut({ to, count, ...key }: LedgerCut): void {
    const known = this.ledger.get(ledgerKey(key));
    if (known === undefined) throw new Error(`Job ${key.jobId} has no such range in the ledger.`);
    this.ledger.set(ledgerKey(key), count === 0 ? undefined : { ...known, to, count });
  }

  /** Statements and transactions run one at a time. A statement that fails does so before its first write. */
  statement<Result>(work: () => Result): Promise<Result> {
    return this.#inTurn(async () => work());
  }

  /** All or nothing. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      const tables = [this.jobs, this.runs, this.history, this.ledger];
      for (const table of tables) table.begin();
      try {
        const result = await work();
        for (const table of tables) table.commit();
        return result;
      } catch (error) {
        for (const table of tables) table.rollback();
        throw error;
      }
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #indexJob(before: MemoryJob | undefined, after: MemoryJob | undefined): void {
    const row = after ?? before;
    if (row === undefined) return;
    this.#soonest.delete(row.shard);
    index(this.#jobsOfShard, row.shard, row.id, after);
  }

  #indexRun(before: MemoryRun | undefined, after: MemoryRun | undefined): void {
    const row = after ?? before;
    if (row === undefined) return;
    if (row.jobId !== null) index(this.#liveOfJob, row.jobId, row.id, after);
    if (after?.state === "queued") this.#queued.set(row.id, after);
    else this.#queued.delete(row.id);
    const waits = after?.state === "scheduled" || after?.state === "retrying";
    index(this.#delayedOfShard, row.shard, row.id, waits ? after : undefined);
  }
}

function ledgerKey({ jobId, version, reason, from }: LedgerEntryKey): string {
  return `${jobId} ${version} ${reason} ${from}`;
}

function index<Key, Row>(by: Map<Key, Map<string, Row>>, key: Key, id: string, row: Row | undefined): void {
  const known = by.get(key);
  if (row === undefined) {
    if (known?.delete(id) === true && known.size === 0) by.delete(key);
  } else if (known === undefined) by.set(key, new Map([[id, row]]));
  else known.set(id, row);
}

type Watcher<Row> = (before: Row | undefined, after: Row | undefined) => void;

/** The rows of one table by their key. Rows are replaced, never changed, so that a transaction can be rolled back. */
class Rows<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #watch: Watcher<Row>;
  /** The replaced rows in the order of the writes, while a transaction is open. */
  #before: [key: string, row: Row | undefined][] | null = null;

  /** `watch` is called for every write, also for those of a rollback. */
  constructor(watch: Watcher<Row> = () => undefined) {
    this.#watch = watch;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  /** undefined removes the row. */
  set(key: string, row: Row | undefined): void {
    const before = this.#rows.get(key);
    this.#before?.push([key, before]);
    if (row === undefined) this.#rows.delete(key);
    else this.#rows.set(key, row);
    this.#watch(before, row);
  }

  begin(): void {
    this.#before = [];
  }

  commit(): void {
    this.#before = null;
  }

  rollback(): void {
    const writes = this.#before ?? [];
    this.#before = null;
    for (const [key, row] of writes.toReversed()) this.set(key, row);
  }
}

/** A job with its due state: a row of `job` and one of `job_due`. */
export type MemoryJob = Omit<LockedJob, "windows" | "now">;

/** A live run. */
export interface MemoryRun extends Omit<NewRun, "deadline"> {
  readonly state: LiveRunStatus;
  readonly stateReason: string | null;
  readonly createdAt: Instant;
  readonly version: number | null;
  readonly serial: boolean;
  readonly untracked: boolean;
  /** Set when the worker was requested to stop the run. */
  readonly cancelReason: string | null;
  readonly sessionId: string | null;
}

/** A run in history. */
export interface EndedRun {
  readonly run: MemoryRun;
  readonly status: FinalRunStatus;
  readonly reason: string | null;
  readonly finishedAt: Instant;
}

/** A range of the ledger. */
export interface MemoryRange extends LedgerEntry {
  readonly recordedAt: Instant;
}

/** Stores a job as the statement job.insert does. */
export function insertJob(tables: MemoryTables, job: NewJob): void {
  const { id, namespaceId, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner } = job;
  const place = { id, namespaceId, shard, lane, key, task, queue, priority, payload, schedule, policy, labels, owner };
  const now = tables.now();
  const due: DueState = {
    class: job.class,
    state: job.state,
    version: 1,
    nominal: job.nextNominal,
    fireAt: job.nextFireAt,
    firedThrough: null,
    firedCount: 0,
    maxRuns: job.maxRuns,
    overlap: job.overlap,
    runsMade: 0,
    runIds: [],
    ledgerFrom: null,
    ledgerReason: null,
    catchUpTo: job.catchUpTo,
    stateReason: null,
  };
  tables.jobs.set(id, {
    ...place,
    firing: job.firing,
    createdAt: now,
    updatedAt: now,
    definedAt: null,
    pause: null,
    endedAt: null,
    due,
  });
  for (const range of job.removed ?? []) tables.note({ jobId: id, namespaceId, version: 1, ...range }, "compared");
}

/** Throws the error of a trigger or constraint that rejects one row. */
export function refusePoisoned(tables: MemoryTables, jobId: string): void {
  if (!tables.poisoned.has(jobId)) return;
  throw Object.assign(new Error(`No run of job ${jobId} can be stored.`), { code: "P0001" });
}
