import { TcpProxy } from "@carillon/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "../../../src/index.js";
import { LimitHarness } from "../../harness/limit-harness.js";
import { hostPorts } from "../../harness/store-harness.js";

let h: LimitHarness;
beforeEach(async () => {
  h = await LimitHarness.create();
});
afterEach(() => h.close());

/** The most starts that any window of this length holds, by the database's clock. */
async function maxStarts(windowMs: number): Promise<number> {
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
  await h.until(() => h.engines.countEnds() === 18);
  expect(await maxStarts(300)).toBeLessThanOrEqual(5);
});

test("no window holds more starts than a rate allows when a worker registers late [INV-14]", async () => {
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
  await h.until(() => h.engines.countEnds() === 10);
  expect(await maxStarts(400)).toBeLessThanOrEqual(4);
});

test("no window holds more starts of handlers than a rate allows, over a pause and outages of the database and of all nodes [INV-14]", async () => {
  h.isEager = true;
  const [limit, perMs, count] = [3, 300, 11];
  const proxy = await TcpProxy.start(h.engines.url);
  const direct = await openDatabase({ url: h.engines.url, schema: "carillon", ...hostPorts });
  const untilRow = async (text: string): Promise<void> => {
    while ((await direct.query({ text })).rowCount === 0);
  };
  const aWindow = async (): Promise<void> => {
    const over = direct.clock.now() + perMs;
    while (direct.clock.now() <= over) await untilRow("select");
  };
  const engine = await h.engines.startNode("first", proxy.through(h.engines.url));
  await h.enqueue(
    engine,
    { rateLimit: { limit, perMs } },
    Array.from({ length: count }, () => null),
  );
  // Admitted before the pause, and started after it.
  await untilRow("select from carillon.limit_key where used = 3");
  await engine.queues.pause("default", "default", { reason: "test", until: null }, { actor: null });
  await h.startWorker(engine);
  await aWindow();
  await engine.queues.resume("default", "default", { actor: null });
  await h.until(() => h.begun > limit);
  await proxy.refuse();
  proxy.cut();
  await aWindow();
  const before = h.begun;
  await proxy.resume();
  await h.until(() => h.begun > before);
  await h.engines.stopNodes();
  await aWindow();
  await h.startNode("second");
  await untilRow(`select from carillon.run_history having count(*) = ${count}`);
  const starts = h.journal.flatMap(({ kind, at }) => (kind === "begin" ? [at] : []));
  const spans = starts.slice(limit).map((at, index) => at - (starts[index] ?? Number.NaN));
  // A node knows the database's clock to some milliseconds.
  expect([starts.length, spans.filter((span) => span < perMs - 20)]).toEqual([count, []]);
  await direct.close();
  await proxy.close();
});

test("an attempt after a failure counts as a start of a rate", async () => {
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
