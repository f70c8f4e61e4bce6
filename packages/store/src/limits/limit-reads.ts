import type { Instant, KeyedLimit, LimitKind, LimitScope, DurationMs } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { type HeadRow, type KeyRow, type LimitRow, type OwnLimits, toLimit } from "./limit-rows.js";
import { columns } from "../dispatch/parameters.js";

/** Runs that wait for the same. */
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

/** What operators see of limits, and change. */
export interface LimitReads {
  list(namespaceId: number, page: LimitFilter & { after: number; limit: number }): Promise<LimitRow[]>;
  waiting(namespaceId: number, most: number): Promise<WaitingGroup[]>;
  fix(namespaceId: number, id: number, change: LimitChange & { readonly resumes?: boolean }): Promise<LimitRow[]>;
  /** null: the run does not wait for a limit. */
  ofRun(namespaceId: number, runId: string, most: number): Promise<RunWaits | null>;
  named(namespaceId: number, limits: readonly KeyedLimit[]): Promise<LimitRow[]>;
}

export function limitReads(db: Queryable, statements: Statements): LimitReads {
  const [list, waiting, fix] = [
    statements.get("limit.list"),
    statements.get("limit.waiting"),
    statements.get("limit.fix"),
  ];
  const [ofRun, named] = [statements.get("limit.of_run"), statements.get("limit.named")];
  return {
    async list(namespaceId, { after, limit, scope = null, kind = null, key = null }) {
      return (await db.query<KeyRow>(list, [namespaceId, after, limit, scope, kind, key])).rows.map(toLimit);
    },
    async waiting(namespaceId, most) {
      type Row = { limits: string; queue: string; count: number; oldest_at: Instant };
      const { rows } = await db.query<Row>(waiting, [namespaceId, most]);
      return rows.map(({ oldest_at: oldestAt, ...row }) => ({ ...row, oldestAt }));
    },
    async fix(namespaceId, id, { limit = null, perMs = null, burst = null, isFixed = null, resumes = false }) {
      return (await db.query<KeyRow>(fix, [namespaceId, id, limit, perMs, burst, isFixed, resumes])).rows.map(toLimit);
    },
    async ofRun(namespaceId, runId, most) {
      type Row = Pick<HeadRow, "limits" | "queue" | "queue_limits" | "namespace_limits"> & { position: number };
      const [row] = (await db.query<Row>(ofRun, [namespaceId, runId, most])).rows;
      if (row === undefined) return null;
      const { limits, queue, position } = row;
      return { limits, queue, position, queueLimits: row.queue_limits, namespaceLimits: row.namespace_limits };
    },
    async named(namespaceId, limits) {
      const values = columns(limits, [(limit) => limit.scope, (limit) => limit.kind, (limit) => limit.name]);
      return (await db.query<KeyRow>(named, [namespaceId, ...values])).rows.map(toLimit);
    },
  };
}

export interface LimitFilter {
  readonly scope?: LimitScope;
  readonly kind?: LimitKind;
  readonly key?: string;
}

/** What a change says; absent members stay. */
export interface LimitChange {
  readonly limit?: number;
  readonly perMs?: DurationMs;
  readonly burst?: number;
  /** false: what runs say counts again. */
  readonly isFixed?: boolean;
}
