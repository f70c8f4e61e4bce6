import { afterEach, beforeEach, expect, test } from "vitest";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

const byKey = { concurrency: { key: "customer:{payload.key}", limit: 2 } };

test("no more runs of a key are open at once than its limit, and all of them run [INV-14]", async () => {
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
  await h.until(() => h.engines.countEnds() === 9);
  expect([...h.maxOpen().values()]).toEqual([2, 2]);
});

test("a limit without a key counts the runs of one job: another job of the same task has its own [INV-14]", async () => {
  const engine = await h.startNode();
  for (const key of ["a", "b"]) {
    const what = { task: "work", payload: { key }, queue: "default", priority: 4, labels: {} };
    const { id } = await engine.jobs.create("default", {
      ...what,
      policy: { concurrency: { limit: 2 } },
      schedule: { kind: "manual" },
      firing: { overlap: "allow" },
    });
    for (let count = 0; count < 4; count++) await engine.jobs.runNow("default", { id }, {}, { actor: null });
  }
  await h.until(() => h.open.length === 4);
  for (let ended = 1; ended <= 8; ended++) {
    await h.until(() => h.open.length > 0);
    h.endOne();
  }
  await h.until(() => h.engines.countEnds() === 8);
  expect([...h.maxOpen().values()]).toEqual([2, 2]);
  expect(await h.query("select scope from carillon.limit_key")).toEqual([{ scope: "job" }, { scope: "job" }]);
});

test("the limit of a queue holds for runs that have no limits [INV-14]", async () => {
  const engine = await h.startNode();
  await engine.queues.change("default", "default", { concurrency: { limit: 2 } }, { actor: null });
  await h.enqueue(
    engine,
    {},
    Array.from({ length: 6 }, () => ({ key: "q" })),
  );
  for (let ended = 1; ended <= 6; ended++) {
    await h.until(() => h.open.length > 0);
    h.endOne();
  }
  await h.until(() => h.engines.countEnds() === 6);
  expect(h.maxOpen().get("q")).toBeLessThanOrEqual(2);
  await engine.queues.change("default", "default", { concurrency: null }, { actor: null });
  await h.enqueue(
    engine,
    {},
    Array.from({ length: 3 }, () => ({ key: "free" })),
  );
  await h.until(() => h.open.length === 3);
});

test("the limit of a namespace holds for all its runs, with or without other limits [INV-14]", async () => {
  const engine = await h.startNode();
  await engine.namespaces.change("default", { concurrency: { limit: 2 } }, { actor: null });
  await h.enqueue(
    engine,
    {},
    Array.from({ length: 4 }, () => ({ key: "n" })),
  );
  await h.enqueue(
    engine,
    byKey,
    Array.from({ length: 4 }, () => ({ key: "n" })),
  );
  for (let ended = 1; ended <= 8; ended++) {
    await h.until(() => h.open.length > 0);
    h.endOne();
  }
  await h.until(() => h.engines.countEnds() === 8);
  expect(h.maxOpen().get("n")).toBeLessThanOrEqual(2);
});
