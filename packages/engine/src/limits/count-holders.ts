import type { LaneCursor, LimitRow, LimitStore, Queryable } from "@carillon/store";

export interface CountHoldersParts {
  readonly limits: Pick<LimitStore, "atWork" | "count" | "lock">;
  readonly settle: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
}

/** Lanes of one statement, and runs of each. */
const page = { lanes: 200, ofEach: 20_000 };

/**
 * Lets those hold a limit of a queue or a namespace that were admitted, or at work, when it was set. From then on nobody begins to be
 * without holding it, so these only become fewer: they may be read page by page.
 */
export async function countHolders(limit: LimitRow, { limits, settle }: CountHoldersParts): Promise<void> {
  const runIds: string[] = [];
  let at: LaneCursor | null = { lane: 0, rank: Number.MIN_SAFE_INTEGER };
  while (at !== null) {
    const seen = await limits.atWork(limit, at, page);
    const full = seen.findIndex((lane) => lane.seen >= page.ofEach);
    const read = full === -1 ? seen : seen.slice(0, full + 1);
    for (const lane of read) runIds.push(...lane.runIds);
    const last = read.at(-1);
    if (last === undefined || (full === -1 && seen.length < page.lanes)) at = null;
    else
      at = full === -1 ? { lane: last.lane + 1, rank: Number.MIN_SAFE_INTEGER } : { lane: last.lane, rank: last.rank };
  }
  await settle(async (tx) => {
    await limits.lock(tx, [], [limit.id]);
    await limits.count(tx, limit, runIds);
  });
}
