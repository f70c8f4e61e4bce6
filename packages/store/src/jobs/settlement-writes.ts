import type { Instant, LedgerReason, RunPolicy } from "@carillon/core";
import { jsonParam, timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { EndedRun } from "../runs/ended-runs.js";
import { columns, jsonOrNull, timestampOrNull } from "../dispatch/parameters.js";
import type { Queued } from "../runs/run-store.js";
import type { DueState } from "./settlement.js";

/** What a run takes from its caller instead of from its job. */
export interface RunOverrides {
  readonly lane?: number;
  readonly queue?: string;
  readonly priority?: number;
  /** Wrapped, because null is a payload too. */
  readonly payload?: { readonly value: unknown };
  readonly policy?: RunPolicy;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface NewJobRun {
  readonly id: string;
  readonly jobId: string;
  readonly state: "queued" | "blocked";
  readonly rank: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  /** Others of its job may wait for its end. */
  readonly serial: boolean;
  /** Its job keeps no list of its runs. */
  readonly untracked: boolean;
  readonly deadline: Instant | null;
  readonly overrides: RunOverrides;
}

export interface MadeJobRun {
  readonly id: string;
  readonly jobId: string;
  readonly state: "queued" | "blocked";
  readonly lane: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly createdAt: Instant;
}

export interface LedgerEntry {
  readonly jobId: string;
  readonly namespaceId: number;
  readonly version: number;
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

export interface DueMove {
  readonly jobId: string;
  readonly expectedVersion: number;
  readonly due: DueState;
}

export interface RunEnd {
  readonly id: string;
  readonly reason: string;
}

/** A run that waited and was ended. */
export type EndedWaiting = Omit<EndedRun, "freedJobId">;

/** The writes of a settlement, as sets. Each needs the jobs' rows locked by the same transaction. */
export interface SettlementWrites {
  /** What is not answered had its run already. */
  insertRuns(tx: Queryable, runs: readonly NewJobRun[]): Promise<MadeJobRun[]>;
  /** Ends runs that wait; answers those that did. */
  endRuns(tx: Queryable, runs: readonly RunEnd[]): Promise<readonly EndedWaiting[]>;
  /** Asks running ones to stop; answers those that run, with the session that holds them. */
  stopRuns(tx: Queryable, runs: readonly RunEnd[]): Promise<{ id: string; sessionId: string }[]>;
  /** Their job keeps no list of its runs any more; answers those that waited for others of it and may start now. */
  untrackRuns(tx: Queryable, ids: readonly string[]): Promise<Queued[]>;
  /** Throws if a row is not as it was when it was locked: nothing but a mistake of ours does that. */
  move(tx: Queryable, moves: readonly DueMove[]): Promise<void>;
  note(tx: Queryable, entries: readonly LedgerEntry[]): Promise<void>;
  /** Queues runs that waited for others of their job. */
  admitRuns(tx: Queryable, ids: readonly string[]): Promise<Queued[]>;
}

export function settlementWrites(statements: Statements): SettlementWrites {
  const insertRuns = statements.get("settlement.insert_runs");
  const endRuns = statements.get("settlement.end_runs");
  const stopRuns = statements.get("settlement.stop_runs");
  const untrackRuns = statements.get("settlement.untrack_runs");
  const move = statements.get("settlement.move");
  const note = statements.get("settlement.note");
  const admitRuns = statements.get("settlement.admit_runs");
  const ends = (runs: readonly RunEnd[]): unknown[] => columns(runs, [(run) => run.id, (run) => run.reason]);
  return {
    async insertRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<MadeRow>(insertRuns, runParameters(runs))).rows.map(toMadeRun);
    },
    async endRuns(tx, runs) {
      if (runs.length === 0) return [];
      return (await tx.query<EndedWaiting>(endRuns, ends(runs))).rows;
    },
    async stopRuns(tx, runs) {
      if (runs.length === 0) return [];
      const { rows } = await tx.query<{ id: string; session_id: string }>(stopRuns, ends(runs));
      return rows.map((row) => ({ id: row.id, sessionId: row.session_id }));
    },
    async untrackRuns(tx, ids) {
      if (ids.length === 0) return [];
      const { rows } = await tx.query<Queued & { waited: boolean }>(untrackRuns, [ids]);
      return rows.flatMap(({ waited, ...run }) => (waited ? [run] : []));
    },
    async move(tx, moves) {
      if (moves.length === 0) return;
      const { rowCount } = await tx.query(move, moveParameters(moves));
      if (rowCount !== moves.length)
        throw new Error(`settlement.move changed ${rowCount} of ${moves.length} rows that this transaction holds`);
    },
    async note(tx, entries) {
      if (entries.length > 0) await tx.query(note, noteParameters(mergeEntries(entries)));
    },
    async admitRuns(tx, ids) {
      return ids.length === 0 ? [] : (await tx.query<Queued>(admitRuns, [ids])).rows;
    },
  };
}

export interface MadeRow {
  id: string;
  job_id: string;
  state: "queued" | "blocked";
  lane: number;
  rank: number;
  run_at: Instant;
  created_at: Instant;
}

export function toMadeRun(row: MadeRow): MadeJobRun {
  const { id, state, lane, rank } = row;
  return { id, jobId: row.job_id, state, lane, rank, runAt: row.run_at, createdAt: row.created_at };
}

function runParameters(runs: readonly NewJobRun[]): unknown[] {
  return columns(runs, [
    (run) => run.id,
    (run) => run.jobId,
    (run) => run.state,
    (run) => run.rank,
    (run) => timestampParam(run.runAt),
    (run) => timestampParam(run.nominal),
    (run) => run.trigger,
    (run) => run.serial,
    (run) => run.untracked,
    (run) => run.overrides.lane ?? null,
    (run) => run.overrides.queue ?? null,
    (run) => run.overrides.priority ?? null,
    (run) => (run.overrides.payload === undefined ? null : jsonParam(run.overrides.payload.value)),
    (run) => jsonOrNull(run.overrides.policy),
    (run) => jsonOrNull(run.overrides.labels),
    (run) => timestampOrNull(run.deadline),
  ]);
}

function moveParameters(moves: readonly DueMove[]): unknown[] {
  return columns(moves, [
    (one) => one.jobId,
    (one) => one.expectedVersion,
    (one) => one.due.version,
    (one) => one.due.state,
    (one) => one.due.class,
    (one) => timestampOrNull(one.due.nominal),
    (one) => timestampOrNull(one.due.fireAt),
    (one) => timestampOrNull(one.due.firedThrough),
    (one) => one.due.firedCount,
    (one) => one.due.maxRuns,
    (one) => one.due.overlap,
    (one) => one.due.runsMade,
    (one) => `{${one.due.runIds.join(",")}}`,
    (one) => timestampOrNull(one.due.ledgerFrom),
    (one) => one.due.ledgerReason,
    (one) => timestampOrNull(one.due.catchUpTo),
    (one) => one.due.stateReason,
  ]);
}

export function noteParameters(entries: readonly LedgerEntry[]): unknown[] {
  return columns(entries, [
    (entry) => entry.jobId,
    (entry) => entry.namespaceId,
    (entry) => entry.version,
    (entry) => entry.reason,
    (entry) => timestampParam(entry.from),
    (entry) => timestampParam(entry.to),
    (entry) => entry.count,
    (entry) => entry.detail,
  ]);
}

/** One statement may touch a range only once. */
function mergeEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const byRange = new Map<string, LedgerEntry>();
  for (const entry of entries) {
    const range = `${entry.jobId} ${entry.version} ${entry.reason} ${entry.from}`;
    const known = byRange.get(range);
    byRange.set(range, known === undefined ? entry : merged(known, entry));
  }
  return [...byRange.values()];
}

/** A detail that is not that of the whole range is nobody's. */
function merged(known: LedgerEntry, entry: LedgerEntry): LedgerEntry {
  const { to, count, detail } = entry;
  const shared = known.detail === detail ? detail : null;
  return { ...known, to: Math.max(known.to, to), count: known.count + count, detail: shared };
}
