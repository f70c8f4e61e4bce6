import { type Instant, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable, SqlText } from "../db/queryable.js";
import {
  type RunListFilter,
  clockSlackMs,
  earliestEnd,
  labelParams,
  latestTime,
  runFilterParams,
} from "../runs/run-filter.js";
import type { RunRow } from "../runs/run-reads.js";
import { type Statement, type Statements, pickLines } from "../sql/statements.js";
import {
  type HistoryDay,
  type HistoryDays,
  type ListPlace,
  type Looked,
  type Stretch,
  dayMs,
  maxDaysAtOnce,
  maxScanned,
  orderOf,
  startTimeBudget,
  walkDays,
} from "./history-days.js";

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
    const search = { namespaceId, filter, place, isLate: startTimeBudget(this.#options.now) };
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
    const most = Math.max(place.limit, Math.ceil(maxScanned / look.tasks.length));
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

/**
 * The index by which finished runs are looked through. Most give their rows in the order of the list; of labels and of a namespace all
 * rows of some days are gathered and sorted.
 */
type Way = "any" | "namespace" | "task" | "owner" | "job" | "failed" | "unrun" | "asked" | "labels";

export interface Look {
  readonly way: Way;
  /** Where the way is task. */
  readonly tasks: readonly string[];
  /** How many days one statement looks through at most. */
  readonly mostDays: number;
}

export interface FinishedLooksOptions {
  readonly db: Queryable;
  readonly statements: Statements;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** By so many days it is judged which index gives the fewest rows. */
const judgedDays = 3;
/** One statement gathers no more matches of labels, or rows of a namespace, than about this: they lie anywhere in their days. */
const mostGathered = { labels: 500, namespace: 3_000 };
/** More tasks than this are not looked through one by one … */
const mostTasks = 200;
/** … and more than this only if too little was found among the newest rows. */
const fewTasks = 8;
/** A namespace has few runs if it has less than this share of all. */
const smallShare = 0.1;

const anyRow: Look = { way: "any", tasks: [""], mostDays: maxDaysAtOnce };

/** By which index to look for the finished runs of a filter: that which gives the fewest, by the planner's statistics. */
export class FinishedLooks {
  readonly #options: FinishedLooksOptions;

  constructor(options: FinishedLooksOptions) {
    this.#options = options;
  }

  /** Of the indexes that know a part of the filter, that with the fewest rows. */
  async best(namespaceId: number, filter: RunListFilter): Promise<Look> {
    const looks = await this.#looksFor(filter);
    const [only] = looks;
    if (only === undefined) return anyRow;
    if (looks.length === 1 && only.way !== "labels") return only;
    const judged = await Promise.all(
      looks.map(async (look) => ({ look, daily: await this.#dailyRows(look, namespaceId, filter) })),
    );
    // Of labels that many runs have, some are soon found among the rows of another index.
    const usable = judged.filter(({ look, daily }) => look.way !== "labels" || daily <= mostGathered.labels);
    const [best] = usable.toSorted((one, other) => one.daily - other.daily);
    if (best === undefined) return anyRow;
    return best.look.way === "labels" ? gathered(best.look, best.daily, mostGathered.labels) : best.look;
  }

  /** For a filter that no index knows, where too few of the newest rows match it: the rows of its tasks, where it says which these are. */
  async byTasks(filter: RunListFilter): Promise<Look | null> {
    const tasks = await this.#tasksNamed(filter, mostTasks);
    return tasks === null ? null : byTask(tasks);
  }

  /** Whether the namespace has few of the runs of all. */
  async isSmall(namespaceId: number, filter: RunListFilter): Promise<boolean> {
    const daily = (way: Way): Promise<number> => this.#dailyRows({ ...anyRow, way }, namespaceId, filter);
    return (await daily("namespace")) < smallShare * (await daily("any"));
  }

  /** The rows of the namespace alone, where a day has so few that they can be gathered. */
  async byNamespace(namespaceId: number, filter: RunListFilter): Promise<Look | null> {
    const look: Look = { ...anyRow, way: "namespace" };
    const daily = await this.#dailyRows(look, namespaceId, filter);
    return daily > mostGathered.namespace ? null : gathered(look, daily, mostGathered.namespace);
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
    const plain = ways.filter((way) => way !== false).map((way): Look => ({ ...anyRow, way }));
    const tasks = await this.#tasksNamed(filter, fewTasks);
    return tasks === null ? plain : [...plain, byTask(tasks)];
  }

  /** The tasks that runs of the filter can have, where the filter says so. */
  async #tasksNamed({ task, queue }: RunListFilter, most: number): Promise<readonly string[] | null> {
    if (task !== undefined) return [task];
    if (queue === undefined) return null;
    const { db, statements } = this.#options;
    const { rows } = await db.query<{ task: string }>(statements.get("lane.tasks_of"), [queue, most + 1]);
    return rows.length > most ? null : rows.map((row) => row.task);
  }

  /** How many rows a day has by this way, about. */
  async #dailyRows({ way, tasks }: Look, namespaceId: number, filter: RunListFilter): Promise<number> {
    const { db, statements, now } = this.#options;
    const { jobId = null, owner = null, createdBefore = latestTime } = filter;
    const before = Math.max(0, Math.min(createdBefore, now()) + clockSlackMs);
    const days = [timestampParam(Math.max(0, before - judgedDays * dayMs)), timestampParam(before)];
    const [labels] = labelParams(filter.labels);
    const under = pickLines(statements.get("history.under"), way);
    return (await estimateRows(db, under, [namespaceId, jobId, owner, labels, ...days, tasks])) / judgedDays;
  }
}

function byTask(tasks: readonly string[]): Look {
  return { way: "task", tasks, mostDays: maxDaysAtOnce };
}

function gathered(look: Look, daily: number, most: number): Look {
  return { ...look, mostDays: Math.min(maxDaysAtOnce, Math.max(1, Math.floor(most / Math.max(1, daily)))) };
}

const endStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "skipped"]);
const askedTriggers: ReadonlySet<string> = new Set(["run_now", "backfill", "retry", "replay"]);

export interface TaskPage {
  readonly after?: string;
  readonly limit: number;
  readonly only?: string;
}

/** Days that are looked through together, always the same ones: what was found in them can be remembered. */
const blockMs = maxDaysAtOnce * dayMs;

interface Block {
  readonly from: Instant;
  readonly before: Instant;
}

/** Which tasks finished runs had. Of days to which nothing is added any more, what was asked once is remembered. */
export class FinishedTasks {
  readonly #db: Queryable;
  readonly #text: string;
  readonly #days: HistoryDays;
  readonly #remembered = new Map<string, readonly string[]>();

  constructor(db: Queryable, statements: Statements, days: HistoryDays) {
    this.#db = db;
    this.#text = statements.get("catalogue.tasks_of_runs").text;
    this.#days = days;
  }

  /** Their names, in no order; those of the page are among them. */
  async names(namespaceId: number, page: TaskPage): Promise<string[]> {
    const names = new Set<string>();
    for (const block of blocksOf(await this.#days.since(0)).toReversed()) {
      for (const name of await this.#within(block, namespaceId, page)) names.add(name);
      if (page.only !== undefined && names.size > 0) break;
    }
    return [...names];
  }

  async #within({ from, before }: Block, namespaceId: number, page: TaskPage): Promise<readonly string[]> {
    const { after, limit, only } = page;
    const key = JSON.stringify([namespaceId, from, before, after, limit, only]);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const values = [namespaceId, after ?? null, limit, only ?? null, timestampParam(from), timestampParam(before)];
    // Planned for its days, so that it has no other days in it.
    const { rows } = await this.#db.query<{ task: string }>({ text: this.#text }, values);
    const names = rows.map((row) => row.task);
    if (this.#days.isSettled(before - dayMs)) this.#remember(key, names);
    return names;
  }

  #remember(key: string, names: readonly string[]): void {
    if (this.#remembered.size >= mostRemembered) this.#remembered.clear();
    this.#remembered.set(key, names);
  }
}

function blocksOf(starts: readonly Instant[]): Block[] {
  const first = starts[0];
  const last = starts.at(-1);
  if (first === undefined || last === undefined) return [];
  const blocks: Block[] = [];
  for (let from = first; from <= last;) {
    const before = Math.min((Math.floor(from / blockMs) + 1) * blockMs, last + dayMs);
    blocks.push({ from, before });
    from = before;
  }
  return blocks;
}

/** How many there are; where not all were counted, there are at least so many. */
export interface Counted {
  readonly count: number;
  readonly isWhole: boolean;
}

export interface FinishedTotalsOptions {
  readonly db: Queryable;
  /** history.matches */
  readonly matches: Statement;
  readonly days: HistoryDays;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** A count that took so long is given as far as it came. */
const countTimeMs = 3_000;

/** How many finished runs match a filter, some days at a time, the newest first. */
export class FinishedTotals {
  readonly #options: FinishedTotalsOptions;

  constructor(options: FinishedTotalsOptions) {
    this.#options = options;
  }

  /** By the planner's statistics. */
  async estimate(namespaceId: number, filter: RunListFilter): Promise<number> {
    const { db, matches } = this.#options;
    let count = 0;
    for (const days of await this.#stretches(filter)) {
      count += await estimateRows(db, matches, [namespaceId, ...runFilterParams(filter), ...days, null]);
    }
    return count;
  }

  async count(namespaceId: number, filter: RunListFilter, most: number): Promise<Counted> {
    const { db, matches, now } = this.#options;
    const lateFrom = now() + countTimeMs;
    let count = 0;
    for (const days of await this.#stretches(filter)) {
      if (count >= most || now() >= lateFrom) return { count, isWhole: false };
      count += await countRows(db, matches, [namespaceId, ...runFilterParams(filter), ...days, most - count]);
    }
    return { count, isWhole: count < most };
  }

  async #stretches(filter: RunListFilter): Promise<[from: string, before: string][]> {
    const starts = (await this.#options.days.since(earliestEnd(filter) ?? 0)).toReversed();
    const stretches: [string, string][] = [];
    for (let at = 0; at < starts.length; at += maxDaysAtOnce) {
      const days = starts.slice(at, at + maxDaysAtOnce);
      stretches.push([timestampParam(days.at(-1) ?? 0), timestampParam((days[0] ?? 0) + dayMs)]);
    }
    return stretches;
  }
}

interface PlanLine {
  readonly "QUERY PLAN": readonly { readonly Plan: { readonly "Plan Rows": number } }[];
}

/** How many rows the planner expects of a statement with these values. Nothing is read but its statistics. */
export async function estimateRows(db: Queryable, { text }: SqlText, values: readonly unknown[]): Promise<number> {
  const { rows } = await db.query<PlanLine>({ text: `explain (format json) ${text}` }, values);
  return rows[0]?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0;
}

/** How many rows of a statement there are. */
export async function countRows(db: Queryable, { text }: SqlText, values: readonly unknown[]): Promise<number> {
  const counted = { text: `select count(*)::int as count from (${text}) as counted` };
  return (await db.query<{ count: number }>(counted, values)).rows[0]?.count ?? 0;
}
