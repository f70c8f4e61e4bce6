import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import { labelParams } from "./label-params.js";
import { type ListDirection, type ListPlace, type Looked, mostScanned } from "./list-direction.js";
import { estimateRows } from "./row-estimates.js";
import { notEndedBefore, type RunListFilter, runFilterParams } from "./run-filter-params.js";
import type { RunRow } from "./run-reads.js";

/** The index by which finished runs are looked through: each gives its rows in the order of the list. */
type Way = "any" | "task" | "owner" | "job" | "failed" | "unrun" | "asked" | "labels";

interface Look {
  readonly way: Way;
  /** Where the way is task. */
  readonly tasks: readonly string[];
}

/** More tasks than this are not looked through one by one. */
const mostTasks = 200;
/** A namespace with less than this share of the newest rows is looked up by its tasks. */
const smallShare = 0.1;
const anyRow: Look = { way: "any", tasks: [""] };

/**
 * Finished runs by filter. A page is looked for among the rows of one index, the one that gives the fewest for the filter by the
 * planner's statistics, and among at most so many of these: what a page costs does not grow with history, whatever is asked.
 */
export class FinishedSearch {
  readonly #db: Queryable;
  readonly #statements: Statements;

  constructor(db: Queryable, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  async page(namespaceId: number, filter: RunListFilter, place: ListPlace): Promise<Looked<RunRow>> {
    const look = await this.#bestLook(namespaceId, filter);
    const found = await this.#look(look, namespaceId, filter, place);
    if (look.way !== "any" || found.edge === null || found.own >= mostScanned * smallShare) return found;
    const tasks = await this.#tasksOf(namespaceId, filter);
    return tasks === null ? found : this.#look({ way: "task", tasks }, namespaceId, filter, place);
  }

  async #look(look: Look, namespaceId: number, filter: RunListFilter, place: ListPlace) {
    const { after, limit, direction } = place;
    if (look.tasks.length === 0) return { rows: [], edge: null, own: 0 };
    const most = Math.max(limit, Math.ceil(mostScanned / look.tasks.length));
    const since = notEndedBefore(filter);
    const list = this.#picked("history.list", direction, look.way);
    const values = [namespaceId, after, limit, ...runFilterParams(filter), since, look.tasks, most];
    const { rows } = await this.#db.query<RunRow>(list, values);
    if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null, own: most };
    const { jobId = null, owner = null } = filter;
    const [labels] = labelParams(filter.labels);
    const edge = await this.#db.query<{ id: string | null; own: number | null }>(
      this.#picked("history.edge", direction, look.way),
      [namespaceId, after, jobId, owner, labels, since, look.tasks, most],
    );
    return { rows, edge: edge.rows[0]?.id ?? null, own: edge.rows[0]?.own ?? 0 };
  }

  /** Of the indexes that know a part of the filter, that with the fewest rows. */
  async #bestLook(namespaceId: number, filter: RunListFilter): Promise<Look> {
    const looks = await this.#looksFor(filter);
    const [only] = looks;
    if (only === undefined) return anyRow;
    if (looks.length === 1 && only.way !== "labels") return only;
    const costs = await Promise.all(looks.map((look) => this.#rowsUnder(look, namespaceId, filter)));
    const fewest = Math.min(...costs);
    const best = looks[costs.indexOf(fewest)] ?? only;
    // All matches of labels are gathered and sorted: of many, some are soon found among the newest rows.
    return best.way === "labels" && fewest > mostScanned ? anyRow : best;
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
    const tasks = await this.#tasksNamed(filter);
    return tasks === null ? plain : [...plain, { way: "task", tasks }];
  }

  /** The tasks that runs of the filter can have, where the filter says so. */
  async #tasksNamed({ task, queue }: RunListFilter): Promise<readonly string[] | null> {
    if (task !== undefined) return [task];
    if (queue === undefined) return null;
    const { rows } = await this.#db.query<{ task: string }>(this.#statements.get("lane.tasks_of"), [
      queue,
      mostTasks + 1,
    ]);
    return rows.length > mostTasks ? null : rows.map((row) => row.task);
  }

  async #tasksOf(namespaceId: number, filter: RunListFilter): Promise<readonly string[] | null> {
    const values = [namespaceId, mostTasks + 1, notEndedBefore(filter)];
    const { rows } = await this.#db.query<{ task: string }>(this.#statements.get("history.tasks"), values);
    return rows.length > mostTasks ? null : rows.map((row) => row.task);
  }

  #rowsUnder({ way, tasks }: Look, namespaceId: number, filter: RunListFilter): Promise<number> {
    const { jobId = null, owner = null } = filter;
    const [labels] = labelParams(filter.labels);
    const under = pickLines(this.#statements.get("history.under"), way);
    return estimateRows(this.#db, under, [namespaceId, jobId, owner, labels, notEndedBefore(filter), tasks]);
  }

  #picked(name: string, direction: ListDirection, way: Way) {
    return pickLines(this.#statements.get(name), direction, way);
  }
}

const endStatuses: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "skipped"]);
const askedTriggers: ReadonlySet<string> = new Set(["run_now", "backfill", "retry", "replay"]);
