import type { Instant } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import { dayMs, mostDaysAtOnce } from "./history-days.js";
import { labelParams } from "./label-params.js";
import { estimateRows } from "./row-estimates.js";
import { clockSlackMs, latestTime, type RunListFilter } from "../runs/run-filter-params.js";

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

export const anyRow: Look = { way: "any", tasks: [""], mostDays: mostDaysAtOnce };

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
  return { way: "task", tasks, mostDays: mostDaysAtOnce };
}

function gathered(look: Look, daily: number, most: number): Look {
  return { ...look, mostDays: Math.min(mostDaysAtOnce, Math.max(1, Math.floor(most / Math.max(1, daily)))) };
}

const endStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "skipped"]);
const askedTriggers: ReadonlySet<string> = new Set(["run_now", "backfill", "retry", "replay"]);
