import { type Instant, uuidV7Of } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import { FinishedSearch } from "./finished-search.js";
import { type ListPlace, type Looked, mostScanned } from "./list-direction.js";
import { countRows, estimateRows } from "./row-estimates.js";
import { clockSlackMs, earliestEnd, type RunListFilter, runFilterParams } from "./run-filter-params.js";
import { timestampOrNull } from "./parameters.js";
import type { RunRow } from "./run-reads.js";

export type { RunListFilter } from "./run-filter-params.js";

/** Which runs are counted: those that are live, those that have ended. */
export interface CountedParts {
  readonly live: boolean;
  readonly finished: boolean;
}

export interface RunSearch {
  live(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<Looked<RunRow>>;
  finished(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<Looked<RunRow>>;
  /** How many there are, by the planner's statistics. */
  estimate(namespaceId: number, filter: RunListFilter, parts: CountedParts): Promise<number>;
  /** How many there are, up to a number. */
  count(namespaceId: number, filter: RunListFilter, parts: CountedParts, most: number): Promise<number>;
}

export function runSearch(db: Queryable, statements: Statements, now: () => Instant): RunSearch {
  const listLive = statements.get("run.list");
  const liveEdge = statements.get("run.edge");
  const liveMatches = statements.get("run.matches");
  const endedMatches = statements.get("history.matches");
  const ended = new FinishedSearch(db, statements, now);
  const sum = async (of: typeof countRows, { namespaceId, filter, parts, most }: Counted): Promise<number> => {
    const params = [namespaceId, ...runFilterParams(filter)];
    const counts = [
      parts.live ? await of(db, liveMatches, [...params, most]) : 0,
      parts.finished ? await of(db, endedMatches, [...params, timestampOrNull(earliestEnd(filter)), most]) : 0,
    ];
    return counts.reduce((total, count) => total + count);
  };
  return {
    async live(namespaceId, filter, place) {
      const { after, limit, direction } = startOf(filter, place);
      const list = pickLines(listLive, direction);
      const values = [namespaceId, after, limit, ...runFilterParams(filter), mostScanned];
      const { rows } = await db.query<RunRow>(list, values);
      if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
      const edge = await db.query<{ id: string }>(pickLines(liveEdge, direction), [namespaceId, after, mostScanned]);
      return { rows, edge: edge.rows[0]?.id ?? null };
    },
    finished: (namespaceId, filter, place) => ended.page(namespaceId, filter, startOf(filter, place)),
    estimate: (namespaceId, filter, parts) => sum(estimateRows, { namespaceId, filter, parts, most: null }),
    count: (namespaceId, filter, parts, most) => sum(countRows, { namespaceId, filter, parts, most }),
  };
}

interface Counted {
  readonly namespaceId: number;
  readonly filter: RunListFilter;
  readonly parts: CountedParts;
  readonly most: number | null;
}

/** No run is made before its id says: those made before a time have ids from before it, or soon after. */
function startOf({ createdBefore }: RunListFilter, place: ListPlace): ListPlace {
  const { after, direction } = place;
  if (createdBefore === undefined || direction === "oldest_first") return place;
  const bound = uuidV7Of(Math.min(Math.max(0, createdBefore + clockSlackMs), 2 ** 48 - 1), 0, 0, 0);
  return { ...place, after: after === null || bound < after ? bound : after };
}
