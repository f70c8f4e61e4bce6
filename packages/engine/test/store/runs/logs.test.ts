import type { LogLine } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Retention } from "../../../src/runs/retention.js";
import { LogReader } from "../../../src/runs/run-logs.js";
import { RunReader } from "../../../src/runs/run-reader.js";
import { type StoreHarness, hostPorts, storeHarness } from "../../harness/store-harness.js";
import { testContext } from "../../harness/test-context.js";

let h: StoreHarness;
let reader: LogReader;
beforeEach(async () => {
  h = await storeHarness();
  reader = new LogReader({ store: h.store, ...hostPorts }, new RunReader(h.store.reads));
});
afterEach(() => h.close());

const dayMs = 86_400_000;

const line = (number: number, over: Partial<LogLine> = {}): LogLine => ({
  number,
  level: "info",
  message: `line ${number}`,
  fieldsJson: null,
  agoMs: 0,
  ...over,
});

async function claimed() {
  const id = await h.run();
  const session = await h.session();
  const [run] = await h.claim(session, 1);
  if (run?.id !== id) throw new Error("another run was claimed");
  return { session, id, fence: run.fence };
}

type Claim = Awaited<ReturnType<typeof claimed>>;

const finish = ({ session, id, fence }: Claim) =>
  h.store.claims.finish([
    { session, id, fence, status: "succeeded", reason: null, output: "1", error: null, startedAt: Date.now() },
  ]);
const numbers = (page: { lines: readonly { number: number }[] } | null) => page?.lines.map((one) => one.number);

describe("the log of a run", () => {
  it("the log of a run is read in order, page by page, also when its day had to be created", async () => {
    const claim = await claimed();
    // Out of order, and one of them twice, like a call that is repeated because its answer was lost.
    await h.store.records.log([{ ...claim, lines: [line(2), line(3, { level: "warn", fieldsJson: '{"a":1}' })] }]);
    await h.store.records.log([{ ...claim, lines: [line(1, { message: "odd \0 \ud800 \"'{},\\" })] }]);
    await h.store.records.log([{ ...claim, lines: [line(2)] }]);
    const first = await reader.read(1, claim.id, { pageSize: 2 });
    expect(numbers(first)).toEqual([1, 2]);
    expect(first).toMatchObject({ hasMore: true, isEnd: false });
    const rest = await reader.read(1, claim.id, { pageSize: 2, after: { fence: claim.fence, number: 2 } });
    expect(rest).toMatchObject({ lines: [{ number: 3, fields: { a: 1 } }], hasMore: false, isEnd: false });
    expect(numbers(await reader.read(1, claim.id, { pageSize: 9, level: "warn" }))).toEqual([3]);
    expect(await reader.read(2, claim.id, { pageSize: 2 })).toBeNull();
  });

  it("the log of a run continues with the next attempt, and takes no lines of one that is over [INV-2]", async () => {
    const first = await claimed();
    await h.store.records.log([{ ...first, lines: [line(1)] }]);
    await h.store.claims.giveBack(first.session, [first]);
    const session = await h.session();
    const [again] = await h.claim(session, 1);
    const second = { session, id: first.id, fence: again?.fence ?? 0 };
    expect((await h.store.records.log([{ ...first, lines: [line(2)] }])).size).toBe(0);
    expect((await h.store.records.log([{ ...second, lines: [line(1)] }])).size).toBe(1);
    const page = await reader.read(1, first.id, { pageSize: 9 });
    expect(page?.lines.map(({ fence, number }) => [fence, number])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  it("a reader of a log waits until a line is stored, and no longer than the run lasts", async () => {
    const claim = await claimed();
    const following = reader.read(1, claim.id, { pageSize: 9, waitMs: 60_000 });
    await h.store.records.log([{ ...claim, lines: [line(1)] }]);
    expect(numbers(await following)).toEqual([1]);
    const after = { fence: claim.fence, number: 1 };
    const rest = reader.read(1, claim.id, { pageSize: 9, after, waitMs: 60_000 });
    await finish(claim);
    expect(await rest).toEqual({ lines: [], hasMore: false, isEnd: true });
    expect(await reader.read(1, claim.id, { pageSize: 9 })).toMatchObject({ lines: [{ number: 1 }], isEnd: true });
  });

  it("a reader of a log stops waiting when its caller goes away", async () => {
    const claim = await claimed();
    const gone = new AbortController();
    const following = reader.read(1, claim.id, { pageSize: 9, waitMs: 60_000, signal: gone.signal });
    gone.abort();
    expect(await following).toMatchObject({ lines: [], isEnd: false });
  });

  it("the lines of a log are dropped with their day, also when a node died between detaching and dropping it", async () => {
    const claim = await claimed();
    await h.store.records.log([{ ...claim, lines: [line(1)] }]);
    const past = Date.parse("2020-01-01T12:00:00Z");
    await h.store.logDays.ensure(past, 3);
    await h.db.query({ text: "alter table carillon.run_log detach partition carillon.run_log_20200102 concurrently" });
    expect(await h.store.logDays.drop(past + 2 * dayMs)).toBe(2);
    expect(await h.store.logDays.drop(past + 2 * dayMs)).toBe(0);
    const left = await h.db.query<{ name: string }>({
      text: "select relname as name from pg_class where relname like 'run_log_2020%' and relkind = 'r'",
    });
    expect(left.rows).toEqual([{ name: "run_log_20200103" }]);
    expect(numbers(await reader.read(1, claim.id, { pageSize: 9 }))).toEqual([1]);
  });
});

describe("handler state of runs", () => {
  const left = async () => {
    const text = `select (select count(*) from carillon.run_progress)::int as states,
      (select count(*) from carillon.run_step)::int as steps, (select count(*) from carillon.once)::int as onces`;
    return (await h.db.query({ text })).rows[0];
  };

  it("handler state is deleted when its run has ended, and kept while it lives", async () => {
    const [ended, alive] = [await claimed(), await claimed()];
    const records = [ended, alive].map((claim) => ({ ...claim, number: 1, value: "1", name: "s" }));
    await h.store.records.keepCheckpoints(records);
    await h.store.records.keepSteps(records);
    await h.store.records.beginOnce(alive, "kept", 60_000);
    await h.store.records.beginOnce(alive, "old", 1);
    await h.db.query({ text: "update carillon.once set expires_at = clock_timestamp() where key = 'old'" });
    await finish(ended);
    await h.store.claims.giveBack(alive.session, [alive]);
    const retention = new Retention(testContext({ database: h.db, limits: { sweepBatch: 1 } }));
    for (let waitMs = 0; waitMs === 0;) waitMs = await retention.sweepRecords();
    expect(await left()).toEqual({ states: 1, steps: 1, onces: 1 });
    expect((await h.store.records.checkpoints([alive.id])).size).toBe(1);
  });

  it("a node that does not own the first shard deletes no handler state", async () => {
    const claim = await claimed();
    await h.store.records.keepCheckpoints([{ ...claim, number: 1, value: "1" }]);
    await finish(claim);
    expect(await new Retention(testContext({ database: h.db, shards: [1] })).sweepRecords()).toBe(60_000);
    expect(await left()).toMatchObject({ states: 1 });
  });
});
