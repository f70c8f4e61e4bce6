import type { Instant } from "@carillon/core";
import type { DueState, Fence, LedgerCut, LedgerEntry, LedgerEntryKey, NamespaceWindows, Terms } from "@carillon/store";
import type { EndedRun, MemoryJob, MemoryRange, MemoryRun } from "./memory-rows.js";
import { Rows } from "./rows.js";

export interface MemoryTablesOptions {
  /** The database's clock. */
  readonly now: () => Instant;
  /** Whether a node owns a shard under this epoch. */
  readonly owns: (node: string, shard: { readonly id: number; readonly epoch: number }) => boolean;
}

/** How far a caller's clock may be ahead; `due.pass` and `due.hold` say the same. */
const aheadMs = 1_000;

/** What PostgreSQL is to the scheduler, in one process: rows, locks on them, and a clock. */
export class MemoryTables {
  readonly now: () => Instant;
  readonly jobs = new Rows<MemoryJob>((before, after) => this.#indexJob(before, after));
  /** Live runs. */
  readonly runs = new Rows<MemoryRun>((before, after) => this.#indexRun(before, after));
  readonly history = new Rows<EndedRun>();
  readonly ledger = new Rows<MemoryRange>();
  /** Jobs and runs whose rows somebody holds, by id. */
  readonly locked = new Set<string>();
  /** Jobs for which no run can be stored: a row that makes its statement fail. */
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
  /** When something of a shard is due next; shards that changed since are not in it. */
  readonly #soonest = new Map<number, Instant>();
  #last: Promise<unknown> = Promise.resolve();

  constructor({ now, owns }: MemoryTablesOptions) {
    this.now = now;
    this.#owns = owns;
  }

  /** The shards of a fence for which it holds. */
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

  /** When the next job or pause of a shard is due; Infinity when none is. */
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
   * The job, if its next occurrence may be settled as the caller believes: nobody holds it, it is due by the clock, and
   * neither definition, instant, windows nor owner have changed.
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
    const isAsBelieved = state === "active" && version === expected.version && nominal === expected.nominal;
    const isNew = firedThrough === null || expected.nominal > firedThrough;
    return isAsBelieved && isNew && fireAt !== null && fireAt <= this.now() ? job : null;
  }

  /** Whether what a caller took for late, or for a time to wait, is so by this clock. */
  isTimeFor({ asOf }: Pick<Terms, "asOf">): boolean {
    return asOf === undefined || asOf <= this.now() + aheadMs;
  }

  move(job: MemoryJob, due: Partial<DueState>): void {
    this.jobs.set(job.id, { ...job, due: { ...job.due, ...due } });
  }

  /** A range that is there already grows; `detail` says what becomes of its detail then. */
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
    if (known === undefined) throw new Error(`job ${key.jobId} has no such range in the ledger`);
    this.ledger.set(ledgerKey(key), count === 0 ? undefined : { ...known, to, count });
  }

  /** Statements and transactions come one after the other. One that fails does so before its first write. */
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
