import { type Instant, timeOfUuid } from "@carillon/core";
import { timestampParam } from "../db/parameters.js";
import type { Queryable, SqlText } from "../db/queryable.js";
import {
  type RunListFilter,
  clockSlackMs,
  earliestEnd,
  labelParams,
  latestTime,
  runFilterValues,
} from "../runs/run-filter.js";
import type { RunRow } from "../runs/run-reads.js";
import { type Statement, type Statements, pickLines } from "../sql/statements.js";
import {
  type HistoryDay,
  type HistoryDays,
  type ListPlace,
  type ListPart,
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

/** How long a namespace counts as small before that is estimated again. */
const smallForMs = 60_000;
const maxRemembered = 1_000;

/**
 * Finished runs by filter. A page scans, day by day, a bounded number of rows of one index: the one that has the fewest rows for the filter
 * by the planner's statistics. So the cost of a page does not grow with history, for any filter.
 */
export class FinishedSearch {
  readonly #options: FinishedSearchOptions;
  readonly #scans: ScanChooser;
  /** Namespaces that have few of the runs, and until when they count as small. */
  readonly #smallUntil = new Map<number, Instant>();

  constructor(options: FinishedSearchOptions) {
    this.#options = options;
    this.#scans = new ScanChooser(options);
  }

  async page(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<ListPart<RunRow>> {
    const search = { namespaceId, filter, place, isLate: startTimeBudget(this.#options.now) };
    const best = await this.#scans.best(namespaceId, filter);
    const scan = best.way === "any" ? await this.#defaultScan(namespaceId, filter) : best;
    const days = await this.#options.days.for(place, earliestEnd(filter) ?? 0);
    const found = await this.#walk(scan, search, days);
    if (scan.way !== "any" || !found.isStopped || found.rows.length >= place.limit) return found;
    const isSmall = await this.#scans.isSmall(namespaceId, filter);
    if (isSmall) this.#rememberSmall(namespaceId);
    const byTasks = await this.#scans.byTasks(filter);
    const other = byTasks ?? (isSmall ? await this.#scans.byNamespace(namespaceId, filter) : null);
    return other === null ? found : fartherOf(found, await this.#walk(other, search, days), place);
  }

  /** For a filter that no index covers. A namespace that was small a moment ago is scanned by itself at once. */
  async #defaultScan(namespaceId: number, filter: RunListFilter): Promise<Scan> {
    const isSmall = (this.#smallUntil.get(namespaceId) ?? 0) >= this.#options.now();
    return (isSmall ? await this.#scans.byNamespace(namespaceId, filter) : null) ?? anyRow;
  }

  #rememberSmall(namespaceId: number): void {
    if (this.#smallUntil.size >= maxRemembered) this.#smallUntil.clear();
    this.#smallUntil.set(namespaceId, this.#options.now() + smallForMs);
  }

  async #walk(scan: Scan, search: Search, days: readonly HistoryDay[]): Promise<Found> {
    const { place, isLate } = search;
    let isStopped = false;
    // Full pages are likely, unless history is small or another part of the list ends soon.
    let numbering: Numbering = scan.way === "any" && (place.until ?? null) === null ? "plain" : "numbered";
    const part = await walkDays(days, {
      place,
      maxDays: scan.maxDays,
      isLate,
      scan: async (stretch) => {
        const found = await this.#scan({ ...scan, numbering }, search, stretch);
        numbering = "numbered";
        isStopped ||= found.isStopped;
        return found;
      },
    });
    return { ...part, isStopped };
  }

  async #scan(scan: NumberedScan, { namespaceId, filter, place }: Search, stretch: Stretch): Promise<Found> {
    if (scan.tasks.length === 0) return { rows: [], edge: null, isStopped: false };
    const { direction } = place;
    const maxRows = Math.max(place.limit, Math.ceil(maxScanned / scan.tasks.length));
    const { by, until } = idBounds(scan, place, stretch);
    const tags = [direction, scan.way, scan.numbering, `${direction}_${scan.numbering}`, `${direction}_${by}`];
    const list = this.#options.statements.get("history.list");
    const days = { endedFrom: timestampParam(stretch.from), endedBefore: timestampParam(stretch.before) };
    const bounds = { after: place.after, limit: place.limit, ...days, tasks: scan.tasks, maxScanned: maxRows, until };
    const values = list.values({ namespaceId, ...runFilterValues(filter), ...bounds });
    const { rows } = await this.#options.db.query<FoundRow>(pickLines(list, ...tags), values);
    const found = toFound(rows, place);
    if (scan.numbering === "numbered" || found.rows.length >= place.limit) return found;
    const edge = await this.#edge(place, days, maxRows);
    return { rows: orderOf(direction).upTo(edge, found.rows, place.limit).rows, edge, isStopped: edge !== null };
  }

  async #edge({ after, direction }: ListPlace, days: EndedWithin, maxRows: number): Promise<string | null> {
    const { db, statements } = this.#options;
    const edge = statements.get("history.edge");
    const values = edge.values({ after, ...days, maxScanned: maxRows });
    return (await db.query<{ id: string }>(pickLines(edge, direction), values)).rows[0]?.id ?? null;
  }
}

/** Bounds of the days on which runs ended. */
interface EndedWithin {
  readonly endedFrom: string;
  readonly endedBefore: string;
}

/** numbered: the scanned rows are numbered, to find where the scan stopped; plain: another statement finds it. */
type Numbering = "numbered" | "plain";
type NumberedScan = Scan & { readonly numbering: Numbering };

/** `isStopped`: the scan ended at its bound. */
type Found = ListPart<RunRow> & { readonly isStopped: boolean };

interface IdBounds {
  /** Whether an index may find the rows by their ids. */
  readonly by: "by_id" | "gathered";
  readonly until: string | null;
}

/**
 * How ids bound a scan. Scans that gather rows for a page that spans much time have weaker bounds: a day has few ids from long before it, which lie
 * anywhere in it and which its statistics do not distinguish. Between two of them the planner expects no rows, and takes reading them for
 * cheaper than reading the namespace's rows.
 */
function idBounds({ way }: Scan, { after }: ListPlace, { until }: Stretch): IdBounds {
  const isNear = until !== null && after !== null && Math.abs(timeOfUuid(until) - timeOfUuid(after)) <= dayMs;
  if (way === "namespace" && !isNear) return { by: "gathered", until };
  return { by: "by_id", until: way === "labels" && !isNear ? null : until };
}

/** Matches beyond the nearest place where a scan stopped are incomplete, and are left to the next page. */
function toFound(found: readonly FoundRow[], { limit, direction }: ListPlace): Found {
  const order = orderOf(direction);
  const last = found
    .filter((row) => row.is_last)
    .reduce<FoundRow | null>((a, b) => (a === null || order.isBefore(b.id, a.id) ? b : a), null);
  const matches = found.filter((row) => row.is_match);
  return { ...order.upTo(last?.id ?? null, matches, limit), isStopped: last !== null };
}

/** The longer of two pages: both are the same list up to their edges. */
function fartherOf(a: Found, b: Found, { direction }: ListPlace): Found {
  const isNearer = b.edge !== null && (a.edge === null || orderOf(direction).isBefore(b.edge, a.edge));
  return isNearer ? a : b;
}

/**
 * The index by which finished runs are scanned. Most give their rows in the order of the list; of labels and of a namespace all rows of some
 * days are gathered and sorted.
 */
type Way = "any" | "namespace" | "task" | "owner" | "job" | "failed" | "unrun" | "asked" | "labels";

export interface Scan {
  readonly way: Way;
  /** If the way is task. */
  readonly tasks: readonly string[];
  /** The days of one statement. */
  readonly maxDays: number;
}

export interface ScanChooserOptions {
  readonly db: Queryable;
  readonly statements: Statements;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** The newest days by whose statistics an index is chosen. */
const judgedDays = 3;
/** About so many matches of labels, or rows of a namespace, does one statement gather: they lie anywhere in their days. */
const maxGathered = { labels: 500, namespace: 3_000 };
/** Filters with more tasks than this are not scanned task by task … */
const maxTasks = 200;
/** … and with more than this only if a scan of the newest rows found too few. */
const fewTasks = 8;
/** A namespace has few runs if it has less than this share of all. */
const smallShare = 0.1;

const anyRow: Scan = { way: "any", tasks: [""], maxDays: maxDaysAtOnce };

/** Chooses the index by which to scan finished runs for a filter: the one with the fewest rows, by the planner's statistics. */
export class ScanChooser {
  readonly #options: ScanChooserOptions;

  constructor(options: ScanChooserOptions) {
    this.#options = options;
  }

  /** Of the indexes that cover a part of the filter, the one with the fewest rows. */
  async best(namespaceId: number, filter: RunListFilter): Promise<Scan> {
    const scans = await this.#scansFor(filter);
    const [only] = scans;
    if (only === undefined) return anyRow;
    if (scans.length === 1 && only.way !== "labels") return only;
    const judged = await Promise.all(
      scans.map(async (scan) => ({ scan, daily: await this.#dailyRows(scan, namespaceId, filter) })),
    );
    // Runs with common labels are soon found among the rows of another index.
    const usable = judged.filter(({ scan, daily }) => scan.way !== "labels" || daily <= maxGathered.labels);
    const [best] = usable.toSorted((one, other) => one.daily - other.daily);
    if (best === undefined) return anyRow;
    return best.scan.way === "labels" ? gathered(best.scan, best.daily, maxGathered.labels) : best.scan;
  }

  /** For a filter that no index covers and that too few of the newest rows match: the rows of its tasks, if it names some. */
  async byTasks(filter: RunListFilter): Promise<Scan | null> {
    const tasks = await this.#tasksNamed(filter, maxTasks);
    return tasks === null ? null : byTask(tasks);
  }

  /** Whether the namespace has few of all runs. */
  async isSmall(namespaceId: number, filter: RunListFilter): Promise<boolean> {
    const daily = (way: Way): Promise<number> => this.#dailyRows({ ...anyRow, way }, namespaceId, filter);
    return (await daily("namespace")) < smallShare * (await daily("any"));
  }

  /** The rows of the namespace alone, if a day has so few that they can be gathered. */
  async byNamespace(namespaceId: number, filter: RunListFilter): Promise<Scan | null> {
    const scan: Scan = { ...anyRow, way: "namespace" };
    const daily = await this.#dailyRows(scan, namespaceId, filter);
    return daily > maxGathered.namespace ? null : gathered(scan, daily, maxGathered.namespace);
  }

  async #scansFor(filter: RunListFilter): Promise<Scan[]> {
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
    const plain = ways.filter((way) => way !== false).map((way): Scan => ({ ...anyRow, way }));
    const tasks = await this.#tasksNamed(filter, fewTasks);
    return tasks === null ? plain : [...plain, byTask(tasks)];
  }

  /** The tasks that runs of the filter can have, if the filter determines them. */
  async #tasksNamed({ task, queue }: RunListFilter, max: number): Promise<readonly string[] | null> {
    if (task !== undefined) return [task];
    if (queue === undefined) return null;
    const { db, statements } = this.#options;
    const list = statements.get("lane.list_tasks");
    const { rows } = await db.query<{ task: string }>(list, list.values({ queue, limit: max + 1 }));
    return rows.length > max ? null : rows.map((row) => row.task);
  }

  /** An estimate of the rows of one day by this index. */
  async #dailyRows({ way, tasks }: Scan, namespaceId: number, filter: RunListFilter): Promise<number> {
    const { db, statements, now } = this.#options;
    const { jobId = null, owner = null, createdBefore = latestTime } = filter;
    const before = Math.max(0, Math.min(createdBefore, now()) + clockSlackMs);
    const endedFrom = timestampParam(Math.max(0, before - judgedDays * dayMs));
    const days = { endedFrom, endedBefore: timestampParam(before) };
    const [labels] = labelParams(filter.labels);
    const scanned = statements.get("history.scanned");
    const values = scanned.values({ namespaceId, jobId, owner, labels, ...days, tasks });
    return (await estimateRows(db, pickLines(scanned, way), values)) / judgedDays;
  }
}

function byTask(tasks: readonly string[]): Scan {
  return { way: "task", tasks, maxDays: maxDaysAtOnce };
}

function gathered(scan: Scan, daily: number, maxRows: number): Scan {
  return { ...scan, maxDays: Math.min(maxDaysAtOnce, Math.max(1, Math.floor(maxRows / Math.max(1, daily)))) };
}

const endStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "skipped"]);
const askedTriggers: ReadonlySet<string> = new Set(["run_now", "backfill", "retry", "replay"]);

export interface TaskPage {
  readonly after?: string;
  readonly limit: number;
  readonly only?: string;
}

/** Days that are scanned together, always the same ones, so that their results can be cached. */
const blockMs = maxDaysAtOnce * dayMs;

interface Block {
  readonly from: Instant;
  readonly before: Instant;
}

/** The tasks of finished runs. Results of days to which no run is added any more are cached. */
export class FinishedTasks {
  readonly #db: Queryable;
  readonly #list: Statement<"catalogue.tasks_of_runs">;
  readonly #days: HistoryDays;
  readonly #remembered = new Map<string, readonly string[]>();

  constructor(db: Queryable, statements: Statements, days: HistoryDays) {
    this.#db = db;
    this.#list = statements.get("catalogue.tasks_of_runs");
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
    const ended = { endedFrom: timestampParam(from), endedBefore: timestampParam(before) };
    const values = this.#list.values({ namespaceId, after: after ?? null, limit, only: only ?? null, ...ended });
    // Sent without a name, so that it is planned for its days alone.
    const { rows } = await this.#db.query<{ task: string }>({ text: this.#list.text }, values);
    const names = rows.map((row) => row.task);
    if (this.#days.isSettled(before - dayMs)) this.#remember(key, names);
    return names;
  }

  #remember(key: string, names: readonly string[]): void {
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
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

/** A number of rows; if not all were counted, a lower bound. */
export interface Counted {
  readonly count: number;
  readonly isWhole: boolean;
}

export interface FinishedTotalsOptions {
  readonly db: Queryable;
  readonly matches: Statement<"history.matches">;
  readonly days: HistoryDays;
  /** The database's clock. */
  readonly now: () => Instant;
}

/** A count that takes longer ends as a lower bound. */
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
      const values = matches.values({ namespaceId, ...runFilterValues(filter), ...days, maxCount: null });
      count += await estimateRows(db, matches, values);
    }
    return count;
  }

  async count(namespaceId: number, filter: RunListFilter, max: number): Promise<Counted> {
    const { db, matches, now } = this.#options;
    const lateFrom = now() + countTimeMs;
    let count = 0;
    for (const days of await this.#stretches(filter)) {
      if (count >= max || now() >= lateFrom) return { count, isWhole: false };
      const values = matches.values({ namespaceId, ...runFilterValues(filter), ...days, maxCount: max - count });
      count += await countRows(db, matches, values);
    }
    return { count, isWhole: count < max };
  }

  async #stretches(filter: RunListFilter): Promise<EndedWithin[]> {
    const starts = (await this.#options.days.since(earliestEnd(filter) ?? 0)).toReversed();
    const stretches: EndedWithin[] = [];
    for (let at = 0; at < starts.length; at += maxDaysAtOnce) {
      const days = starts.slice(at, at + maxDaysAtOnce);
      const endedFrom = timestampParam(days.at(-1) ?? 0);
      stretches.push({ endedFrom, endedBefore: timestampParam((days[0] ?? 0) + dayMs) });
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
