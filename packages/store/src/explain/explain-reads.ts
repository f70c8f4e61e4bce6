import type { Instant } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statements.js";

/** The state around a live run that decides whether it can start. */
export interface RunSurroundings {
  readonly laneKind: string;
  /** What the run's lane requires of workers. */
  readonly requires: string;
  readonly queuePause: { readonly reason: string | null; readonly actor: string | null; readonly at: Instant } | null;
  readonly isStrict: boolean;
  readonly now: Instant;
}

export interface PlaceInLine {
  readonly ahead: number;
  /** Counted up to a limit. */
  readonly of: number;
  /** Running runs of the same queue. */
  readonly running: number;
}

export interface ExplainReads {
  surroundings(namespaceId: number, runId: string): Promise<RunSurroundings | null>;
  position(namespaceId: number, runId: string): Promise<PlaceInLine>;
}

/** Runs that one answer counts. */
const maxCounted = 10_000;

export function explainReads(db: Queryable, statements: Statements): ExplainReads {
  const surroundings = statements.get("explain.run");
  const position = statements.get("explain.position");
  return {
    async surroundings(namespaceId, runId) {
      const [row] = (await db.query<SurroundingsRow>(surroundings, [namespaceId, runId])).rows;
      if (row === undefined) return null;
      return {
        laneKind: row.lane_kind,
        requires: row.requires,
        queuePause: row.pause,
        isStrict: row.order_kind === "strict",
        now: row.now,
      };
    },
    async position(namespaceId, runId) {
      const [row] = (await db.query<PlaceInLine>(position, [namespaceId, runId, maxCounted])).rows;
      return row ?? { ahead: 0, of: 0, running: 0 };
    },
  };
}

interface SurroundingsRow {
  lane_kind: string;
  requires: string;
  pause: RunSurroundings["queuePause"];
  order_kind: string | null;
  now: Instant;
}
