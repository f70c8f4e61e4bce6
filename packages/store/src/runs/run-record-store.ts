import type { DurationMs, Instant, LogLevel, LogLine } from "@carillon/core";
import { namedColumns, storableJson, timestampParam } from "../db/parameters.js";
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
  /** False: the action is done, another run is doing it, or the claim is over. */
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
      const values = namedColumns(inLockOrder(records), {
        ...claim,
        numbers: (one) => one.number,
        values: (one) => storableJson(one.value),
      });
      return idsOf((await db.query<IdRow>(keepCheckpoints, keepCheckpoints.values(values))).rows);
    },
    async keepProgress(records) {
      const values = namedColumns(inLockOrder(records), {
        ...claim,
        numbers: (one) => one.number,
        fractions: (one) => one.fraction,
        texts: (one) => storableText(one.text),
      });
      return idsOf((await db.query<IdRow>(keepProgress, keepProgress.values(values))).rows);
    },
    async keepSteps(records) {
      const values = namedColumns(inLockOrder(records), {
        ...claim,
        names: (one) => storableText(one.name),
        values: (one) => storableJson(one.value),
      });
      return idsOf((await db.query<IdRow>(keepSteps, keepSteps.values(values))).rows);
    },
    async log(records) {
      return idsOf((await db.query<IdRow>(log, log.values(lineColumns(records)))).rows);
    },
    async checkpoints(runIds) {
      const { rows } = await db.query<Kept & IdRow>(checkpoints, checkpoints.values({ runIds }));
      return new Map(rows.map((row) => [row.id, row]));
    },
    async steps(asked) {
      const values = namedColumns(asked, { runIds: (one) => one.id, names: (one) => storableText(one.name) });
      const { rows } = await db.query<Kept & IdRow & { name: string }>(steps, steps.values(values));
      return asked.map(({ id, name }) => rows.find((row) => row.id === id && row.name === storableText(name)) ?? null);
    },
    async beginOnce({ session: sessionId, id: runId, fence }, key, keepMs) {
      const values = beginOnce.values({ sessionId, runId, fence, key: storableText(key), keptMs: Math.round(keepMs) });
      return (await db.query(beginOnce, values)).rowCount === 1;
    },
    async findOnce(namespaceId, key) {
      type Row = { value: string | null; at: Instant | null };
      const values = findOnce.values({ namespaceId, key: storableText(key) });
      const [row] = (await db.query<Row>(findOnce, values)).rows;
      if (row === undefined) return null;
      return row.value === null || row.at === null ? "busy" : { value: row.value, at: row.at };
    },
    async endOnce(namespaceId, key, { id: runId, fence }, value) {
      const done = { key: storableText(key), value: storableJson(value) };
      const values = endOnce.values({ namespaceId, runId, fence, ...done });
      return (await db.query(endOnce, values)).rowCount === 1;
    },
    lastSuccess: (namespaceId, jobId) => history.lastSuccess(namespaceId, jobId),
  };
}

interface IdRow {
  readonly id: string;
}

const claim = {
  sessionIds: (one: ClaimName) => one.session,
  runIds: (one: ClaimName) => one.id,
  fences: (one: ClaimName) => one.fence,
};

function idsOf(rows: readonly IdRow[]): Set<string> {
  return new Set(rows.map((row) => row.id));
}

function lineColumns(records: readonly LinesRecord[]) {
  const lines = records.flatMap((record) => record.lines.map((line) => ({ record, line })));
  return namedColumns(lines, {
    sessionIds: ({ record }) => record.session,
    runIds: ({ record }) => record.id,
    fences: ({ record }) => record.fence,
    numbers: ({ line }) => line.number,
    levels: ({ line }) => line.level,
    messages: ({ line }) => storableText(line.message),
    fields: ({ line }) => (line.fieldsJson === null ? null : storableJson(line.fieldsJson)),
    agoMs: ({ line }) => Math.max(0, Math.round(line.agoMs)),
  });
}

/** PostgreSQL stores every character except NUL. */
function storableText<Text extends string | null>(text: Text): Text {
  return text === null || !text.includes("\0") ? text : (text.replaceAll("\0", "\ufffd") as Text);
}

/** Removes handler state of runs that have ended. */
export interface RecordSweeps {
  /** Reads `limit` rows after this run; returns where to continue, null at the end. */
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
  type Sweep = typeof states | typeof steps | typeof callbacks;
  const sweep = async (statement: Sweep, after: string, limit: number): Promise<string | null> => {
    const values = statement.values({ after, limit });
    const [row] = (await db.query<{ last: string | null; seen: number }>(statement, values)).rows;
    return row === undefined || row.seen < limit ? null : row.last;
  };
  return {
    states: (after, limit) => sweep(states, after, limit),
    steps: (after, limit) => sweep(steps, after, limit),
    callbacks: (after, limit) => sweep(callbacks, after, limit),
    async failures(before, limit) {
      const bound = { before: timestampParam(before), limit };
      const ofRedrives = await db.query(redrives, redrives.values(bound));
      return ofRedrives.rowCount + (await db.query(groups, groups.values(bound))).rowCount;
    },
    async onces(limit) {
      return (await db.query(onces, onces.values({ limit }))).rowCount;
    },
  };
}

export interface LinesAsked {
  readonly namespaceId: number;
  readonly runId: string;
  readonly after: LinePlace;
  readonly limit: number;
  readonly notBefore: Instant;
  readonly levels: readonly LogLevel[];
}

/** Reads the logs of runs. */
export interface RunLogStore {
  lines(asked: LinesAsked): Promise<RunLine[]>;
}

export function runLogStore(db: Queryable, statements: Statements): RunLogStore {
  const lines = statements.get("record.lines");
  return {
    async lines({ namespaceId, runId, after, limit, notBefore, levels }) {
      type Row = Omit<RunLine, "at"> & { logged_at: Instant };
      const place = { afterFence: after.fence, afterNumber: after.number };
      const values = lines.values({
        namespaceId,
        runId,
        ...place,
        limit,
        notBefore: timestampParam(notBefore),
        levels,
      });
      const { rows } = await db.query<Row>(lines, values);
      return rows.map(({ logged_at: at, ...line }) => ({ ...line, at }));
    },
  };
}

/** The place of a line in the log of its run: by attempt (fence), then by number. */
export interface LinePlace {
  readonly fence: number;
  readonly number: number;
}

export interface RunLine extends LinePlace {
  readonly at: Instant;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
}
