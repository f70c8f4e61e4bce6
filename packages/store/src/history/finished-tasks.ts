import type { Instant } from "@carillon/core";
import { timestampParam } from "../db/params.js";
import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";
import { dayMs, type HistoryDays, mostDaysAtOnce } from "./history-days.js";

export interface TaskPage {
  readonly after?: string;
  readonly limit: number;
  readonly only?: string;
}

/** Days that are looked through together, always the same ones: what was found in them can be remembered. */
const blockMs = mostDaysAtOnce * dayMs;
const mostRemembered = 1_000;

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
