import { CarillonError, isFinal, type LabelCondition, searchKeyOf } from "@carillon/core";
import type {
  CountedParts,
  ListDirection,
  ListPart,
  RunFilter,
  RunListFilter,
  RunSearch,
  SearchPaths,
} from "@carillon/store";
import type { Page, PageRequest, Total, TotalRequest } from "../requests.js";
import type { RunReader, RunView } from "./run-reader.js";

const nothing = { rows: [], edge: null };

type Filter = RunFilter & { readonly oneOffOnly?: boolean };

/** `until`: the page ends at this id. */
type RunPageRequest = Omit<PageRequest, "after"> & { readonly after?: string | null; readonly until?: string | null };

/** Lists live and finished runs together. */
export class RunLister {
  readonly #search: RunSearch;
  readonly #runs: Pick<RunReader, "views">;

  constructor(search: RunSearch, runs: Pick<RunReader, "views">) {
    this.#search = search;
    this.#runs = runs;
  }

  async list(
    namespaceId: number,
    filter: Filter,
    { pageSize, after = null, oldestFirst = false, until = null }: RunPageRequest,
  ): Promise<Page<RunView>> {
    const wanted = toListFilter(filter);
    const direction = oldestFirst ? "oldest_first" : "newest_first";
    const place = { after, limit: pageSize + 1, direction, until } as const;
    const parts = partsOf(filter);
    const live = parts.live ? await this.#search.live(namespaceId, wanted, place) : nothing;
    // A run that ended between the two reads is in both: the row of history is newer.
    const reach = { ...place, until: live.edge ?? until };
    const ended = parts.finished ? await this.#search.finished(namespaceId, wanted, reach) : nothing;
    const { rows, next } = mergeParts([live, ended], { pageSize, direction });
    return { rows: await this.#runs.views(rows), next };
  }

  /** Starts the time budget of a page; the returned function says whether it is spent. */
  startTimeBudget(): () => boolean {
    return this.#search.startTimeBudget();
  }

  /** A page as one part of a list that is merged from several tables. */
  async part(namespaceId: number, filter: Filter, page: RunPageRequest): Promise<ListPart<RunView>> {
    const { rows, next } = await this.list(namespaceId, filter, page);
    return { rows, edge: next };
  }

  async total(namespaceId: number, filter: Filter, request: TotalRequest): Promise<Total> {
    const wanted = toListFilter(filter);
    const parts = partsOf(filter);
    if (request === "estimate") {
      return { count: await this.#search.estimate(namespaceId, wanted, parts), accuracy: "estimate" };
    }
    const { count, isWhole } = await this.#search.count(namespaceId, wanted, parts, maxCounted);
    return { count, accuracy: isWhole ? "exact" : "at_least" };
  }
}

function toListFilter(filter: Filter): RunListFilter {
  return { ...filter, oneOffOnly: filter.oneOffOnly ?? false };
}

function partsOf({ status }: Filter): CountedParts {
  return {
    live: status === undefined || status.some((one) => !isFinal(one)),
    finished: status === undefined || status.some((one) => isFinal(one)),
  };
}

/**
 * One page from several tables. It ends where the reading of any of them ended, so that it may be short, or empty, before the last. Of
 * two rows with one id the later part's is taken.
 */
export function mergeParts<Row extends { readonly id: string }>(
  parts: readonly ListPart<Row>[],
  { pageSize, direction }: { readonly pageSize: number; readonly direction: ListDirection },
): Page<Row> {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  const edge = parts.reduce<string | null>((nearest, part) => {
    return part.edge !== null && (nearest === null || isBefore(part.edge, nearest)) ? part.edge : nearest;
  }, null);
  const byId = new Map(parts.flatMap((part) => part.rows.map((row) => [row.id, row] as const)));
  const rows = [...byId.values()]
    .filter((row) => edge === null || !isBefore(edge, row.id))
    .sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1));
  const shown = rows.slice(0, pageSize);
  return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.id ?? null) : edge };
}

/** An exact total counts this many rows of a table; of a table with more it is a lower bound. */
export const maxCounted = 100_000;

interface PayloadFilter {
  readonly payload?: Readonly<Record<string, string>>;
  readonly labels?: readonly LabelCondition[];
}

/** Replaces a filter by values of payloads by one on the labels that they are stored as. Throws path_not_searchable. */
export async function searchByLabels<Given extends PayloadFilter>(
  filter: Given,
  namespaceId: number,
  paths: SearchPaths,
): Promise<Omit<Given, "payload">> {
  const { payload, ...rest } = filter;
  if (payload === undefined) return filter;
  const unknown = await paths.unknown(namespaceId, Object.keys(payload));
  if (unknown.length > 0) throw notSearchable(unknown);
  const values = Object.entries(payload).map(([path, value]): LabelCondition => ({
    key: searchKeyOf(path),
    isIn: true,
    among: [value],
  }));
  return { ...rest, labels: [...(filter.labels ?? []), ...values] };
}

function notSearchable(paths: readonly string[]): CarillonError {
  const code = "path_not_searchable";
  const detail =
    'No job or run of the namespace declared this path searchable. Send searchable: ["…"] with a job or a run first.';
  const items = paths.map((path) => ({ pointer: `?payload.${path}`, code, detail }) as const);
  return new CarillonError(code, `?payload.${paths[0]}: ${detail}`, { items });
}
