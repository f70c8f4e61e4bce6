import { type Instant, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import { type Stretch, walkDays } from "./day-walk.js";
import { anyRow, FinishedLooks, type Look } from "./finished-looks.js";
import { dayMs, type HistoryDay, type HistoryDays } from "./history-days.js";
import { type ListPlace, type Looked, mostScanned } from "./list-direction.js";
import { orderOf } from "./list-order.js";
import { patience } from "./patience.js";
import { earliestEnd, type RunListFilter, runFilterParams } from "../runs/run-filter-params.js";
import type { RunRow } from "../runs/run-reads.js";

export interface FinishedSearchOptions {
  readonly db: Queryable;
  readonly statements: Statements;
  readonly days: HistoryDays;
  /** The database's clock. */
  readonly now: () => Instant;
}

interface Search {
  readonly namespaceId: number;
  readonly filter: RunListFilter;
  readonly place: ListPlace;
  readonly isLate: (daysToCome: number) => boolean;
}

type FoundRow = RunRow & { readonly is_match: boolean; readonly is_last: boolean };

/** For so long it is believed that a namespace is small beside others. */
const smallForMs = 60_000;
const mostRemembered = 1_000;

/**
 * Finished runs by filter. A page is looked for day by day among the rows of one index, the one that gives the fewest for the filter by
 * the planner's statistics, and among at most so many of these: what a page costs does not grow with history, whatever is asked.
 */
export class FinishedSearch {
  readonly #options: FinishedSearchOptions;
  readonly #looks: FinishedLooks;
  /** Namespaces that have few of the runs, and for how long that is believed. */
  readonly #smallUntil = new Map<number, Instant>();

  constructor(options: FinishedSearchOptions) {
    this.#options = options;
    this.#looks = new FinishedLooks(options);
  }

  async page(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<Looked<RunRow>> {
    const search = { namespaceId, filter, place, isLate: patience(this.#options.now) };
    const best = await this.#looks.best(namespaceId, filter);
    const look = best.way === "any" ? await this.#usualLook(namespaceId, filter) : best;
    const days = await this.#options.days.for(place, earliestEnd(filter) ?? 0);
    const found = await this.#walk(look, search, days);
    if (look.way !== "any" || !found.isStopped || found.rows.length >= place.limit) return found;
    const isSmall = await this.#looks.isSmall(namespaceId, filter);
    if (isSmall) this.#rememberSmall(namespaceId);
    const byTasks = await this.#looks.byTasks(filter);
    const other = byTasks ?? (isSmall ? await this.#looks.byNamespace(namespaceId, filter) : null);
    return other === null ? found : fartherOf(found, await this.#walk(other, search, days), place);
  }

  /** Where no index knows the filter: a namespace that was small a moment ago is looked up by itself at once. */
  async #usualLook(namespaceId: number, filter: RunListFilter): Promise<Look> {
    const isSmall = (this.#smallUntil.get(namespaceId) ?? 0) >= this.#options.now();
    return (isSmall ? await this.#looks.byNamespace(namespaceId, filter) : null) ?? anyRow;
  }

  #rememberSmall(namespaceId: number): void {
    if (this.#smallUntil.size >= mostRemembered) this.#smallUntil.clear();
    this.#smallUntil.set(namespaceId, this.#options.now() + smallForMs);
  }

  async #walk(look: Look, search: Search, days: readonly HistoryDay[]): Promise<Found> {
    const { place, isLate } = search;
    let isStopped = false;
    // The first of all rows are many, unless history is small or another part of the list ends soon.
    let numbering: Numbering = look.way === "any" && (place.until ?? null) === null ? "plain" : "numbered";
    const looked = await walkDays(days, {
      place,
      mostDays: look.mostDays,
      isLate,
      look: async (stretch) => {
        const found = await this.#look({ ...look, numbering }, search, stretch);
        numbering = "numbered";
        isStopped ||= found.isStopped;
        return found;
      },
    });
    return { ...looked, isStopped };
  }

  async #look(look: NumberedLook, { namespaceId, filter, place }: Search, stretch: Stretch): Promise<Found> {
    if (look.tasks.length === 0) return { rows: [], edge: null, isStopped: false };
    const { direction } = place;
    const most = Math.max(place.limit, Math.ceil(mostScanned / look.tasks.length));
    const { by, until } = idBounds(look, place, stretch);
    const tags = [direction, look.way, look.numbering, `${direction}_${look.numbering}`, `${direction}_${by}`];
    const list = pickLines(this.#options.statements.get("history.list"), ...tags);
    const days = [timestampParam(stretch.from), timestampParam(stretch.before)];
    const bounds = [place.after, place.limit, ...days, look.tasks, most, until];
    const values = [namespaceId, ...runFilterParams(filter), ...bounds];
    const found = toFound((await this.#options.db.query<FoundRow>(list, values)).rows, place);
    if (look.numbering === "numbered" || found.rows.length >= place.limit) return found;
    const edge = await this.#edge(place, days, most);
    return { rows: orderOf(direction).upTo(edge, found.rows, place.limit).rows, edge, isStopped: edge !== null };
  }

  async #edge({ after, direction }: ListPlace, days: readonly string[], most: number): Promise<string | null> {
    const { db, statements } = this.#options;
    const edge = pickLines(statements.get("history.edge"), direction);
    return (await db.query<{ id: string }>(edge, [after, ...days, most])).rows[0]?.id ?? null;
  }
}

/** Whether the rows that are looked at are numbered, or where it was stopped to look is asked for by itself. */
type Numbering = "numbered" | "plain";
type NumberedLook = Look & { readonly numbering: Numbering };

/** `isStopped`: the most that may be looked at were. */
type Found = Looked<RunRow> & { readonly isStopped: boolean };

interface IdBounds {
  /** Whether an index may find the rows by their ids. */
  readonly by: "by_id" | "gathered";
  readonly until: string | null;
}

/**
 * How ids bound a look. Where rows are gathered and the page reaches far, not as they do elsewhere: a day has few ids from long before
 * it, which its statistics do not tell apart and which lie anywhere in it. Between two of them the planner expects none, and the reading
 * of them it takes for cheaper than that of the namespace's rows.
 */
function idBounds({ way }: Look, { after }: ListPlace, { until }: Stretch): IdBounds {
  const isNear = until !== null && after !== null && Math.abs(timeOfUuid(until) - timeOfUuid(after)) <= dayMs;
  if (way === "namespace" && !isNear) return { by: "gathered", until };
  return { by: "by_id", until: way === "labels" && !isNear ? null : until };
}

/** What lies beyond the nearest place where it was stopped to look is not whole, and comes with the next page. */
function toFound(found: readonly FoundRow[], { limit, direction }: ListPlace): Found {
  const order = orderOf(direction);
  const last = found
    .filter((row) => row.is_last)
    .reduce<FoundRow | null>((a, b) => (a === null || order.isBefore(b.id, a.id) ? b : a), null);
  const matches = found.filter((row) => row.is_match);
  return { ...order.upTo(last?.id ?? null, matches, limit), isStopped: last !== null };
}

/** Both are the same list up to their edges. */
function fartherOf(a: Found, b: Found, { direction }: ListPlace): Found {
  const isNearer = b.edge !== null && (a.edge === null || orderOf(direction).isBefore(b.edge, a.edge));
  return isNearer ? a : b;
}
