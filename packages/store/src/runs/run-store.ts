import { type DurationMs, type Instant, type RunPolicy, type Sla, deadlineError, named } from "@carillon/core";
import { type Fence, fenceParameters } from "../cluster/shard-store.js";
import {
  bigintArray,
  columns,
  intArray,
  jsonArray,
  jsonOrNull,
  jsonParam,
  timestampOrNull,
  timestampParam,
  uuidArray,
} from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** One-off jobs due later than this from now wait in far_future_run: a window and ten minutes. */
export const horizonMs: DurationMs = 630_000;

export interface StoredRun {
  readonly id: string;
  /** far_future: scheduled so far ahead that it waits in far_future_run. */
  readonly state: "queued" | "scheduled" | "far_future";
  readonly createdAt: Instant;
}

export interface DueRun {
  readonly id: string;
  readonly shard: number;
  readonly runAt: Instant;
}

/** Where a run that became claimable waits; the content of a wakeup of the gateways. */
export interface Queued {
  readonly id: string;
  readonly lane: number;
  readonly rank: number;
  /** Absent: not known. */
  readonly namespaceId?: number;
}

/** A run that is claimable from its time on. */
export interface PromotedRun extends Queued {
  readonly runAt: Instant;
}

/** A run that no worker holds any more. */
export interface GivenBackRun extends Queued {
  /** It was asked to stop: it is not tried again. */
  readonly isStopped: boolean;
}

/** A message of NOTIFY. */
export interface Notice {
  readonly channel: string;
  readonly payload: string;
}

export interface LostRun {
  readonly id: string;
  /** The session that had it; null: it had been given back after it was asked to stop. */
  readonly sessionId: string | null;
}

export interface RunStore {
  /** A one-off job that is due later than `beyondMs` from now waits in far_future_run. */
  insert(runs: readonly NewRun[], beyondMs?: DurationMs): Promise<StoredRun[]>;
  /** Stores runs of their own that may start at once, ignoring `runAt`, and sends the notice. Returns their time of creation, which is their `runAt`. */
  insertNow(runs: readonly NewRun[], notice: Notice | null): Promise<Instant>;
  loadDue(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  /** Queues the runs that are due, and, `aheadMs` early, those that need nothing but a worker. */
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
  /** Running runs whose session is gone. Reads all live runs. */
  lost(limit: number): Promise<LostRun[]>;
  /** Queues the runs again whose session is gone. */
  rescue(ids: readonly string[], maxLosses: number): Promise<GivenBackRun[]>;
  /** Ends the runs whose session is gone and that have lost too many workers. */
  buryLost(ids: readonly string[], maxLosses: number): Promise<readonly EndedLate[]>;
  /** Ends runs that wait and whose deadline has passed. */
  expire(limit: number): Promise<readonly EndedLate[]>;
  /** Ends the runs that were asked to stop and do not run. */
  endStopped(ids: readonly string[]): Promise<readonly EndedRun[]>;
}

const lostError = named({
  type: "WorkerLost",
  message: "the worker that ran it died or fell silent, as often as the policy allows",
  retryable: false,
});

export function runStore(db: Queryable, statements: Statements): RunStore {
  const insert = statements.get("run.insert");
  const insertAlike = statements.get("run.insert_alike");
  const insertNow = statements.get("run.insert_now");
  const loadDue = statements.get("run.load_due");
  const promote = statements.get("run.promote");
  const lost = statements.get("run.lost");
  const rescue = statements.get("run.rescue");
  const buryLost = statements.get("run.bury_lost");
  const expire = statements.get("run.expire");
  const endStopped = statements.get("run.end_stopped");
  return {
    async insert(runs, beyondMs = horizonMs) {
      type Row = { id: string; state: StoredRun["state"]; created_at: Instant };
      const values = [...runParameters(runs), beyondMs, runDeadlines(runs)];
      const { rows } = await db.query<Row>(insert, values);
      return rows.map((row) => ({ id: row.id, state: row.state, createdAt: row.created_at }));
    },
    async insertNow(runs, notice) {
      const { isOneKind, values } = alikeRuns(runs);
      const sent = [notice?.channel ?? null, notice?.payload ?? null];
      const statement = isOneKind ? insertAlike : insertNow;
      const [row] = (await db.query<{ created_at: Instant }>(statement, [...values, ...sent])).rows;
      if (row === undefined) throw new Error("The statement that stores runs returned no row.");
      return row.created_at;
    },
    async loadDue(shards, until, limitPerShard) {
      type Row = { id: string; shard: number; run_at: Instant };
      const { rows } = await db.query<Row>(loadDue, [shards, timestampParam(until), limitPerShard]);
      return rows.map((row) => ({ id: row.id, shard: row.shard, runAt: row.run_at }));
    },
    async promote(fence, ids, aheadMs = 0) {
      type Row = Omit<PromotedRun, "id"> & { ids: string };
      const { rows } = await db.query<Row>(promote, [...fenceParameters(fence), uuidArray(ids), aheadMs]);
      return rows.flatMap(({ ids: queued, ...same }) => queued.split(",").map((id) => ({ id, ...same })));
    },
    async lost(limit) {
      return (await db.query<LostRun>(lost, [limit])).rows;
    },
    async rescue(ids, maxLosses) {
      const { rows } = await db.query<Queued & { stopped: boolean }>(rescue, [ids, maxLosses]);
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async buryLost(ids, maxLosses) {
      const values = [ids, maxLosses, jsonParam(lostError), lostError.fingerprint];
      return (await db.query<EndedLate>(buryLost, values)).rows;
    },
    async expire(limit) {
      const values = [limit, jsonParam(deadlineError), deadlineError.fingerprint];
      return (await db.query<EndedLate>(expire, values)).rows;
    },
    async endStopped(ids) {
      return ids.length === 0 ? [] : (await db.query<EndedRun>(endStopped, [ids])).rows;
    },
  };
}

/** The columns of new runs, in the order in which statements take them. */
export function runParameters(runs: readonly NewRun[]): unknown[] {
  return columns(runs, [
    (run) => run.id,
    (run) => run.jobId,
    (run) => run.namespaceId,
    (run) => run.shard,
    (run) => run.lane,
    (run) => run.priority,
    (run) => run.rank,
    (run) => timestampParam(run.runAt),
    (run) => timestampParam(run.nominal),
    (run) => run.trigger,
    (run) => run.task,
    (run) => run.queue,
    (run) => jsonParam(run.payload),
    (run) => jsonOrNull(run.policy),
    (run) => jsonOrNull(run.labels),
    (run) => run.owner,
  ]);
}

/** Their deadlines, which statements take last. */
export function runDeadlines(runs: readonly NewRun[]): unknown {
  return columns(runs, [(run) => timestampOrNull(run.deadline ?? null)])[0];
}

/** A run to be stored. */
export interface NewRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly priority: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly deadline?: Instant | null;
}

/** The shared values of runs of one kind, as the statement takes them. */
interface Kind {
  readonly run: NewRun;
  readonly policy: string | null;
  readonly labels: string | null;
}

/** Runs that may start at once, as they are sent: the values of each run, and each kind once. */
export interface AlikeRuns {
  /** All are of one kind, as usual: shared values are single (`run.insert_alike`); else they are arrays (`run.insert_now`). */
  readonly isOneKind: boolean;
  readonly values: readonly unknown[];
}

export function alikeRuns(runs: readonly NewRun[]): AlikeRuns {
  const kinds = new Kinds();
  const numbers = runs.map((run) => kinds.numberOf(run));
  const own = [
    uuidArray(runs.map((run) => run.id)),
    intArray(runs.map((run) => run.shard)),
    bigintArray(runs.map((run) => run.rank)),
    jsonArray(runs.map((run) => jsonParam(run.payload))),
  ];
  const only = kinds.only();
  if (only !== null) return { isOneKind: true, values: [...own, ...only] };
  return { isOneKind: false, values: [...own, intArray(numbers), ...kinds.parameters()] };
}

const shared: readonly ((kind: Kind) => string | number | null)[] = [
  ({ run }) => run.namespaceId,
  ({ run }) => run.lane,
  ({ run }) => run.priority,
  ({ run }) => run.task,
  ({ run }) => run.queue,
  ({ policy }) => policy,
  ({ labels }) => labels,
  ({ run }) => run.owner,
];

class Kinds {
  readonly #kinds: Kind[] = [];
  readonly #numbers = new Map<string, number>();
  #last: { readonly run: NewRun; readonly number: number } | undefined;

  /** From 1, as PostgreSQL counts. */
  numberOf(run: NewRun): number {
    const last = this.#last;
    if (last !== undefined && isAlike(run, last.run)) return last.number;
    const policy = jsonOrNull(run.policy);
    const labels = jsonOrNull(run.labels);
    const key = `${run.namespaceId} ${run.lane} ${run.priority} ${run.task}\n${run.queue}\n${run.owner}\n${policy}\n${labels}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#kinds.push({ run, policy, labels });
      this.#numbers.set(key, number);
    }
    this.#last = { run, number };
    return number;
  }

  /** The values of the only kind; null if there are several. */
  only(): unknown[] | null {
    const [kind, ...others] = this.#kinds;
    return kind === undefined || others.length > 0 ? null : shared.map((of) => of(kind));
  }

  parameters(): string[] {
    return columns(this.#kinds, shared);
  }
}

/** A cheap comparison: runs of one call have identical, not only equal, policies and labels. */
function isAlike(run: NewRun, other: NewRun): boolean {
  return (
    run.policy === other.policy &&
    run.labels === other.labels &&
    run.lane === other.lane &&
    run.priority === other.priority &&
    run.task === other.task &&
    run.queue === other.queue &&
    run.owner === other.owner &&
    run.namespaceId === other.namespaceId
  );
}

/** Runs that ended, by id, each with its job if others of that job may wait for it. */
export type EndedRuns = ReadonlyMap<string, string | null>;

export interface EndedRow {
  readonly id: string;
  readonly freed_job_id: string | null;
}

export function toEnded(rows: readonly EndedRow[]): EndedRuns {
  return new Map(rows.map((row) => [row.id, row.freed_job_id]));
}

/** The jobs of which another run may start now. */
export function freedJobs(ended: EndedRuns): string[] {
  return [...ended.values()].filter((jobId) => jobId !== null);
}

/** A run that ended without its worker, as its event needs it. */
export interface EndedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly task: string;
  readonly queue: string;
  /** Other runs of this job may wait for its end. */
  readonly freedJobId: string | null;
}

/** A run that failed by its deadline, or by the loss of its workers, with its SLA. */
export interface EndedLate extends EndedRun {
  readonly sla: Sla | null;
  readonly nominal: Instant;
  readonly trigger: string;
  /** 0: no worker ever claimed it. */
  readonly fence: number;
  readonly endedAt: Instant;
}

/** The jobs of which another run may start now. */
export function freedBy(runs: readonly EndedRun[]): string[] {
  return runs.map((run) => run.freedJobId).filter((jobId) => jobId !== null);
}
