import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { EnqueueHarness, keyed, runSpec } from "../../harness/enqueue-harness.js";

let harness: EnqueueHarness;
let engine: Engine;

beforeAll(async () => {
  harness = await EnqueueHarness.create();
  engine = await harness.node({ insertBatch: 100, insertQueue: 500 });
});
afterAll(() => harness.close());
afterEach(() => harness.rows("delete from carillon.run"));

const stored = async (): Promise<string[]> =>
  (await harness.rows<{ id: string }>("select id from carillon.run order by id")).map((row) => row.id);

/** A number that the column cannot hold: the database refuses the row, not we. */
const bad = { priority: 99_999 };

describe("asking for runs", () => {
  it("is durable when it returns, for each of many concurrent callers, in few statements", async () => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => engine.enqueuer.enqueue("default", runSpec({ payload: n }))),
    );
    expect(answers.every((one) => one.isNew)).toBe(true);
    expect(await stored()).toEqual(answers.map((one) => one.id).sort());
    const transactions = await harness.rows("select distinct xmin::text from carillon.run");
    expect(transactions.length).toBeLessThan(30);
  });

  it("fails for the caller whose row is bad, and for no other, with and without a dedupe key", async () => {
    const calls = Array.from({ length: 60 }, (_, n) => {
      const spec = n % 2 === 0 ? runSpec() : keyed(`bad-${n}`);
      return engine.enqueuer.enqueue("default", n === 30 || n === 41 ? { ...spec, ...bad } : spec);
    });
    const settled = await Promise.allSettled(calls);
    expect(settled.flatMap(({ status }, n) => (status === "rejected" ? [n] : []))).toEqual([30, 41]);
    expect(await stored()).toHaveLength(58);
  });

  it("in a batch larger than a statement and than the queue answers in order, each by itself", async () => {
    const specs = Array.from({ length: 1_234 }, (_, payload) =>
      runSpec(payload === 777 ? { ...bad, payload } : { payload }),
    );
    const enqueued = await engine.enqueuer.enqueueMany("default", specs);
    expect(enqueued.flatMap((one, at) => ("error" in one ? [at] : []))).toEqual([777]);
    const last = enqueued[1_233];
    const run = last !== undefined && "id" in last ? await engine.runs.get("default", last.id) : null;
    expect(run).toMatchObject({ payload: 1_233, status: "queued" });
  });

  it("stores each run as it was asked for, whatever others of the same batch are like", async () => {
    const specs = [
      runSpec({ payload: 'a "quoted" \\ text, {with} NULL, \u001f and \u2028' }),
      runSpec({ payload: null, labels: { team: "a,b", NULL: "" }, owner: "null" }),
      runSpec({ payload: [1, { deep: ["\u00e9", "\u{1f600}"] }], priority: 9, policy: { timeoutMs: 5_000 } }),
      runSpec({ task: "other, task", queue: "second", payload: {} }),
      runSpec({ payload: "at a time", runAt: Date.now() - 1_000 }),
    ];
    const enqueued = await engine.enqueuer.enqueueMany("default", specs);
    const ids = enqueued.map((one) => ("id" in one ? one.id : ""));
    const runs = await Promise.all(ids.map((id) => engine.runs.get("default", id)));
    expect(runs).toMatchObject(
      specs.map(({ task, queue, payload, priority, labels, policy, owner = null }) => {
        return { task, queue, payload, priority, labels, policy, owner, status: "queued" };
      }),
    );
  });

  it("for a run that may start at once answers the time that is stored", async () => {
    const { run } = await engine.enqueuer.enqueueAndRead("default", runSpec());
    expect(await engine.runs.get("default", run.id)).toEqual(run);
  });

  it("refuses more than may wait, at once [INV-12]", async () => {
    const calls = Array.from({ length: 2_000 }, () => engine.enqueuer.enqueue("default", runSpec()));
    const refused = (await Promise.allSettled(calls)).filter((one) => one.status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { code: "overloaded" } });
  });

  it("refuses a namespace that is not there", async () => {
    await expect(engine.enqueuer.enqueue("nobody", runSpec())).rejects.toMatchObject({ code: "not_found" });
  });
});
