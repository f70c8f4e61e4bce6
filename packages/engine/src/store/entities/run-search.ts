import { type Instant, type LabelCondition, type RunStatus, uuidV7Of } from "@carillon/core";
import type { TriggerKind } from "../../model/run-view.js";
import type { Queryable, SqlText } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { labelParams } from "./label-params.js";
import { timestampOrNull } from "./parameters.js";
import type { RunRow } from "./run-reads.js";

export interface RunListFilter {
  readonly status?: readonly RunStatus[];
  readonly task?: string;
  readonly queue?: string;
  readonly jobId?: string;
  readonly workerId?: string;
  readonly owner?: string;
  readonly trigger?: TriggerKind;
  readonly labels?: readonly LabelCondition[];
  readonly createdFrom?: Instant;
  readonly createdBefore?: Instant;
  readonly oneOffOnly: boolean;
}

/** Rows of one list, newest first, and how far it was looked: null when there is nothing beyond. */
export interface RunRows {
  readonly rows: readonly RunRow[];
  readonly edge: string | null;
}

export interface RunSearch {
  live(namespaceId: number, filter: RunListFilter, before: string | null, limit: number): Promise<RunRows>;
  finished(namespaceId: number, filter: RunListFilter, before: string | null, limit: number): Promise<RunRows>;
}

/** Rows that one page looks through where no index serves its filter. */
const mostScanned = 10_000;
/** A run's id is made by a node's clock and its creation is noted by the database's. */
const clockSlackMs = 3_600_000;

/** Without a name a statement is planned for its values: members of the filter that are absent cost nothing. */
function unnamed({ text }: SqlText): SqlText {
  return { text };
}

export function runSearch(db: Queryable, statements: Statements): RunSearch {
  const listLive = unnamed(statements.get("run.list"));
  const liveEdge = statements.get("run.edge");
  const listFinished = unnamed(statements.get("history.list"));
  const searchFinished = unnamed(statements.get("history.search"));
  const finishedEdge = statements.get("history.edge");
  const edgeOf = async (statement: SqlText, values: unknown[]): Promise<string | null> =>
    (await db.query<{ id: string }>(statement, values)).rows[0]?.id ?? null;
  return {
    async live(namespaceId, filter, before, limit) {
      const from = startOf(filter, before);
      const values = [...parameters(namespaceId, filter, from, limit), mostScanned];
      const { rows } = await db.query<RunRow>(listLive, values);
      if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
      return { rows, edge: await edgeOf(liveEdge, [namespaceId, from, mostScanned]) };
    },
    async finished(namespaceId, filter, before, limit) {
      const from = startOf(filter, before);
      const values = parameters(namespaceId, filter, from, limit);
      if (!isOrdered(filter)) {
        const { rows } = await db.query<RunRow>(listFinished, [...values, mostScanned]);
        if (rows.length >= limit) return { rows, edge: rows.at(-1)?.id ?? null };
        const createdFrom = timestampOrNull(filter.createdFrom ?? null);
        const edge = await edgeOf(finishedEdge, [namespaceId, from, createdFrom, mostScanned]);
        if (edge === null || labelParams(filter.labels)[0] === null) return { rows, edge };
      }
      const { rows } = await db.query<RunRow>(searchFinished, values);
      return { rows, edge: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
    },
  };
}

/** Whether an index gives the rows of this filter in the order of the list. */
function isOrdered({ jobId, owner, status }: RunListFilter): boolean {
  if (jobId !== undefined || owner !== undefined) return true;
  if (status === undefined) return false;
  const ended = status.filter(
    (one) => one === "succeeded" || one === "failed" || one === "cancelled" || one === "skipped",
  );
  return ended.every((one) => one === "failed") || ended.every((one) => one === "cancelled" || one === "skipped");
}

/** No run is made before its id says: those made before a time have ids from before it, or soon after. */
function startOf({ createdBefore }: RunListFilter, before: string | null): string | null {
  if (createdBefore === undefined) return before;
  const bound = uuidV7Of(Math.min(Math.max(0, createdBefore + clockSlackMs), 2 ** 48 - 1), 0, 0, 0);
  return before === null || bound < before ? bound : before;
}

function parameters(namespaceId: number, filter: RunListFilter, before: string | null, limit: number): unknown[] {
  return [
    namespaceId,
    before,
    limit,
    filter.status ?? null,
    filter.task ?? null,
    filter.queue ?? null,
    filter.jobId ?? null,
    filter.workerId ?? null,
    filter.owner ?? null,
    filter.oneOffOnly,
    timestampOrNull(filter.createdFrom ?? null),
    timestampOrNull(filter.createdBefore ?? null),
    filter.trigger ?? null,
    ...labelParams(filter.labels),
  ];
}
