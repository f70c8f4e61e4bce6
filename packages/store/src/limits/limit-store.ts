import { type DurationMs, type Instant, type KeyedLimit, type LimitKind, type LimitScope } from "@carillon/core";
import { namedColumns } from "../db/parameters.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";
import { type LimitAdmissions, type LimitIntake, limitAdmissions, limitIntake } from "./limit-admissions.js";
import { type OwnLimits, type LimitRow, type HeadRow, type KeyRow, toLimit } from "./limit-rows.js";

/** All statements of limits; each interface has one user. */
export type LimitStore = LimitIntake & LimitAdmissions & LimitCounts & LimitReads;

export function limitStore(db: Queryable, statements: Statements): LimitStore {
  return {
    ...limitIntake(statements),
    ...limitAdmissions(db, statements),
    ...limitCounts(db, statements),
    ...limitReads(db, statements),
  };
}

/** Runs that wait for the same limits. */
export interface WaitingGroup {
  readonly limits: string;
  readonly queue: string;
  readonly count: number;
  readonly oldestAt: Instant;
}

export interface RunWaits {
  readonly limits: string;
  readonly queue: string;
  readonly queueLimits: OwnLimits | null;
  readonly namespaceLimits: OwnLimits | null;
  readonly position: number;
}

/** Reads and changes of limits for callers. */
export interface LimitReads {
  list(namespaceId: number, page: LimitFilter & { after: number; limit: number }): Promise<LimitRow[]>;
  waiting(namespaceId: number, maxRuns: number): Promise<WaitingGroup[]>;
  fix(namespaceId: number, id: number, change: LimitChange & { readonly resumes?: boolean }): Promise<LimitRow[]>;
  /** null: the run does not wait for a limit. */
  ofRun(namespaceId: number, runId: string, maxBefore: number): Promise<RunWaits | null>;
  named(namespaceId: number, limits: readonly KeyedLimit[]): Promise<LimitRow[]>;
}

function limitReads(db: Queryable, statements: Statements): LimitReads {
  const [list, waiting, fix] = [
    statements.get("limit.list"),
    statements.get("limit.waiting"),
    statements.get("limit.override"),
  ];
  const [ofRun, named] = [statements.get("limit.of_run"), statements.get("limit.named")];
  return {
    async list(namespaceId, { after, limit, scope = null, kind = null, key = null }) {
      const values = list.values({ namespaceId, after, limit, scope, kind, name: key });
      return (await db.query<KeyRow>(list, values)).rows.map(toLimit);
    },
    async waiting(namespaceId, maxRuns) {
      type Row = { limits: string; queue: string; count: number; oldest_at: Instant };
      const { rows } = await db.query<Row>(waiting, waiting.values({ namespaceId, maxRuns }));
      return rows.map(({ oldest_at: oldestAt, ...row }) => ({ ...row, oldestAt }));
    },
    async fix(namespaceId, id, { limit = null, perMs = null, burst = null, isFixed = null, resumes = false }) {
      const values = fix.values({ namespaceId, id, limit, perMs, burst, isFixed, resumes });
      return (await db.query<KeyRow>(fix, values)).rows.map(toLimit);
    },
    async ofRun(namespaceId, runId, maxBefore) {
      type Row = Pick<HeadRow, "limits" | "queue" | "queue_limits" | "namespace_limits"> & { position: number };
      const [row] = (await db.query<Row>(ofRun, ofRun.values({ namespaceId, runId, maxBefore }))).rows;
      if (row === undefined) return null;
      const { limits, queue, position } = row;
      return { limits, queue, position, queueLimits: row.queue_limits, namespaceLimits: row.namespace_limits };
    },
    async named(namespaceId, limits) {
      const names = namedColumns(limits, {
        scopes: (limit) => limit.scope,
        kinds: (limit) => limit.kind,
        names: (limit) => limit.name,
      });
      return (await db.query<KeyRow>(named, named.values({ namespaceId, ...names }))).rows.map(toLimit);
    },
  };
}

export interface LimitFilter {
  readonly scope?: LimitScope;
  readonly kind?: LimitKind;
  readonly key?: string;
}

/** Absent members stay as they are. */
export interface LimitChange {
  readonly limit?: number;
  readonly perMs?: DurationMs;
  readonly burst?: number;
  /** false: the definitions in runs apply again. */
  readonly isFixed?: boolean;
}

/** Where a scan of lanes continues: all lanes before this one were read, and of this one all runs up to the rank. */
export interface LaneCursor {
  readonly lane: number;
  readonly rank: number;
}

/** Runs of one lane that were read. */
export interface CountedLane {
  readonly lane: number;
  /** The rank of the last run; all runs of this rank were read. */
  readonly rank: number;
  readonly seen: number;
  /** Those of them that are running or admitted. */
  readonly runIds: readonly string[];
}

/** Counts the runs that are running when a queue or a namespace gets a limit. */
export interface LimitCounts {
  /** A page of lanes of the limit's queue or namespace, each with its first runs after the cursor. */
  atWork(limit: LimitRow, after: LaneCursor, max: { lanes: number; ofEach: number }): Promise<CountedLane[]>;
  /** Gives holds of the limit to those runs that are still running; the caller's transaction has locked the limit. */
  count(tx: Queryable, limit: LimitRow, runIds: readonly string[]): Promise<void>;
}

function limitCounts(db: Queryable, statements: Statements): LimitCounts {
  const [atWork, count] = [statements.get("limit.scan_active"), statements.get("limit.count")];
  return {
    async atWork({ namespaceId, limit }, { lane, rank }, { lanes, ofEach }) {
      type Row = Omit<CountedLane, "runIds"> & { run_ids: readonly string[] | null };
      const queue = limit.scope === "queue" ? limit.name : null;
      const values = atWork.values({
        namespaceId,
        queue,
        fromLane: lane,
        afterRank: rank,
        maxLanes: lanes,
        maxOfEach: ofEach,
      });
      const { rows } = await db.query<Row>(atWork, values);
      return rows.map(({ run_ids: runIds, ...row }) => ({ ...row, runIds: runIds ?? [] }));
    },
    async count(tx, { id, limit }, runIds) {
      await tx.query(count, count.values({ limitId: id, runIds, isRate: limit.kind === "rate" }));
    },
  };
}
