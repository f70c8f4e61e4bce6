import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface Lane {
  readonly id: number;
  readonly queue: string;
  readonly task: string;
}

type Pair = Omit<Lane, "id">;

export interface LaneStore {
  /** The lanes of these pairs, made where they do not exist. Answers in the order of the pairs. */
  ensure(pairs: readonly Pair[]): Promise<number[]>;
  /** null: not known to this node yet. */
  known(pair: Pair): number | null;
  /** Every lane, those that other nodes made included. */
  list(): Promise<readonly Lane[]>;
}

/**
 * A lane is made by a transaction of one statement, so one with a lower id becomes visible at most a moment after one with
 * a higher id. Looking this far back finds it.
 */
const lookBack = 100;

/** Lanes never change and are never removed, so the cache cannot be wrong, only short. */
export function laneStore(db: Queryable, statements: Statements): LaneStore {
  const known = new Map<string, Lane>();
  let highest = 0;
  const keyOf = (pair: Pair): string => `${pair.queue}\n${pair.task}`;
  const ensure = statements.get("lane.ensure");
  const newer = statements.get("lane.newer");

  function remember(lanes: readonly Lane[]): void {
    for (const lane of lanes) known.set(keyOf(lane), lane);
  }

  async function make(missing: readonly Pair[]): Promise<void> {
    const parameters = [missing.map((pair) => pair.queue), missing.map((pair) => pair.task)];
    // A pair that another transaction inserted after our snapshot is in neither half of the answer: ask once more.
    for (let round = 0; round < 2 && missing.some((pair) => !known.has(keyOf(pair))); round++) {
      const { rows } = await db.query<Lane>(ensure, parameters);
      remember(rows);
    }
  }

  return {
    async ensure(pairs) {
      const missing = pairs.filter((pair) => !known.has(keyOf(pair)));
      if (missing.length > 0) await make(missing);
      return pairs.map((pair) => {
        const lane = known.get(keyOf(pair));
        if (lane === undefined) throw new Error(`the lane of ${pair.queue}/${pair.task} was neither found nor made`);
        return lane.id;
      });
    },
    known: (pair) => known.get(keyOf(pair))?.id ?? null,
    async list() {
      const { rows } = await db.query<Lane>(newer, [Math.max(0, highest - lookBack)]);
      remember(rows);
      highest = Math.max(highest, ...rows.map((lane) => lane.id));
      return [...known.values()];
    },
  };
}
