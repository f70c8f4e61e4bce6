import type { Instant, LabelCondition } from "@carillon/core";
import type { Queryable } from "../db/queryable.js";
import { pickLines } from "../sql/pick-lines.js";
import type { Statements } from "../sql/statement.js";
import type { JobRow } from "./job-row.js";
import { labelParams } from "../history/label-params.js";
import { type ListPlace, type Looked, mostScanned } from "../history/list-direction.js";
import { timestampOrNull } from "../dispatch/parameters.js";
import { countRows, estimateRows } from "../history/row-estimates.js";

export interface JobListFilter {
  readonly task?: string;
  readonly queue?: string;
  readonly owner?: string;
  readonly labels?: readonly LabelCondition[];
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
}

/** The index by which jobs are looked through: each gives its rows in the order of the list. */
type Way = "any" | "task" | "queue" | "owner" | "labels";

/** Stored jobs by filter, as FinishedSearch does it for runs. */
export class JobSearch {
  readonly #db: Queryable;
  readonly #statements: Statements;

  constructor(db: Queryable, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  async page(namespaceId: number, filter: JobListFilter, place: ListPlace): Promise<Looked<JobRow>> {
    const { after, limit, direction } = place;
    const way = await this.#bestWay(namespaceId, filter);
    const list = pickLines(this.#statements.get("job.list"), direction, way);
    const values = [namespaceId, after, limit, ...conditions(filter), mostScanned];
    const { rows } = await this.#db.query<JobRow>(list, values);
    if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
    const edge = await this.#db.query<{ id: string }>(pickLines(this.#statements.get("job.edge"), direction, way), [
      namespaceId,
      after,
      ...indexed(filter),
      mostScanned,
    ]);
    return { rows, edge: edge.rows[0]?.id ?? null };
  }

  estimate(namespaceId: number, filter: JobListFilter): Promise<number> {
    const matches = this.#statements.get("job.matches");
    return estimateRows(this.#db, matches, [namespaceId, ...conditions(filter), null]);
  }

  count(namespaceId: number, filter: JobListFilter, most: number): Promise<number> {
    return countRows(this.#db, this.#statements.get("job.matches"), [namespaceId, ...conditions(filter), most]);
  }

  async #bestWay(namespaceId: number, filter: JobListFilter): Promise<Way> {
    const ways = waysFor(filter);
    const [only = "any"] = ways;
    if (ways.length <= 1 && only !== "labels") return only;
    const under = this.#statements.get("job.under");
    const values = [namespaceId, ...indexed(filter)];
    const costs = await Promise.all(ways.map((way) => estimateRows(this.#db, pickLines(under, way), values)));
    const fewest = Math.min(...costs);
    const best = ways[costs.indexOf(fewest)] ?? only;
    return best === "labels" && fewest > mostScanned ? "any" : best;
  }
}

function waysFor({ task, queue, owner, labels }: JobListFilter): Way[] {
  const ways: (Way | false)[] = [
    task !== undefined && "task",
    queue !== undefined && "queue",
    owner !== undefined && "owner",
    labelParams(labels)[0] !== null && "labels",
  ];
  return ways.filter((way) => way !== false);
}

function indexed({ task, queue, owner, labels }: JobListFilter): unknown[] {
  return [task ?? null, queue ?? null, owner ?? null, labelParams(labels)[0]];
}

function conditions(filter: JobListFilter): unknown[] {
  const { task, queue, owner, createdFrom, createdBefore } = filter;
  const times = [timestampOrNull(createdFrom ?? null), timestampOrNull(createdBefore ?? null)];
  return [task ?? null, queue ?? null, owner ?? null, ...times, ...labelParams(filter.labels)];
}
