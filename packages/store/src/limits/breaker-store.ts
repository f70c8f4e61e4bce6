import type { DurationMs, Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

export interface BreakerName {
  readonly namespaceId: number;
  readonly name: string;
}

/** A breaker that is open or half open. */
export interface OpenBreaker extends BreakerName {
  readonly state: BreakerState;
  readonly probeAt: Instant;
  readonly openForMs: DurationMs;
  /** When the probe ends unless its gateway renews it. */
  readonly probeUntil: Instant | null;
}

export interface Opening {
  readonly reason: string;
  readonly forMs: DurationMs;
  /** How long it opens if the failure has no Retry-After. */
  readonly usualMs: DurationMs;
}

export interface BreakerStore {
  notClosed(): Promise<OpenBreaker[]>;
  open(breaker: BreakerName, opening: Opening): Promise<void>;
  /** False: it is too early, or another gateway has the probe. */
  takeProbe(breaker: BreakerName, gatewayId: string, forMs: DurationMs): Promise<boolean>;
  keepProbe(breaker: BreakerName, gatewayId: string, forMs: DurationMs): Promise<boolean>;
  endProbe(breaker: BreakerName, gatewayId: string, end: { closes: boolean; openForMs: DurationMs }): Promise<boolean>;
  reset(breaker: BreakerName): Promise<BreakerView | null>;
  page(namespaceId: number, of: { after?: string; limit: number; only?: string }): Promise<BreakerView[]>;
}

interface ViewRow {
  readonly name: string;
  readonly state: BreakerState;
  readonly reason: string;
  readonly opened_at: Instant;
  readonly probe_at: Instant;
  readonly openings: number;
  readonly updated_at: Instant;
}

export function breakerStore(db: Queryable, statements: Statements): BreakerStore {
  const [notClosed, open] = [statements.get("breaker.not_closed"), statements.get("breaker.open")];
  const [take, keep] = [statements.get("breaker.take_probe"), statements.get("breaker.keep_probe")];
  const [end, reset] = [statements.get("breaker.end_probe"), statements.get("breaker.reset")];
  const page = statements.get("breaker.page");
  return {
    async notClosed() {
      type Row = {
        namespace_id: number;
        name: string;
        state: BreakerState;
        probe_at: Instant;
        open_for_ms: number;
        probe_until: Instant | null;
      };
      return (await db.query<Row>(notClosed)).rows.map((row) => {
        const { namespace_id: namespaceId, name, state, probe_at: probeAt, open_for_ms: openForMs } = row;
        return { namespaceId, name, state, probeAt, openForMs, probeUntil: row.probe_until };
      });
    },
    async open({ namespaceId, name }, { reason, forMs, usualMs }) {
      const times = { openForMs: Math.round(forMs), usualMs: Math.round(usualMs) };
      await db.query(open, open.values({ namespaceId, name, reason, ...times }));
    },
    takeProbe: async (breaker, gatewayId, forMs) =>
      (await db.query(take, take.values({ ...breaker, gatewayId, forMs }))).rowCount === 1,
    keepProbe: async (breaker, gatewayId, forMs) =>
      (await db.query(keep, keep.values({ ...breaker, gatewayId, forMs }))).rowCount === 1,
    async endProbe(breaker, gatewayId, { closes, openForMs }) {
      const values = end.values({ ...breaker, gatewayId, closes, openForMs: Math.round(openForMs) });
      return (await db.query(end, values)).rowCount === 1;
    },
    async reset(breaker) {
      const [row] = (await db.query<ViewRow>(reset, reset.values(breaker))).rows;
      return row === undefined ? null : toView(row);
    },
    page: async (namespaceId, { after = null, limit, only = null }) =>
      (await db.query<ViewRow>(page, page.values({ namespaceId, after, limit, only }))).rows.map(toView),
  };
}

function toView(row: ViewRow): BreakerView {
  const { name, state, reason, openings } = row;
  return { name, state, reason, openings, openedAt: row.opened_at, probeAt: row.probe_at, updatedAt: row.updated_at };
}

/** open: its runs wait; half_open: one of them starts as a probe. */
export type BreakerState = "closed" | "open" | "half_open";

export interface BreakerView {
  readonly name: string;
  readonly state: BreakerState;
  /** Of the last opening. */
  readonly reason: string;
  readonly openedAt: Instant;
  /** When a run may start as a probe, unless the breaker is closed. */
  readonly probeAt: Instant;
  readonly openings: number;
  readonly updatedAt: Instant;
}
