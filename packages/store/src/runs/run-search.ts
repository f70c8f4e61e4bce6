import { uuidV7Of } from "@carillon/core";
import {
  type Counted,
  FinishedSearch,
  type FinishedSearchOptions,
  FinishedTotals,
  countRows,
  estimateRows,
} from "../history/finished-search.js";
import { type ListPlace, type ListPart, maxScanned, orderOf, startTimeBudget } from "../history/history-days.js";
import { pickLines } from "../sql/statements.js";
import { type RunListFilter, clockSlackMs, runFilterValues } from "./run-filter.js";
import type { RunRow } from "./run-reads.js";

export type { RunListFilter } from "./run-filter.js";

/** The runs to count. */
export interface CountedParts {
  readonly live: boolean;
  readonly finished: boolean;
}

export interface RunSearch {
  live(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<ListPart<RunRow>>;
  finished(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<ListPart<RunRow>>;
  /** Starts the time budget of a page; the returned function says whether it is spent. */
  startTimeBudget(): () => boolean;
  /** The number of runs by the planner's statistics. */
  estimate(namespaceId: number, filter: RunListFilter, parts: CountedParts): Promise<number>;
  /** The number of runs, up to `max` of each part and as far as they are counted in time. */
  count(namespaceId: number, filter: RunListFilter, parts: CountedParts, max: number): Promise<Counted>;
}

export function runSearch(options: FinishedSearchOptions): RunSearch {
  const { db, statements, days, now } = options;
  const liveMatches = statements.get("run.matches");
  const ended = new FinishedSearch(options);
  const totals = new FinishedTotals({ db, matches: statements.get("history.matches"), days, now });
  const nothing = { count: 0, isWhole: true };
  return {
    live: (namespaceId, filter, place) => liveOf(options, { namespaceId, filter, place: startOf(filter, place) }),
    finished: (namespaceId, filter, place) => ended.page(namespaceId, filter, startOf(filter, place)),
    startTimeBudget: () => startTimeBudget(now),
    async estimate(namespaceId, filter, parts) {
      const values = liveMatches.values({ namespaceId, ...runFilterValues(filter), maxCount: null });
      const live = parts.live ? await estimateRows(db, liveMatches, values) : 0;
      return live + (parts.finished ? await totals.estimate(namespaceId, filter) : 0);
    },
    async count(namespaceId, filter, parts, max) {
      const values = liveMatches.values({ namespaceId, ...runFilterValues(filter), maxCount: max });
      const live = parts.live ? await countRows(db, liveMatches, values) : 0;
      const finished = parts.finished ? await totals.count(namespaceId, filter, max) : nothing;
      return { count: live + finished.count, isWhole: live < max && finished.isWhole };
    },
  };
}

/** Live runs that one page scans; of runs of other namespaces it reads only the namespace. */
const maxOfAll = 2 * maxScanned;
interface ScanBounds {
  readonly maxScanned: number;
  readonly maxScannedOfAll: number;
}

/** For a scan that an id bounds. */
const noBounds: ScanBounds = { maxScanned: 2 ** 31 - 1, maxScannedOfAll: 2 ** 31 - 1 };

interface LiveSearch {
  readonly namespaceId: number;
  readonly filter: RunListFilter;
  readonly place: ListPlace;
}

async function liveOf(
  { db, statements }: FinishedSearchOptions,
  { namespaceId, filter, place: { after, limit, direction, until = null } }: LiveSearch,
): Promise<ListPart<RunRow>> {
  const list = statements.get("run.list");
  const rowsUpTo = async (last: string | null, bounds: ScanBounds): Promise<RunRow[]> => {
    const place = { after, limit, until: last, ...bounds };
    const values = list.values({ namespaceId, ...runFilterValues(filter), ...place });
    return (await db.query<RunRow>(pickLines(list, direction), values)).rows;
  };
  const bounds = { maxScanned, maxScannedOfAll: maxOfAll };
  const rows = await rowsUpTo(until, bounds);
  if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
  const liveEdge = statements.get("run.edge");
  const edgeValues = liveEdge.values({ namespaceId, after, ...bounds });
  const stop = (await db.query<{ id: string }>(pickLines(liveEdge, direction), edgeValues)).rows[0]?.id ?? null;
  const edge = orderOf(direction).nearer(until, stop);
  // Runs that ended between the two statements moved the stop: the rows before it are read again, so that none is skipped.
  return { rows: edge === null || edge === until ? rows : await rowsUpTo(edge, noBounds), edge };
}

/** Runs created before a time have ids from before it, or soon after. */
function startOf({ createdBefore }: RunListFilter, place: ListPlace): ListPlace {
  const { after, direction } = place;
  if (createdBefore === undefined || direction === "oldest_first") return place;
  const bound = uuidV7Of(Math.min(Math.max(0, createdBefore + clockSlackMs), 2 ** 48 - 1), 0, 0, 0);
  return { ...place, after: after === null || bound < after ? bound : after };
}

export interface RunFilter extends Omit<RunListFilter, "oneOffOnly"> {
  /** Values of payloads by their paths. Throws path_not_searchable for a path that was not declared. */
  readonly payload?: Readonly<Record<string, string>>;
}
