import { isFinal } from "@carillon/core";
import type { RunView } from "./run-view.js";
import type { CountedParts, RunListFilter, RunSearch, RunFilter } from "@carillon/store";
import { mergeParts, type Part } from "./merge-parts.js";
import { mostCounted } from "./most-counted.js";
import type { RunReader } from "./run-reader.js";
import type { Page, PageRequest, Total, TotalRequest } from "../requests.js";

const nothing = { rows: [], edge: null };

type Filter = RunFilter & { readonly oneOffOnly?: boolean };

/** `until`: what lies beyond this id is not wanted. */
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
    // A run that ended between the two reads is in both: what history says is newer.
    const reach = { ...place, until: live.edge ?? until };
    const ended = parts.finished ? await this.#search.finished(namespaceId, wanted, reach) : nothing;
    const { rows, next } = mergeParts([live, ended], { pageSize, direction });
    return { rows: await this.#runs.views(rows), next };
  }

  /** Says, from now on, whether a page that is begun got late. */
  patience(): () => boolean {
    return this.#search.patience();
  }

  /** The same as a part of a list that holds other things too. */
  async part(namespaceId: number, filter: Filter, page: RunPageRequest): Promise<Part<RunView>> {
    const { rows, next } = await this.list(namespaceId, filter, page);
    return { rows, edge: next };
  }

  async total(namespaceId: number, filter: Filter, request: TotalRequest): Promise<Total> {
    const wanted = toListFilter(filter);
    const parts = partsOf(filter);
    if (request === "estimate") {
      return { count: await this.#search.estimate(namespaceId, wanted, parts), accuracy: "estimate" };
    }
    const { count, isWhole } = await this.#search.count(namespaceId, wanted, parts, mostCounted);
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
