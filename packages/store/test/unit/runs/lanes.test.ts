import { expect, it } from "vitest";
import { type Lane, laneStore } from "../../../src/catalog/lane-store.js";
import type { Queryable } from "../../../src/db/queryable.js";
import type { Statements } from "../../../src/sql/statements.js";

const statements = { get: () => ({ text: "", values: Object.values }) } as unknown as Statements;
const plain = { queue: "default", task: "t", kind: "plain", requires: "" } as const;
const laneOf = (id: number): Lane => ({ ...plain, id, task: `t${id}` });

/** A store over visible lanes; its statement returns the rows of `lane.newer`. */
function setUp(visible: Lane[]) {
  const reads: number[] = [];
  const query = async (_statement: unknown, [from = 0]: readonly number[] = []) => {
    const rows = visible.filter((lane) => lane.id > from);
    reads.push(rows.length);
    return { rows, rowCount: rows.length };
  };
  const store = laneStore({ query } as unknown as Queryable, statements);
  return { store, reads };
}

it("a lane of a long transaction is found, although hundreds of lanes were made later", async () => {
  const visible = Array.from({ length: 300 }, (_, index) => laneOf(index + 2));
  const { store, reads } = setUp(visible);
  await store.list();
  visible.unshift(laneOf(1));
  for (let look = 0; look < 60; look++) await store.list();
  expect(store.get(1)).toEqual(laneOf(1));
  expect((await store.list()).at(-1)).toEqual(laneOf(1));
  // The other reads fetch lanes that may have been added.
  expect(reads.filter((count) => count > 100)).toHaveLength(2);
});

it("all lanes can be read", async () => {
  const lanes = Array.from({ length: 150_000 }, (_, index) => ({ ...plain, id: index + 1 }));
  const { store } = setUp(lanes);
  expect(await store.list()).toHaveLength(lanes.length);
});
