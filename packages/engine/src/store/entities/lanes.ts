import type { Queryable } from "../db/queryable.js";
import type { Statements } from "../sql/statement.js";

export interface Lane {
  readonly id: number;
  readonly queue: string;
  readonly task: string;
}

export interface LaneStore {
  /** The lanes of these pairs, made where they do not exist. Answers in the order of the pairs. */
  ensure(pairs: readonly { queue: string; task: string }[]): Promise<number[]>;
  list(): Promise<Lane[]>;
}

/** Lanes never change and are never removed, so the cache cannot be wrong, only short. */
export function laneStore(db: Queryable, statements: Statements): LaneStore {
  const known = new Map<string, number>();
  const keyOf = (pair: { queue: string; task: string }): string => `${pair.queue}\n${pair.task}`;
  const ensure = statements.get("lane.ensure");
  const list = statements.get("lane.list");

  function remember(lanes: readonly Lane[]): void {
    for (const lane of lanes) known.set(keyOf(lane), lane.id);
  }

  async function make(missing: readonly { queue: string; task: string }[]): Promise<void> {
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
        const id = known.get(keyOf(pair));
        if (id === undefined) throw new Error(`the lane of ${pair.queue}/${pair.task} was neither found nor made`);
        return id;
      });
    },
    async list() {
      const { rows } = await db.query<Lane>(list);
      remember(rows);
      return rows;
    },
  };
}
