import { afterEach, beforeEach, expect, test } from "vitest";
import { LimitHarness } from "../../harness/limit-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

/** The most starts that any window of this length holds, by the database's clock. */
async function mostStarts(windowMs: number): Promise<number> {
  const [row] = await h.query<{ most: number }>(
    `select max(count) as most from (
       select count(*) over (order by started_at range between $1::bigint * interval '1 millisecond' preceding and current row) as count
       from carillon.run_history
     ) as windows`,
    [windowMs - 1],
  );
  return row?.most ?? Number.NaN;
}

test("no window holds more starts than a rate allows [INV-14]", async () => {
  h.isEager = true;
  const engine = await h.startNode();
  const rateLimit = { limit: 5, perMs: 300 };
  await h.enqueue(
    engine,
    { rateLimit },
    Array.from({ length: 18 }, () => null),
  );
  await h.until(() => h.engines.count("run.finished") === 18);
  expect(await mostStarts(300)).toBeLessThanOrEqual(5);
});

test("no window holds more starts than a rate allows when a worker comes late [INV-14]", async () => {
  h.isEager = true;
  const engine = await h.engines.startNode();
  const rateLimit = { limit: 4, perMs: 400, burst: 3 };
  await h.enqueue(
    engine,
    { rateLimit },
    Array.from({ length: 10 }, () => null),
  );
  await h.untilRow("select from carillon.limit_key where used = 3");
  await h.startWorker(engine);
  await h.until(() => h.engines.count("run.finished") === 10);
  expect(await mostStarts(400)).toBeLessThanOrEqual(4);
});

test("a try after a failure is charged as a start", async () => {
  const engine = await h.startNode();
  const policy = {
    rateLimit: { limit: 1, perMs: 400 },
    retry: { maxAttempts: 2, initialMs: 1, jitter: "none" as const },
  };
  await h.enqueue(engine, policy, [null]);
  await h.until(() => h.begun === 1);
  const firstAt = await databaseNow();
  h.endOne(undefined, new Error("not yet"));
  await h.until(() => h.begun === 2);
  expect((await databaseNow()) - firstAt).toBeGreaterThan(300);
  h.endAll();
});

async function databaseNow(): Promise<number> {
  const [row] = await h.query<{ ms: number }>("select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  return row?.ms ?? Number.NaN;
}
