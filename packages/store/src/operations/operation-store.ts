import type { DurationMs, Instant, TraceContext } from "@carillon/core";
import { jsonOrNull, jsonParam, shardArray } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { RunFilter } from "../runs/run-search.js";
import type { Statements } from "../sql/statements.js";

/** An operation with the state of its next step. */
export interface StoredOperation extends OperationView {
  readonly namespaceId: number;
  readonly cursor: string | null;
  readonly step: number;
  /** The trace of the runs that it makes. */
  readonly trace: TraceContext | null;
}

export interface NewOperation {
  readonly action: OperationAction;
  readonly target: BulkTarget;
  readonly id: string;
  readonly namespaceId: number;
  readonly shard: number;
  readonly actor: string | null;
  readonly trace?: TraceContext | undefined;
}

export interface StepDone {
  readonly cursor: string | null;
  readonly seen: number;
  readonly done: number;
  readonly failed: number;
  readonly failures: readonly OperationFailure[];
  readonly isLast: boolean;
}

export interface OperationStore {
  insert(tx: Queryable, operation: NewOperation): Promise<StoredOperation>;
  find(namespaceId: number, id: string): Promise<StoredOperation | null>;
  list(namespaceId: number, before: string | null, limit: number): Promise<StoredOperation[]>;
  due(shards: readonly number[], limit: number): Promise<StoredOperation[]>;
  /** null: another node recorded the step, or the operation was aborted. */
  step(operation: StoredOperation, step: StepDone): Promise<StoredOperation | null>;
  abort(namespaceId: number, id: string, reason: string): Promise<StoredOperation | null>;
  sweep(olderThanMs: DurationMs, limit: number): Promise<number>;
}

interface Row {
  readonly id: string;
  readonly namespace_id: number;
  readonly kind: OperationView["action"];
  readonly state: OperationView["state"];
  readonly request: OperationView["target"];
  readonly cursor: string | null;
  readonly step: number;
  readonly seen: number;
  readonly done: number;
  readonly failed: number;
  readonly failures: readonly OperationFailure[];
  readonly state_reason: string | null;
  readonly actor: string | null;
  readonly trace: TraceContext | null;
  readonly created_at: Instant;
  readonly updated_at: Instant;
  readonly finished_at: Instant | null;
}

export function operationStore(db: Queryable, statements: Statements): OperationStore {
  const insert = statements.get("operation.insert");
  const find = statements.get("operation.find");
  const list = statements.get("operation.list");
  const due = statements.get("operation.list_due");
  const step = statements.get("operation.step");
  const abort = statements.get("operation.abort");
  const sweep = statements.get("operation.delete_old");
  const one = ({ rows: [row] }: { readonly rows: readonly Row[] }): StoredOperation | null =>
    row === undefined ? null : toOperation(row);
  return {
    async insert(tx, { id, namespaceId, shard, action, target, actor, trace }) {
      const json = { request: jsonParam(target), trace: jsonOrNull(trace) };
      const values = insert.values({ id, namespaceId, shard, kind: action, ...json, actor });
      const stored = one(await tx.query<Row>(insert, values));
      if (stored === null) throw new Error(`the operation ${id} was not stored`);
      return stored;
    },
    find: async (namespaceId, id) => one(await db.query<Row>(find, find.values({ namespaceId, id }))),
    async list(namespaceId, before, limit) {
      return (await db.query<Row>(list, list.values({ namespaceId, beforeId: before, limit }))).rows.map(toOperation);
    },
    async due(shards, limit) {
      return (await db.query<Row>(due, due.values({ shards: shardArray(shards), limit }))).rows.map(toOperation);
    },
    async step({ id, step: number }, { failures, ...result }) {
      return one(
        await db.query<Row>(step, step.values({ ...result, id, step: number, failures: jsonParam(failures) })),
      );
    },
    abort: async (namespaceId, id, reason) =>
      one(await db.query<Row>(abort, abort.values({ namespaceId, id, reason }))),
    async sweep(olderThanMs, limit) {
      return (await db.query(sweep, sweep.values({ olderThanMs, limit }))).rowCount;
    },
  };
}

function toOperation(row: Row): StoredOperation {
  const { id, state, cursor, step, seen, done, failed, failures, actor, trace } = row;
  return {
    id,
    state,
    cursor,
    step,
    seen,
    done,
    failed,
    failures,
    actor,
    trace,
    namespaceId: row.namespace_id,
    action: row.kind,
    target: row.request,
    stateReason: row.state_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    finishedAt: row.finished_at,
  };
}

export type BulkAction = "cancel" | "retry" | "discard";

/** purge: ends waiting runs, but not those that workers have claimed. */
export type OperationAction = BulkAction | "purge";

/** The runs with these ids, or those that match. */
export type BulkTarget = { readonly ids: readonly string[] } | { readonly filter: RunFilter };

/** A run that could not be changed. */
export interface OperationFailure {
  readonly id: string;
  readonly code: string;
  readonly detail: string;
}

export interface OperationView {
  readonly id: string;
  readonly action: OperationAction;
  readonly target: BulkTarget;
  readonly state: "running" | "done" | "aborted";
  readonly stateReason: string | null;
  /** Runs that were read; of these, those that were changed and those that could not be. The rest needed no change. */
  readonly seen: number;
  readonly done: number;
  readonly failed: number;
  /** The first failures. */
  readonly failures: readonly OperationFailure[];
  readonly actor: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt: Instant | null;
}
