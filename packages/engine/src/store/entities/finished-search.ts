import { type Instant, timeOfUuid, uuidV7Of } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import { labelParams } from "./label-params.js";
import { type ListPlace, type Looked, mostScanned } from "./list-direction.js";
import { estimateRows } from "./row-estimates.js";
import { clockSlackMs, earliestEnd, latestTime, type RunListFilter, runFilterParams } from "./run-filter-params.js";
import type { RunRow } from "./run-reads.js";

/** The index by which finished runs are looked through: each gives its rows in the order of the list. */
type Way = "any" | "task" | "owner" | "job" | "failed" | "unrun" | "asked" | "labels";

interface Look {
  readonly way: Way;
  /** Where the way is task. */
  readonly tasks: readonly string[];
}

/** Ends from then on and before then, of runs with ids from then on: days outside are not even planned for. */
interface Days {
  readonly from: Instant;
  readonly before: Instant;
  readonly idsFrom: string;
}

type Found = Looked<RunRow> & { readonly own: number };
type FoundRow = RunRow & { readonly is_match: boolean; readonly is_last: boolean; readonly own: number };

const dayMs = 86_400_000;
/** Most pages are full with what so many days give; a page that is not is looked for in all. */
const firstDaysMs = 3 * dayMs;
/** By so many days it is judged which index gives the fewest rows. */
const judgedDaysMs = 7 * dayMs;
/** Matches of labels within these days: more are not gathered and sorted. */
const mostGathered = 1_000;
/** More tasks than this are not looked through one by one … */
const mostTasks = 200;
/** … and more than this only if too little was found among the newest rows. */
const fewTasks = 8;
/** A namespace with less than this share of the newest rows is looked up by its tasks. */
const smallShare = 0.1;
const smallForMs = 60_000;
const mostRemembered = 1_000;
const anyRow: Look = { way: "any", tasks: [""] };
const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Finished runs by filter. A page is looked for among the rows of one index, the one that gives the fewest for the filter by the
 * planner's statistics, and among at most so many of these: what a page costs does not grow with history, whatever is asked.
 */
export class FinishedSearch {
  readonly #db: Queryable;
  readonly #statements: Statements;
  /** The database's clock. */
  readonly #now: () => Instant;
  /** Namespaces that had few of the newest rows, and for how long that is believed. */
  readonly #smallUntil = new Map<number, Instant>();

  constructor(db: Queryable, statements: Statements, now: () => Instant) {
    this.#db = db;
    this.#statements = statements;
    this.#now = now;
  }

  async page(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<Looked<RunRow>> {
    const search = { namespaceId, filter, place };
    const best = await this.#bestLook(namespaceId, filter);
    const look = best.way === "any" ? await this.#usualLook(namespaceId, filter) : best;
    const first = this.#firstDays(filter, place);
    const soon = first === null ? null : await this.#look(look, search, first);
    // One that stopped within these days stops at the same place in all.
    const found = soon !== null && soon.edge !== null ? soon : await this.#look(look, search, this.#allDays(filter));
    if (look.way !== "any" || found.edge === null || found.rows.length >= place.limit) return found;
    const isSmall = found.own < mostScanned * smallShare;
    if (isSmall) this.#rememberSmall(namespaceId);
    const named = await this.#tasksNamed(filter, mostTasks);
    const tasks = named ?? (isSmall ? await this.#tasksOf(namespaceId, filter) : null);
    return tasks === null ? found : this.#look({ way: "task", tasks }, search, this.#allDays(filter));
  }

  /** Where no index knows the filter: a namespace that was small a moment ago is looked up by its tasks at once. */
  async #usualLook(namespaceId: number, filter: RunListFilter): Promise<Look> {
    const until = this.#smallUntil.get(namespaceId) ?? 0;
    const tasks = until < this.#now() ? null : await this.#tasksOf(namespaceId, filter);
    return tasks === null ? anyRow : { way: "task", tasks };
  }

  #rememberSmall(namespaceId: number): void {
    if (this.#smallUntil.size >= mostRemembered) this.#smallUntil.clear();
    this.#smallUntil.set(namespaceId, this.#now() + smallForMs);
  }

  /** The end of a run is never in the future. */
  #allDays(filter: RunListFilter): Days {
    return { from: earliestEnd(filter) ?? 0, before: this.#now() + dayMs, idsFrom: firstId };
  }

  /** No run ends before its id was made: of ids since a time, the ends lie after it too. null: that saves nothing. */
  #firstDays(filter: RunListFilter, { after, direction }: ListPlace): Days | null {
    if (direction === "oldest_first") return null;
    const newest = after === null ? this.#now() : Math.min(timeOfUuid(after), this.#now());
    const since = Math.max(0, newest - firstDaysMs);
    const { from, before } = this.#allDays(filter);
    if (from >= since - clockSlackMs) return null;
    return { from: since - clockSlackMs, before, idsFrom: uuidV7Of(since, 0, 0, 0) };
  }

  async #look(look: Look, { namespaceId, filter, place }: Search, days: Days): Promise<Found> {
    const { after, limit, direction } = place;
    if (look.tasks.length === 0) return { rows: [], edge: null, own: 0 };
    const most = Math.max(limit, Math.ceil(mostScanned / look.tasks.length));
    const list = pickLines(this.#statements.get("history.list"), direction, look.way);
    const bounds = [timestampParam(days.from), timestampParam(days.before), look.tasks, most, days.idsFrom];
    const values = [namespaceId, after, limit, ...runFilterParams(filter), ...bounds];
    return toFound((await this.#db.query<FoundRow>(list, values)).rows, place);
  }

  /** Of the indexes that know a part of the filter, that with the fewest rows. */
  async #bestLook(namespaceId: number, filter: RunListFilter): Promise<Look> {
    const looks = await this.#looksFor(filter);
    const [only] = looks;
    if (only === undefined) return anyRow;
    if (looks.length === 1 && only.way !== "labels") return only;
    const costs = await Promise.all(looks.map((look) => this.#rowsUnder(look, namespaceId, filter)));
    // All matches of labels are gathered and sorted: of many, some are soon found among the rows of another index.
    const usable = looks.flatMap((look, at) => {
      const rows = costs[at] ?? 0;
      return look.way === "labels" && rows > mostGathered ? [] : [{ look, rows }];
    });
    return usable.toSorted((one, other) => one.rows - other.rows)[0]?.look ?? anyRow;
  }

  async #looksFor(filter: RunListFilter): Promise<Look[]> {
    const { jobId, owner, status, trigger } = filter;
    const ended = status?.filter((one) => endStatuses.has(one));
    const ways: (Way | false)[] = [
      jobId !== undefined && "job",
      owner !== undefined && "owner",
      ended?.every((one) => one === "failed") === true && "failed",
      ended?.every((one) => one === "cancelled" || one === "skipped") === true && "unrun",
      trigger !== undefined && askedTriggers.has(trigger) && "asked",
      labelParams(filter.labels)[0] !== null && "labels",
    ];
    const plain = ways.filter((way) => way !== false).map((way): Look => ({ way, tasks: [""] }));
    const tasks = await this.#tasksNamed(filter, fewTasks);
    return tasks === null ? plain : [...plain, { way: "task", tasks }];
  }

  /** The tasks that runs of the filter can have, where the filter says so. */
  async #tasksNamed({ task, queue }: RunListFilter, most: number): Promise<readonly string[] | null> {
    if (task !== undefined) return [task];
    if (queue === undefined) return null;
    const tasksOf = this.#statements.get("lane.tasks_of");
    const { rows } = await this.#db.query<{ task: string }>(tasksOf, [queue, most + 1]);
    return rows.length > most ? null : rows.map((row) => row.task);
  }

  async #tasksOf(namespaceId: number, filter: RunListFilter): Promise<readonly string[] | null> {
    const values = [namespaceId, mostTasks + 1, timestampParam(earliestEnd(filter) ?? 0)];
    const { rows } = await this.#db.query<{ task: string }>(this.#statements.get("history.tasks"), values);
    return rows.length > mostTasks ? null : rows.map((row) => row.task);
  }

  #rowsUnder({ way, tasks }: Look, namespaceId: number, filter: RunListFilter): Promise<number> {
    const { jobId = null, owner = null, createdBefore = latestTime } = filter;
    const before = Math.min(createdBefore, this.#now()) + dayMs;
    const days = [timestampParam(Math.max(0, before - dayMs - judgedDaysMs)), timestampParam(Math.max(0, before))];
    const [labels] = labelParams(filter.labels);
    const under = pickLines(this.#statements.get("history.under"), way);
    return estimateRows(this.#db, under, [namespaceId, jobId, owner, labels, ...days, tasks]);
  }
}

interface Search {
  readonly namespaceId: number;
  readonly filter: RunListFilter;
  readonly place: ListPlace;
}

/** What lies beyond the nearest place where it was stopped to look is not whole, and comes with the next page. */
function toFound(found: readonly FoundRow[], { limit, direction }: ListPlace): Found {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  const inOrder = found.toSorted((a, b) => (isBefore(a.id, b.id) ? -1 : 1));
  const last = inOrder.find((row) => row.is_last);
  const whole = inOrder.filter((row) => row.is_match && (last === undefined || !isBefore(last.id, row.id)));
  const rows = whole.slice(0, limit);
  const edge = rows.length >= limit ? (rows.at(-1)?.id ?? null) : (last?.id ?? null);
  return { rows, edge, own: last?.own ?? 0 };
}

const endStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "skipped"]);
const askedTriggers: ReadonlySet<string> = new Set(["run_now", "backfill", "retry", "replay"]);
