import { afterEach, beforeEach, expect, test } from "vitest";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

const byKey = { concurrency: { key: "customer:{payload.key}", limit: 2 } };

test("no more runs of a key run at once than its limit, and all of them run [INV-14]", async () => {
  const engine = await h.startNode();
  await h.enqueue(
    engine,
    byKey,
    "aaaaaabbb".split("").map((key) => ({ key })),
  );
  await h.until(() => h.open.length === 4);
  expect(h.open.sort()).toEqual(["a", "a", "b", "b"]);
  for (let ended = 1; ended <= 9; ended++) {
    await h.until(() => h.open.length > 0);
    h.endOne();
  }
  await h.until(() => h.engines.count("run.finished") === 9);
  expect([...h.mostOpen().values()]).toEqual([2, 2]);
});
