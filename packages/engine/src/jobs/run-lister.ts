import { isFinal } from "@carillon/core";
import type { Page, PageRequest, RunFilter } from "../model/api.js";
import type { RunView } from "../model/run-view.js";
import type { RunListFilter, RunSearch } from "../store/entities/run-search.js";
import { mergeParts, type Part } from "./merge-parts.js";
import type { RunReader } from "./run-reader.js";

const nothing = { rows: [], edge: null };

/** Lists live and finished runs together, newest first. */
export class RunLister {
  readonly #search: RunSearch;
  readonly #runs: Pick<RunReader, "views">;

  constructor(search: RunSearch, runs: Pick<RunReader, "views">) {
    this.#search = search;
    this.#runs = runs;
  }

  async list(
    namespaceId: number,
    filter: RunFilter & { oneOffOnly?: boolean },
    { pageSize, after = null }: Omit<PageRequest, "after"> & { after?: string | null },
  ): Promise<Page<RunView>> {
    const wanted: RunListFilter = { ...filter, oneOffOnly: filter.oneOffOnly ?? false };
    const limit = pageSize + 1;
    const wantsLive = filter.status === undefined || filter.status.some((status) => !isFinal(status));
    const wantsEnded = filter.status === undefined || filter.status.some((status) => isFinal(status));
    const live = wantsLive ? await this.#search.live(namespaceId, wanted, after, limit) : nothing;
    // A run that ended between the two reads is in both: what history says is newer.
    const ended = wantsEnded ? await this.#search.finished(namespaceId, wanted, after, limit) : nothing;
    const { rows, next } = mergeParts([live, ended], pageSize);
    return { rows: await this.#runs.views(rows), next };
  }

  /** The same as a part of a list that holds other things too. */
  async part(
    namespaceId: number,
    filter: RunFilter & { oneOffOnly?: boolean },
    page: PageRequest,
  ): Promise<Part<RunView>> {
    const { rows, next } = await this.list(namespaceId, filter, page);
    return { rows, edge: next };
  }
}
