import { expect, it } from "vitest";
import { type Lane, laneStore } from "../../../src/catalog/lane-store.js";
import type { Queryable } from "../../../src/db/queryable.js";
import { loadStatements } from "../../../src/sql/statements.js";

const plain = { queue: "default", task: "t", kind: "plain", requires: "" } as const;
const laneOf = (id: number): Lane => ({ ...plain, id, task: `t${id}` });

/** A store over visible lanes; every query answers as `lane.newer` does. */
function setUp(visible: Lane[]) {
  const reads: number[] = [];
  const query = async (_statement: unknown, [from = 0]: readonly number[] = []) => {
    const rows = visible.filter((lane) => lane.id > from);
    reads.push(rows.length);
    return { rows, rowCount: rows.length };
  };
  const store = laneStore({ query } as unknown as Queryable, loadStatements("carillon"));
  return { store, reads };
}

it("finds a lane of a transaction that was open for long, although hundreds of lanes were created since", async () => {
  const visible = Array.from({ length: 300 }, (_, index) => laneOf(index + 2));
  const { store, reads } = setUp(visible);
  await store.list();
  visible.unshift(laneOf(1));
  for (let scan = 0; scan < 60; scan++) await store.list();
  expect(store.get(1)).toEqual(laneOf(1));
  expect((await store.list()).at(-1)).toEqual(laneOf(1));
  // The other scans read only the lanes that may be new.
  expect(reads.filter((count) => count > 100)).toHaveLength(2);
});

it("reads any number of lanes", async () => {
  const lanes = Array.from({ length: 150_000 }, (_, index) => ({ ...plain, id: index + 1 }));
  const { store } = setUp(lanes);
  expect(await store.list()).toHaveLength(lanes.length);
});
