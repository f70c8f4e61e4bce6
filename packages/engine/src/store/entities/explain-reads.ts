import type { Instant, KeyedLimit } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import type { OwnLimits } from "./limits.js";
import { columns } from "./parameters.js";

/** What decides over a live run beside the run itself. */
export interface RunSurroundings {
  /** As they are written with the run; null: it has none, or nobody has looked yet. */
  readonly limits: string | null;
  readonly laneKind: string;
  readonly queuePause: { readonly reason: string | null; readonly actor: string | null; readonly at: Instant } | null;
  readonly isStrict: boolean;
  readonly queueLimits: OwnLimits | null;
  readonly namespaceLimits: OwnLimits | null;
  readonly now: Instant;
}

export interface PlaceInLine {
  readonly ahead: number;
  /** Counted up to a limit. */
  readonly of: number;
}

export interface LimitState {
  readonly scope: string;
  readonly kind: string;
  readonly name: string;
  readonly limit: number;
  readonly perMs: number | null;
  readonly burst: number | null;
  readonly used: number;
  readonly starts: readonly number[];
  /** A run whose failure stopped the key. */
  readonly stoppedBy: string | null;
  readonly heldBy: string | null;
}

export interface ExplainReads {
  surroundings(namespaceId: number, runId: string): Promise<RunSurroundings | null>;
  position(namespaceId: number, runId: string): Promise<PlaceInLine>;
  placeBehind(gate: string, runId: string): Promise<PlaceInLine>;
  limits(namespaceId: number, limits: readonly KeyedLimit[]): Promise<LimitState[]>;
}

/** Runs that one answer counts. */
const mostCounted = 10_000;

export function explainReads(db: Queryable, statements: Statements): ExplainReads {
  const surroundings = statements.get("explain.run");
  const position = statements.get("explain.position");
  const gate = statements.get("explain.gate");
  const limits = statements.get("explain.limits");
  const place = (row: { ahead: number | null; of: number } | undefined): PlaceInLine => ({
    ahead: row?.ahead ?? 0,
    of: row?.of ?? 0,
  });
  return {
    async surroundings(namespaceId, runId) {
      const [row] = (await db.query<SurroundingsRow>(surroundings, [namespaceId, runId])).rows;
      if (row === undefined) return null;
      return {
        limits: row.limits,
        laneKind: row.lane_kind,
        queuePause: row.pause,
        isStrict: row.order_kind === "strict",
        queueLimits: row.queue_limits,
        namespaceLimits: row.namespace_limits,
        now: row.now,
      };
    },
    async position(namespaceId, runId) {
      return place(
        (await db.query<{ ahead: number; of: number }>(position, [namespaceId, runId, mostCounted])).rows[0],
      );
    },
    async placeBehind(name, runId) {
      return place((await db.query<{ ahead: number; of: number }>(gate, [name, runId, mostCounted])).rows[0]);
    },
    async limits(namespaceId, wanted) {
      if (wanted.length === 0) return [];
      const names = columns(wanted, [(one) => one.scope, (one) => one.kind, (one) => one.name]);
      return (await db.query<LimitRow>(limits, [namespaceId, ...names])).rows.map(toLimit);
    },
  };
}

interface SurroundingsRow {
  limits: string | null;
  lane_kind: string;
  pause: RunSurroundings["queuePause"];
  order_kind: string | null;
  queue_limits: OwnLimits | null;
  namespace_limits: OwnLimits | null;
  now: Instant;
}

interface LimitRow {
  scope: string;
  kind: string;
  name: string;
  most: number;
  per_ms: number | null;
  burst: number | null;
  used: number;
  starts: readonly (number | string)[];
  stopped_by: string | null;
  held_by: string | null;
}

function toLimit(row: LimitRow): LimitState {
  const { scope, kind, name, most: limit, per_ms: perMs, burst, used } = row;
  const starts = row.starts.map(Number);
  return { scope, kind, name, limit, perMs, burst, used, starts, stoppedBy: row.stopped_by, heldBy: row.held_by };
}
