import type { DurationMs, Instant, LogLine } from "@carillon/core";
import { columns, storableJson, timestampParam } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import { type ClaimName, inLockOrder } from "../dispatch/complete-and-claim.js";
import type { JobHistory } from "../history/job-history.js";
import type { Statements } from "../sql/statements.js";

export interface CheckpointRecord extends ClaimName {
  readonly number: number;
  /** JSON. */
  readonly value: string;
}

export interface ProgressRecord extends ClaimName {
  readonly number: number;
  readonly fraction: number;
  readonly text: string | null;
}

export interface StepRecord extends ClaimName {
  readonly name: string;
  /** JSON. */
  readonly value: string;
}

export interface LinesRecord extends ClaimName {
  readonly lines: readonly LogLine[];
}

/** A stored value, as JSON, and its time. */
export interface Kept {
  readonly value: string;
  readonly at: Instant;
}

export type OnceFound = Kept | "busy" | null;

/** Handler state. Each write returns the runs that the sessions still hold; for the others nothing was written. */
export interface RunRecords {
  keepCheckpoints(records: readonly CheckpointRecord[]): Promise<ReadonlySet<string>>;
  keepProgress(records: readonly ProgressRecord[]): Promise<ReadonlySet<string>>;
  keepSteps(records: readonly StepRecord[]): Promise<ReadonlySet<string>>;
  log(records: readonly LinesRecord[]): Promise<ReadonlySet<string>>;
  checkpoints(runIds: readonly string[]): Promise<ReadonlyMap<string, Kept>>;
  /** In the requested order. */
  steps(steps: readonly { readonly id: string; readonly name: string }[]): Promise<(Kept | null)[]>;
  /** False: it is done, another run does it, or the claim is over. */
  beginOnce(claim: ClaimName, key: string, keepMs: DurationMs): Promise<boolean>;
  findOnce(namespaceId: number, key: string): Promise<OnceFound>;
  /** False: another attempt has begun it since. */
  endOnce(namespaceId: number, key: string, claim: Omit<ClaimName, "session">, value: string): Promise<boolean>;
  lastSuccess(namespaceId: number, jobId: string): Promise<Kept | null>;
}

export function runRecords(db: Queryable, statements: Statements, history: JobHistory): RunRecords {
  const keepCheckpoints = statements.get("record.keep_checkpoints");
  const keepProgress = statements.get("record.keep_progress");
  const keepSteps = statements.get("record.keep_steps");
  const log = statements.get("record.log");
  const checkpoints = statements.get("record.checkpoints");
  const steps = statements.get("record.steps");
  const beginOnce = statements.get("record.begin_once");
  const findOnce = statements.get("record.find_once");
  const endOnce = statements.get("record.end_once");
  return {
    async keepCheckpoints(records) {
      const own = [(one: CheckpointRecord) => one.number, (one: CheckpointRecord) => storableJson(one.value)];
      const values = columns(inLockOrder(records), [...claim, ...own]);
      return idsOf((await db.query<IdRow>(keepCheckpoints, values)).rows);
    },
    async keepProgress(records) {
      const values = columns(inLockOrder(records), [
        ...claim,
        (one) => one.number,
        (one) => one.fraction,
        (one) => storableText(one.text),
      ]);
      return idsOf((await db.query<IdRow>(keepProgress, values)).rows);
    },
    async keepSteps(records) {
      const values = columns(inLockOrder(records), [
        ...claim,
        (one) => storableText(one.name),
        (one) => storableJson(one.value),
      ]);
      return idsOf((await db.query<IdRow>(keepSteps, values)).rows);
    },
    async log(records) {
      return idsOf((await db.query<IdRow>(log, lineParameters(records))).rows);
    },
    async checkpoints(runIds) {
      const { rows } = await db.query<Kept & IdRow>(checkpoints, [runIds]);
      return new Map(rows.map((row) => [row.id, row]));
    },
    async steps(asked) {
      const values = columns(asked, [(one) => one.id, (one) => storableText(one.name)]);
      const { rows } = await db.query<Kept & IdRow & { name: string }>(steps, values);
      return asked.map(({ id, name }) => rows.find((row) => row.id === id && row.name === storableText(name)) ?? null);
    },
    async beginOnce({ session, id, fence }, key, keepMs) {
      const values = [session, id, fence, storableText(key), Math.round(keepMs)];
      return (await db.query(beginOnce, values)).rowCount === 1;
    },
    async findOnce(namespaceId, key) {
      type Row = { value: string | null; at: Instant | null };
      const [row] = (await db.query<Row>(findOnce, [namespaceId, storableText(key)])).rows;
      if (row === undefined) return null;
      return row.value === null || row.at === null ? "busy" : { value: row.value, at: row.at };
    },
    async endOnce(namespaceId, key, { id, fence }, value) {
      const values = [namespaceId, storableText(key), id, fence, storableJson(value)];
      return (await db.query(endOnce, values)).rowCount === 1;
    },
    lastSuccess: (namespaceId, jobId) => history.lastSuccess(namespaceId, jobId),
  };
}

interface IdRow {
  readonly id: string;
}

const claim = [(one: ClaimName) => one.session, (one: ClaimName) => one.id, (one: ClaimName) => one.fence] as const;

function idsOf(rows: readonly IdRow[]): Set<string> {
  return new Set(rows.map((row) => row.id));
}

function lineParameters(records: readonly LinesRecord[]): unknown[] {
  const lines = records.flatMap((record) => record.lines.map((line) => ({ record, line })));
  return columns(lines, [
    ({ record }) => record.session,
    ({ record }) => record.id,
    ({ record }) => record.fence,
    ({ line }) => line.number,
    ({ line }) => line.level,
    ({ line }) => storableText(line.message),
    ({ line }) => (line.fieldsJson === null ? null : storableJson(line.fieldsJson)),
    ({ line }) => Math.max(0, Math.round(line.agoMs)),
  ]);
}

/** PostgreSQL holds every character but one. */
function storableText<Text extends string | null>(text: Text): Text {
  return text === null || !text.includes("\0") ? text : (text.replaceAll("\0", "\ufffd") as Text);
}

/** Removes handler state of runs that have ended. */
export interface RecordSweeps {
  /** Reads `limit` rows after this run; returns where to go on, null at the end. */
  states(after: string, limit: number): Promise<string | null>;
  steps(after: string, limit: number): Promise<string | null>;
  callbacks(after: string, limit: number): Promise<string | null>;
  /** Redrives and error groups that were last seen before; returns how many were removed. */
  failures(before: Instant, limit: number): Promise<number>;
  /** Returns how many were removed. */
  onces(limit: number): Promise<number>;
}

export function recordSweeps(db: Queryable, statements: Statements): RecordSweeps {
  const states = statements.get("record.sweep_states");
  const steps = statements.get("record.sweep_steps");
  const callbacks = statements.get("callback.sweep");
  const onces = statements.get("record.sweep_onces");
  const redrives = statements.get("failure.sweep_redrives");
  const groups = statements.get("failure.sweep_groups");
  const sweep = async (statement: typeof states, after: string, limit: number): Promise<string | null> => {
    const [row] = (await db.query<{ last: string | null; seen: number }>(statement, [after, limit])).rows;
    return row === undefined || row.seen < limit ? null : row.last;
  };
  return {
    states: (after, limit) => sweep(states, after, limit),
    steps: (after, limit) => sweep(steps, after, limit),
    callbacks: (after, limit) => sweep(callbacks, after, limit),
    async failures(before, limit) {
      const values = [timestampParam(before), limit];
      return (await db.query(redrives, values)).rowCount + (await db.query(groups, values)).rowCount;
    },
    async onces(limit) {
      return (await db.query(onces, [limit])).rowCount;
    },
  };
}
