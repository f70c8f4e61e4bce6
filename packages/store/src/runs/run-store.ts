import { type DurationMs, type Instant, type RunPolicy, type Sla, deadlineError, named } from "@carillon/core";
import { type Fence, fenceValues } from "../cluster/shard-store.js";
import {
  bigintArray,
  intArray,
  jsonArray,
  jsonOrNull,
  jsonParam,
  namedColumns,
  timestampOrNull,
  timestampParam,
  uuidArray,
} from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { ParamsOf, Statements } from "../sql/statements.js";

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

/** A run that became claimable, with its place; the content of a wakeup of the gateways. */
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
  /** It was asked to stop: it gets no further attempt. */
  readonly isStopped: boolean;
}

/** A message of NOTIFY. */
export interface Notice {
  readonly channel: string;
  readonly payload: string;
}

export interface LostRun {
  readonly id: string;
  /** The session that held it; null: its worker gave it back after it was asked to stop. */
  readonly sessionId: string | null;
}

export interface RunStore {
  /** A one-off job that is due later than `beyondMs` from now waits in far_future_run. */
  insert(runs: readonly NewRun[], beyondMs?: DurationMs): Promise<StoredRun[]>;
  /** Stores runs without a job that may start at once, and sends the notice. Returns their creation time, which replaces their `runAt`. */
  insertNow(runs: readonly NewRun[], notice: Notice | null): Promise<Instant>;
  /** Fails as a unique key does if a run with one of these ids ended at or after `since`. */
  refuseEnded(ids: readonly string[], since: Instant): Promise<void>;
  loadDue(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  /** Queues due runs, and `aheadMs` early those that need nothing but a worker. */
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
  /** Running runs whose session is gone. Reads all live runs. */
  lost(limit: number): Promise<LostRun[]>;
  /** Queues those runs again whose session is gone. */
  rescue(ids: readonly string[], maxLosses: number): Promise<GivenBackRun[]>;
  /** Fails those runs whose session is gone and that have lost too many workers. */
  buryLost(ids: readonly string[], maxLosses: number): Promise<readonly EndedLate[]>;
  /** Fails waiting runs whose deadline has passed. */
  expire(limit: number): Promise<readonly EndedLate[]>;
  /** Cancels those runs that were asked to stop and are not running. */
  endStopped(ids: readonly string[]): Promise<readonly EndedRun[]>;
}

const lostError = named({
  type: "WorkerLost",
  message: "the worker that ran it died or fell silent, as often as the policy allows",
  retryable: false,
});

export function runStore(db: Queryable, statements: Statements): RunStore {
  const insert = statements.get("run.insert");
  const insertHomogeneous = statements.get("run.insert_homogeneous");
  const insertMixed = statements.get("run.insert_mixed");
  const refuseEnded = statements.get("run.refuse_ended");
  const loadDue = statements.get("run.load_due");
  const promote = statements.get("run.promote");
  const lost = statements.get("run.lost");
  const rescue = statements.get("run.rescue");
  const failLost = statements.get("run.fail_lost");
  const expire = statements.get("run.expire");
  const endStopped = statements.get("run.end_stopped");
  return {
    async insert(runs, beyondMs = horizonMs) {
      type Row = { id: string; state: StoredRun["state"]; created_at: Instant };
      const values = insert.values({ ...newRunColumns(runs), horizonMs: beyondMs });
      const { rows } = await db.query<Row>(insert, values);
      return rows.map((row) => ({ id: row.id, state: row.state, createdAt: row.created_at }));
    },
    async insertNow(runs, notice) {
      const batch = toRunBatch(runs);
      const sent = { channel: notice?.channel ?? null, notice: notice?.payload ?? null };
      type Row = { created_at: Instant };
      const { rows } = await (batch.isHomogeneous
        ? db.query<Row>(insertHomogeneous, insertHomogeneous.values({ ...batch.values, ...sent }))
        : db.query<Row>(insertMixed, insertMixed.values({ ...batch.values, ...sent })));
      const [row] = rows;
      if (row === undefined) throw new Error("The statement that stores runs returned no row.");
      return row.created_at;
    },
    async refuseEnded(ids, since) {
      await db.query(refuseEnded, refuseEnded.values({ ids: uuidArray(ids), since: timestampParam(since) }));
    },
    async loadDue(shards, until, limitPerShard) {
      type Row = { id: string; shard: number; run_at: Instant };
      const values = loadDue.values({ shards, until: timestampParam(until), limit: limitPerShard });
      const { rows } = await db.query<Row>(loadDue, values);
      return rows.map((row) => ({ id: row.id, shard: row.shard, runAt: row.run_at }));
    },
    async promote(fence, ids, aheadMs = 0) {
      type Row = Omit<PromotedRun, "id"> & { ids: string };
      const values = promote.values({ ...fenceValues(fence), ids: uuidArray(ids), aheadMs });
      const { rows } = await db.query<Row>(promote, values);
      return rows.flatMap(({ ids: queued, ...same }) => queued.split(",").map((id) => ({ id, ...same })));
    },
    async lost(limit) {
      return (await db.query<LostRun>(lost, lost.values({ limit }))).rows;
    },
    async rescue(ids, maxLosses) {
      const { rows } = await db.query<Queued & { stopped: boolean }>(rescue, rescue.values({ ids, maxLosses }));
      return rows.map(({ stopped: isStopped, ...run }) => ({ ...run, isStopped }));
    },
    async buryLost(ids, maxLosses) {
      const values = failLost.values({
        ids,
        maxLosses,
        error: jsonParam(lostError),
        fingerprint: lostError.fingerprint,
      });
      return (await db.query<EndedLate>(failLost, values)).rows;
    },
    async expire(limit) {
      const { fingerprint } = deadlineError;
      const values = expire.values({ limit, error: jsonParam(deadlineError), fingerprint });
      return (await db.query<EndedLate>(expire, values)).rows;
    },
    async endStopped(ids) {
      return ids.length === 0 ? [] : (await db.query<EndedRun>(endStopped, endStopped.values({ ids }))).rows;
    },
  };
}

/** The values of the part `run.new_arrays`. */
export const newRunColumns = (runs: readonly NewRun[]) =>
  namedColumns(runs, {
    ids: (run) => run.id,
    jobIds: (run) => run.jobId,
    namespaceIds: (run) => run.namespaceId,
    shards: (run) => run.shard,
    lanes: (run) => run.lane,
    priorities: (run) => run.priority,
    ranks: (run) => run.rank,
    runTimes: (run) => timestampParam(run.runAt),
    nominalTimes: (run) => timestampParam(run.nominal),
    triggers: (run) => run.trigger,
    tasks: (run) => run.task,
    queues: (run) => run.queue,
    payloads: (run) => jsonParam(run.payload),
    policies: (run) => jsonOrNull(run.policy),
    labels: (run) => jsonOrNull(run.labels),
    owners: (run) => run.owner,
    deadlines: (run) => timestampOrNull(run.deadline ?? null),
  });

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
  /** The caller chose the id, and surely used it for no run that ended before; absent: this node made the id. */
  readonly callerIdSince?: Instant;
}

/** Runs that may start at once, as they are sent: the values of each run, and the values of each kind of run once. */
export type RunBatch =
  | { readonly isHomogeneous: true; readonly values: BatchValues<"run.insert_homogeneous"> }
  | { readonly isHomogeneous: false; readonly values: BatchValues<"run.insert_mixed"> };

type BatchValues<Name extends string> = Omit<ParamsOf<Name>, "channel" | "notice">;

/** The values that runs of one kind share. */
interface Kind {
  readonly run: NewRun;
  readonly policy: string | null;
  readonly labels: string | null;
}

export function toRunBatch(runs: readonly NewRun[]): RunBatch {
  const kinds = new Kinds();
  const numbers = runs.map((run) => kinds.numberOf(run));
  const own = {
    ids: uuidArray(runs.map((run) => run.id)),
    shards: intArray(runs.map((run) => run.shard)),
    ranks: bigintArray(runs.map((run) => run.rank)),
    payloads: jsonArray(runs.map((run) => jsonParam(run.payload))),
    callerIdsSince: callerIdsSince(runs),
  };
  const [only, ...others] = kinds.all;
  if (only === undefined || others.length > 0) {
    return { isHomogeneous: false, values: { ...own, kinds: intArray(numbers), ...kindColumns(kinds.all) } };
  }
  const { namespaceId, lane, priority, task, queue, owner } = only.run;
  const { policy, labels } = only;
  return {
    isHomogeneous: true,
    values: { ...own, namespaceId, lane, priority, task, queue, policy, labels, owner },
  };
}

const kindColumns = (kinds: readonly Kind[]) =>
  namedColumns(kinds, {
    namespaceIds: ({ run }) => run.namespaceId,
    lanes: ({ run }) => run.lane,
    priorities: ({ run }) => run.priority,
    tasks: ({ run }) => run.task,
    queues: ({ run }) => run.queue,
    policies: ({ policy }) => policy,
    labels: ({ labels }) => labels,
    owners: ({ run }) => run.owner,
  });

class Kinds {
  readonly all: Kind[] = [];
  readonly #numbers = new Map<string, number>();
  #last: { readonly run: NewRun; readonly number: number } | undefined;

  /** From 1, as PostgreSQL counts. */
  numberOf(run: NewRun): number {
    const last = this.#last;
    if (last !== undefined && isOfSameKind(run, last.run)) return last.number;
    const policy = jsonOrNull(run.policy);
    const labels = jsonOrNull(run.labels);
    const key = `${run.namespaceId} ${run.lane} ${run.priority} ${run.task}\n${run.queue}\n${run.owner}\n${policy}\n${labels}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.all.push({ run, policy, labels });
      this.#numbers.set(key, number);
    }
    this.#last = { run, number };
    return number;
  }
}

/** From when on ended runs may have one of these ids; null: no caller chose one. */
function callerIdsSince(runs: readonly NewRun[]): string | null {
  let since = Number.POSITIVE_INFINITY;
  for (const run of runs) if (run.callerIdSince !== undefined && run.callerIdSince < since) since = run.callerIdSince;
  return since === Number.POSITIVE_INFINITY ? null : timestampParam(since);
}

/** A cheap comparison by identity: runs of one call share their policies and labels. */
function isOfSameKind(run: NewRun, other: NewRun): boolean {
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

/** The jobs of ended runs by run id; null: no other run of the job waits for the end. */
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

/** A run that ended without a result of its worker, with the values of its event. */
export interface EndedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly task: string;
  readonly queue: string;
  /** Other runs of this job may wait for its end. */
  readonly freedJobId: string | null;
}

/** A run that failed by its deadline or by the loss of its workers, with its SLA. */
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
