import { type OrderKind, orderKinds, rankOf, timeOfUuid } from "@carillon/core";
import * as fc from "fast-check";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { shardOf } from "../../../src/catalog/shard-of.js";
import type { Queryable } from "@carillon/store";
import { createEngineStore } from "../../harness/engine-store.js";
import { EnqueueHarness, keyed, runSpec } from "../../harness/enqueue-harness.js";
import { untilLockWaits } from "../../harness/store-harness.js";

let harness: EnqueueHarness;
let engine: Engine;
let client: Client;

beforeAll(async () => {
  harness = await EnqueueHarness.create();
  engine = await harness.node();
  await createEngineStore(harness.database).historyDays.ensure(Date.now() - 86_400_000, 3);
});
afterAll(() => harness.close());

beforeEach(async () => {
  client = new Client(harness.url);
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await harness.rows("delete from carillon.run");
  await harness.rows("delete from carillon.far_future_run");
});

interface Asked {
  readonly run_id: string;
  readonly is_new: boolean;
}

/** Calls the function with arguments as SQL. */
async function call(args: string): Promise<Asked> {
  const { rows } = await client.query<Asked>(`select * from carillon.enqueue(${args})`);
  const [row] = rows;
  if (row === undefined) throw new Error("the function gave no row");
  return row;
}

const hourMs = 3_600_000;

describe("carillon.rank_of", () => {
  it("ranks as the engine does, in every order", async () => {
    const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
    const some = fc.option(fc.integer({ min: 0, max: 100 * hourMs }), { nil: null });
    const cases = fc.sample(
      fc.record({
        dueMs: time,
        priority: fc.integer({ min: 0, max: 9 }),
        kind: fc.constantFrom<OrderKind>(...orderKinds),
        boundMs: some,
        deadlineInMs: some,
        expectedMs: fc.option(fc.double({ min: 0, max: 1e7, noNaN: true }), { nil: null }),
      }),
      1_000,
    );
    const { rows } = await client.query<{ rank: string }>(
      `select carillon.rank_of(due, priority, kind, bound, deadline, expected)::text as rank
       from unnest($1::bigint[], $2::int[], $3::text[], $4::bigint[], $5::bigint[], $6::float8[]) with ordinality
         as c (due, priority, kind, bound, deadline, expected, n)
       order by n`,
      [
        cases.map((one) => one.dueMs),
        cases.map((one) => one.priority),
        cases.map((one) => one.kind),
        cases.map((one) => one.boundMs),
        cases.map((one) => one.deadlineInMs),
        cases.map((one) => one.expectedMs),
      ],
    );
    const ranks = cases.map(({ dueMs, priority, kind, boundMs, deadlineInMs, expectedMs }) =>
      rankOf(
        {
          dueMs,
          priority,
          ...(deadlineInMs !== null && { deadlineMs: dueMs + deadlineInMs }),
          ...(expectedMs !== null && { expectedMs }),
        },
        { kind, ...(boundMs !== null && { boundMs }) },
      ),
    );
    expect(rows.map(({ rank }) => Number(rank))).toEqual(ranks);
  });
});

describe("carillon.enqueue", () => {
  it("stores the row that the engine would store", async () => {
    const runAt = Math.floor(Date.now() / 1_000) * 1_000 + 300_000;
    const policy = { retry: { maxAttempts: 3 }, timeoutMs: 1_000, deadlineMs: 60_000 };
    const spec = {
      task: "mail",
      queue: "q",
      priority: 8,
      payload: { a: [1] },
      labels: { x: "y" },
      owner: "u",
      policy,
      runAt,
    };
    const viaEngine = await engine.enqueuer.enqueue("default", runSpec(spec));
    const viaSql = await call(
      `'mail', '{"a": [1]}', queue => 'q', priority => 8, run_at => '${new Date(runAt).toISOString()}', labels => '{"x": "y"}',
       owner => 'u', policy => '${JSON.stringify(policy)}'`,
    );
    const columns = `namespace_id, lane, state, priority, rank, run_at, nominal_at, trigger, task, queue, payload::text, policy::jsonb,
      labels, owner, attempt, losses, fence, deadline_at`;
    const read = (id: string) => harness.rows(`select ${columns} from carillon.run where id = $1`, [id]);
    const normal = (rows: readonly object[]) =>
      rows.map((row) => ({ ...row, payload: "payload" in row && JSON.parse(String(row.payload)) }));
    expect(normal(await read(viaSql.run_id))).toEqual(normal(await read(viaEngine.id)));
    const [row] = await harness.rows<{ job_id: string; shard: number }>(
      "select job_id, shard from carillon.run where id = $1",
      [viaSql.run_id],
    );
    expect(row).toEqual({ job_id: viaSql.run_id, shard: shardOf(viaSql.run_id, 1_024) });
  });

  it("makes ids that carry their time, as the engine's do", async () => {
    const { run_id: id } = await call("'mail'");
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Math.abs(timeOfUuid(id) - Date.now())).toBeLessThan(60_000);
  });

  it("keeps what is far from its time out of the hot table, and ranks by the order of the queue", async () => {
    const { run_id: id } = await call("'mail', delay => interval '2 days'");
    expect(await engine.runs.get("default", id)).toMatchObject({ status: "scheduled", payload: null, task: "mail" });
    expect(await harness.rows("select 1 from carillon.far_future_run where id = $1", [id])).toHaveLength(1);
    await harness.rows("insert into carillon.queue (namespace_id, name, order_kind) values (1, 'strict', 'strict')");
    const strict = await call("'mail', queue => 'strict', priority => 9");
    const [row] = await harness.rows<{ rank: number; run_at: number }>(
      "select rank, run_at from carillon.run where id = $1",
      [strict.run_id],
    );
    expect(row?.rank).toBe(row?.run_at);
  });

  it("shares dedupe keys with the engine", async () => {
    const first = await call("'work', dedupe_key => 'a'");
    expect(await engine.enqueuer.enqueue("default", keyed("a"))).toEqual({ id: first.run_id, isNew: false });
    expect(await call("'work', dedupe_key => 'a'")).toEqual({ run_id: first.run_id, is_new: false });
    await expect(call("'work', dedupe_key => 'a', dedupe_on => 'reject'")).rejects.toMatchObject({ code: "23505" });
    const second = await call("'work', dedupe_key => 'a', dedupe_on => 'replace'");
    expect(second.is_new).toBe(true);
    expect(await engine.runs.get("default", first.run_id)).toMatchObject({ statusReason: "cancelled_by_dedupe" });
    await harness.hold(second.run_id);
    expect((await call("'work', dedupe_key => 'a', dedupe_on => 'replace'")).is_new).toBe(true);
    expect(await engine.runs.get("default", second.run_id)).toMatchObject({ status: "running" });
    const far = await call("'work', delay => '1 day', dedupe_window => '1 hour'");
    const near = await call("'work', dedupe_on => 'replace'");
    expect(await engine.runs.get("default", far.run_id)).toMatchObject({ status: "cancelled" });
    expect(await engine.enqueuer.enqueue("default", keyed(""))).toEqual({ id: near.run_id, isNew: false });
  });

  it("replaces a run also while its job is changed, and while that makes the run", async () => {
    const { database } = harness;
    const { changes } = createEngineStore(database);
    /** What a run goes through while another replaces it. */
    const replaceDuring = async (id: string, hold: string, work: (tx: Queryable) => Promise<unknown>) => {
      const { asked } = await database.transaction(async (tx) => {
        await tx.query({ text: `select from ${hold} = $1 for update` }, [id]);
        const replacing = call("'work', dedupe_key => 'moves', dedupe_on => 'replace', delay => '5 minutes'");
        await untilLockWaits({ db: database });
        await work(tx);
        return { asked: replacing };
      });
      const { run_id: next } = await asked;
      const ended = { status: "cancelled", statusReason: "cancelled_by_dedupe" };
      expect(await engine.runs.get("default", id)).toMatchObject(ended);
      expect(await engine.runs.get("default", next)).toMatchObject({ status: "scheduled" });
      return next;
    };
    const adopt = (id: string) => (tx: Queryable) => changes.adoptLive(tx, id, 1);
    const make = (id: string) => async (tx: Queryable) => {
      const made =
        "insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at, trigger, task, queue, payload) " +
        "select id, id, namespace_id, shard, lane, 'queued', priority, 0, now(), now(), now(), 'schedule', task, queue, payload from carillon.job where id = $1";
      const moved =
        "update carillon.job_due set state = 'completed', runs_made = 1, next_nominal_at = null, next_fire_at = null where job_id = $1";
      for (const text of [made, moved]) await tx.query({ text }, [id]);
    };
    const { run_id: first } = await call("'work', dedupe_key => 'moves', delay => '5 minutes'");
    const second = await replaceDuring(first, "carillon.run where id", adopt(first));
    await database.transaction(adopt(second));
    await replaceDuring(second, "carillon.job_due where job_id", make(second));
  });

  it("and the engine at once give a key one run [INV-13]", async () => {
    const clients = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const one = new Client(harness.url);
        await one.connect();
        return one;
      }),
    );
    for (let round = 0; round < 20; round++) {
      const answers = await Promise.all([
        ...clients.map(async (one) => {
          const { rows } = await one.query<Asked>("select * from carillon.enqueue('work', dedupe_key => $1)", [
            `r${round}`,
          ]);
          return { id: rows[0]?.run_id, isNew: rows[0]?.is_new };
        }),
        ...Array.from({ length: 4 }, () => engine.enqueuer.enqueue("default", keyed(`r${round}`))),
      ]);
      expect(answers.filter((one) => one.isNew)).toHaveLength(1);
      expect(new Set(answers.map((one) => one.id)).size).toBe(1);
    }
    for (const one of clients) await one.end();
  });

  it("is part of the transaction that calls it: rolled back, there was nothing", async () => {
    await client.query("begin");
    await call("'work', dedupe_key => 'tx'");
    expect(await harness.rows("select 1 from carillon.run")).toEqual([]);
    await client.query("rollback");
    expect(await harness.rows("select 1 from carillon.dedupe where key = 'tx'")).toEqual([]);
    await client.query("begin");
    const { run_id: id } = await call("'work', dedupe_key => 'tx'");
    await client.query("commit");
    expect(await harness.rows("select id from carillon.run")).toEqual([{ id }]);
  });

  it("serves triggers", async () => {
    await client.query(`create table customer (id int, name text);
      create function greet() returns trigger language plpgsql as $$ begin
        perform carillon.enqueue('greet', json_build_object('id', new.id), dedupe_key => new.id::text); return null; end $$;
      create trigger greet after insert on customer for each row execute function greet();
      insert into customer values (1, 'a'), (2, 'b'), (1, 'c')`);
    const runs = await harness.rows("select payload from carillon.run where task = 'greet' order by payload::text");
    expect(runs).toEqual([{ payload: { id: 1 } }, { payload: { id: 2 } }]);
  });

  it.each([
    "null",
    "''",
    "'a b'",
    "'work', queue => 'a b'",
    "'carillon:webhook'",
    "'work', queue => 'carillon:webhooks'",
    "'work', priority => 10",
    "'work', run_at => now(), delay => '1 s'",
    "'work', run_at => now() - interval '2 days'",
    "'work', policy => '[]'",
    `'work', policy => '{"timeoutMs":"5m"}'`,
    `'work', policy => '{"timeoutMs":0}'`,
    `'work', policy => '{"sla":5}'`,
    `'work', policy => '{"sla":{"startWithinMs":"1m"}}'`,
    `'work', policy => '{"timeoutMs":1.5}'`,
    `'work', policy => '{"timeoutMs":null}'`,
    `'work', policy => '{"deadlineMs":-1}'`,
    `'work', policy => '{"guarantee":"twice"}'`,
    `'work', policy => '{"retry":3}'`,
    `'work', policy => '{"retry":{"maxAttempts":"3"}}'`,
    `'work', policy => '{"retry":{"maxAttempts":0}}'`,
    `'work', policy => '{"retry":{"initialMs":"1s"}}'`,
    `'work', policy => '{"retry":{"initialMs":2,"maxMs":1}}'`,
    `'work', policy => '{"retry":{"factor":"two"}}'`,
    `'work', policy => '{"retry":{"backoff":"none"}}'`,
    `'work', policy => '{"retry":{"nonRetryable":"E"}}'`,
    "'work', labels => '3'",
    "'work', dedupe_on => 'drop'",
    "'work', dedupe_window => '0 s'",
    "'work', namespace => 'nobody'",
  ])("refuses (%s) with a reason", async (args) => {
    await expect(call(args)).rejects.toMatchObject({ code: "22023" });
  });

  it("tells whoever waits at the commit, if asked or if the run is due within half a minute", async () => {
    const heard: string[] = [];
    client.on("notification", ({ payload }) => heard.push(payload ?? ""));
    await client.query("listen carillon_hint");
    await call("'work'");
    await call("'work', delay => '5 minutes', notify => true");
    await call("'work', notify => true");
    await call("'work', delay => '10 s'");
    await client.query("select 1");
    expect(heard).toEqual([expect.stringMatching(/^lanes \d+:\d+$/), expect.stringMatching(/^shards \d+$/)]);
  });
});
