import { expect, it } from "vitest";
import { storeHarness } from "../../harness/store-harness.js";

it("one pass of the intake takes a bounded number of runs, of the first lanes first, and none of another namespace", async () => {
  const h = await storeHarness();
  const names = ["a", "b", "c"].map((task) => ({ queue: "default", task, kind: "gated" as const }));
  const lanes = await h.store.lanes.ensure(names);
  for (const lane of lanes) for (let count = 0; count < 3; count++) await h.run({ lane });
  const [first = 0, second = 0, third = 0] = lanes;
  const lanesInOrder = [
    { lane: second, namespaceId: null },
    { lane: third, namespaceId: 999 },
    { lane: first, namespaceId: 1 },
  ];
  const taken = await h.store.settle((tx) => h.store.limits.intake(tx, lanesInOrder, { ofEach: 2, ofAll: 3 }));
  expect(taken.map((run) => run.lane)).toEqual([second, second, first]);
  await h.close();
});
