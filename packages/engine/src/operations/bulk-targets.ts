import type { RunStatus } from "@carillon/core";
import type { RunLister } from "../runs/run-lister.js";
import type { RunReader } from "../runs/run-reader.js";
import type { RunView } from "../runs/run-view.js";
import type { OperationAction, BulkTarget } from "@carillon/store";

export interface TargetPage {
  readonly runs: readonly RunView[];
  /** Ids that were named and that no run has. */
  readonly missing: readonly string[];
  /** Where the next page begins; null after the last. */
  readonly cursor: string | null;
}

const ofAction: Readonly<Record<OperationAction, readonly RunStatus[]>> = {
  cancel: ["scheduled", "queued", "blocked", "running", "retrying"],
  retry: ["failed"],
  discard: ["failed"],
  purge: ["scheduled", "queued", "blocked", "retrying"],
};

export interface BulkTargetsOptions {
  readonly lister: Pick<RunLister, "list">;
  readonly runs: Pick<RunReader, "findMany">;
}

/** The runs of an operation, a page at a time, newest first. What an action cannot be about is left out by its status. */
export class BulkTargets {
  readonly #options: BulkTargetsOptions;

  constructor(options: BulkTargetsOptions) {
    this.#options = options;
  }

  async page(of: PageOf): Promise<TargetPage> {
    const { target } = of;
    return "ids" in target ? this.#named(of, target.ids) : this.#matching(of, target.filter);
  }

  async #named({ namespaceId, cursor, pageSize }: PageOf, ids: readonly string[]): Promise<TargetPage> {
    const { runs } = this.#options;
    const from = cursor === null ? 0 : Number(cursor);
    const part = ids.slice(from, from + pageSize);
    const found = await runs.findMany(namespaceId, part);
    const next = from + part.length;
    return {
      runs: part.flatMap((id) => found.get(id) ?? []),
      missing: part.filter((id) => !found.has(id)),
      cursor: next < ids.length ? String(next) : null,
    };
  }

  async #matching(of: PageOf, filter: Extract<BulkTarget, { filter: unknown }>["filter"]): Promise<TargetPage> {
    const { namespaceId, action, cursor, pageSize } = of;
    const possible = ofAction[action];
    const status = filter.status === undefined ? possible : possible.filter((one) => filter.status?.includes(one));
    if (status.length === 0) return { runs: [], missing: [], cursor: null };
    const page = await this.#options.lister.list(namespaceId, { ...filter, status }, { pageSize, after: cursor });
    return { runs: page.rows, missing: [], cursor: page.next };
  }
}

export interface PageOf {
  readonly namespaceId: number;
  readonly action: OperationAction;
  readonly target: BulkTarget;
  readonly cursor: string | null;
  readonly pageSize: number;
}
